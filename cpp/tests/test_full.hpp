// full.hpp, parallel_for.hpp, exact.hpp: threads change no bit, refusals leave no trace, and the
// solver ends where its conditions hold.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/exact.hpp"
#include "surelearn/full.hpp"
#include "surelearn/learn.hpp"
#include "surelearn/parallel_for.hpp"
#include "test_diagonal.hpp"

namespace surelearn::tests {

namespace full {

template <class T>
[[nodiscard]] std::vector<unsigned char> bits(const Full<T>& weights) {
    std::vector<unsigned char> all;
    append_bytes(all, weights.means(), weights.size() * (weights.shape().averaged ? 2 : 1));
    std::vector<T> square(weights.size() * weights.size());
    weights.copy_square(square.data());
    append_bytes(all, square.data(), square.size());
    return all;
}

[[nodiscard]] inline diagonal::Entries dense_row(std::size_t n, double phase) {
    diagonal::Entries row;
    for (std::size_t j = 0; j < n; ++j) {
        row.index.push_back(static_cast<std::int32_t>(j));
        row.value.push_back(std::sin(phase + 1.7 * static_cast<double>(j)));
    }
    return row;
}

template <class T>
[[nodiscard]] bool update(Full<T>& weights, const diagonal::Entries& x, const Step& step) {
    typename Full<T>::Work work;
    const std::array g{Side{0, 1.0}};
    const double v = weights.variance(x.row(), g, work);
    const bool done = weights.update(x.row(), g, step, v, Projection::precision, work);
    weights.settle();
    return done;
}

template <class T>
[[nodiscard]] std::vector<unsigned char> trained(std::size_t threads) {
    Full<T> weights(Shape{.n_features = 1100});  // large enough for two threads
    weights.set_threads(threads);
    for (int i = 0; i < 4; ++i) CHECK(update(weights, dense_row(1100, i), {0.5, 0.25}));
    return bits(weights);
}

}  // namespace full

inline void threads_change_no_bit_of_a_covariance() {
    const auto one = full::trained<float>(1);
    CHECK(full::trained<float>(2) == one && full::trained<float>(5) == one);
    CHECK(full::trained<double>(3) == full::trained<double>(1));
}

inline void every_part_of_a_range_is_done_once() {
    for (const std::size_t n : {0U, 1U, 2U, 7U, 100U}) {
        for (const std::size_t threads : {0U, 1U, 2U, 3U, 8U}) {
            std::vector<std::atomic<int>> seen(n);
            parallel_for(n, threads, [&](std::size_t begin, std::size_t end) {
                for (; begin < end; ++begin) seen[begin].fetch_add(1);
            });
            for (const auto& times : seen) CHECK(times.load() == 1);
        }
    }
}

inline void an_exception_of_a_part_is_thrown_to_the_caller() {
    for (const std::size_t bad : {0U, 30U, 99U}) {
        bool caught = false;
        try {
            parallel_for(100, 4, [&](std::size_t begin, std::size_t end) {
                if (begin <= bad && bad < end) throw std::bad_alloc();
            });
        } catch (const std::bad_alloc&) {
            caught = true;
        }
        CHECK(caught);
    }
}

inline void a_refused_full_update_leaves_no_trace() {
    Full<float> weights(Shape{.n_features = 5, .averaged = true});
    const auto x = full::dense_row(5, 0.3);
    CHECK(full::update(weights, x, {0.5, 0.25}));
    const auto before = full::bits(weights);
    CHECK(!full::update(weights, x, {1e39, 0.25}));               // means beyond float
    CHECK(!full::update(weights, x, {diagonal::nan, 0.25}));      // no number
    CHECK(!full::update(weights, x, {0.5, diagonal::infinity}));  // nothing left of the variance
    CHECK(full::bits(weights) == before);
}

namespace full {

/// The weights after a pass over dense and sparse rows, in pieces that end at `ends`. Row `bad`
/// cannot be learnt.
template <class T>
[[nodiscard]] std::vector<unsigned char> after_pass(std::size_t n_classes, std::size_t bad,
                                                    std::span<const std::size_t> ends) {
    constexpr std::size_t n = 40, d = 70;
    std::vector<double> x(n * d);
    std::vector<std::int32_t> y(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) {
            const double value = std::sin(0.4 * static_cast<double>(i * d + j + i * j));
            x[i * d + j] = i % 3 == 2 && j % 11 != 0 ? 0.0 : value;
        }
        y[i] = static_cast<std::int32_t>((i * i / 3) % n_classes);
    }
    if (bad < n) x[bad * d] = 1e200;  // its square is no double
    Matrix<std::int64_t, double> rows(x, d, n);
    CHECK(!rows.inspect());
    const std::size_t n_columns = n_classes == 2 ? 1 : n_classes;
    Full<T> weights(Shape{.n_features = d, .n_columns = n_columns, .averaged = true});
    std::vector<std::uint8_t> known(n_classes, 1);
    const Targets targets{.y = y, .rows = {}, .known = known};
    const Method method{rules::AROW{1.0}, Projection::precision, {}};
    using P = Pass<Full<T>, Matrix<std::int64_t, double>>;
    P pass(weights, method, rows, targets, 0, n);
    for (const std::size_t end : ends) {
        const Tally tally = pass.run(end);
        CHECK(tally.end == std::min(end, bad) && tally.refused == (end > bad));
        const auto shared = bits(weights);  // what others may read between two pieces
        weights.settle();
        CHECK(bits(weights) == shared);
    }
    return bits(weights);
}

template <class T>
void check_pass(std::size_t n_classes) {
    std::vector<std::size_t> each(40);
    std::iota(each.begin(), each.end(), std::size_t{1});
    const std::array<std::size_t, 1> whole{40}, half{20};
    const std::array<std::size_t, 4> some{0, 7, 8, 40};
    const auto want = after_pass<T>(n_classes, 99, whole);
    CHECK(after_pass<T>(n_classes, 99, some) == want);
    CHECK(after_pass<T>(n_classes, 99, each) == want);
    CHECK(after_pass<T>(n_classes, 20, whole) == after_pass<T>(n_classes, 99, half));
}

}  // namespace full

/// A pass puts off updates to the next row, but never beyond its end, nor past a refused row.
inline void a_pass_leaves_nothing_put_off() {
    for (const std::size_t n_classes : {2U, 3U}) {
        full::check_pass<float>(n_classes);
        full::check_pass<double>(n_classes);
    }
}

/// A row of few features reads and writes only where they and what covaries with them lie.
inline void a_sparse_row_touches_only_what_it_must() {
    Full<double> weights(Shape{.n_features = 40, .intercept = false});
    const diagonal::Entries x{{3, 17}, {1.0, -2.0}};
    CHECK(full::update(weights, x, {0.5, 0.25}));
    for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) {
            const bool own = (i == 3 || i == 17) && (j == 3 || j == 17);
            if (!own) CHECK(weights.sigma(i, j) == (i == j ? 1.0 : 0.0));
        }
    }
    CHECK(weights.sigma(3, 17) == weights.sigma(17, 3) && weights.sigma(3, 17) != 0.0);
}

/// Demands that pull against each other, over eight decades of variances.
inline void the_solver_meets_its_conditions() {
    for (const bool deviation : {false, true}) {
        for (int trial = 0; trial < 200; ++trial) {
            const std::size_t k = 1 + static_cast<std::size_t>(trial) % 6;
            std::vector<double> a(k + 1);
            for (std::size_t b = 0; b <= k; ++b) {
                a[b] = std::pow(10.0, 4.0 * std::sin(trial + 2.3 * static_cast<double>(b)));
            }
            exact::Problem problem;
            problem.resize(k);
            for (std::size_t r = 0; r < k; ++r) {
                problem.m[r] = std::sqrt(a[0] + a[r + 1]) *
                               std::cos(0.7 * trial + 1.9 * static_cast<double>(r));
                problem.demand[r] = 0.1 + 0.5 * static_cast<double>(r);
                for (std::size_t s = 0; s < k; ++s) {
                    problem.gram[r * k + s] = a[0] + (r == s ? a[r + 1] : 0.0);
                }
            }
            std::vector<double> u(k);
            const auto shrunk = [&](std::span<const double> p, std::span<double> out,
                                    std::span<double> slope) {
                double total = 0.0;
                for (const double x : p) total += x;
                const double right = a[0] / (1.0 + 2.0 * total * a[0]);
                std::ranges::fill(slope, -2.0 * right * right);
                for (std::size_t r = 0; r < k; ++r) {
                    const double rival = a[r + 1] / (1.0 + 2.0 * p[r] * a[r + 1]);
                    u[r] = out[r] = right + rival;
                    slope[r * k + r] -= 2.0 * rival * rival;
                }
            };
            exact::KlProjection projection(problem, deviation, shrunk);
            CHECK(projection.solve(std::vector<double>(k, 0.0)));
            for (std::size_t r = 0; r < k; ++r) {
                double m = problem.m[r];
                for (std::size_t s = 0; s < k; ++s) {
                    m += problem.gram[r * k + s] * projection.alpha()[s];
                }
                const double asked = problem.demand[r] * (deviation ? std::sqrt(u[r]) : u[r]);
                const double size = std::fabs(problem.m[r]) + asked;
                CHECK(m - asked > -1e-9 * size);
                if (projection.p()[r] > 0.0) CHECK(std::fabs(m - asked) < 1e-9 * size);
            }
        }
    }
}

inline constexpr std::array full_tests{
    Test{"threads change no bit of a covariance", threads_change_no_bit_of_a_covariance},
    Test{"every part of a range is done once", every_part_of_a_range_is_done_once},
    Test{"an exception of a part is thrown to the caller",
         an_exception_of_a_part_is_thrown_to_the_caller},
    Test{"a refused full update leaves no trace", a_refused_full_update_leaves_no_trace},
    Test{"a pass leaves nothing put off", a_pass_leaves_nothing_put_off},
    Test{"a sparse row touches only what it must", a_sparse_row_touches_only_what_it_must},
    Test{"the solver meets its conditions", the_solver_meets_its_conditions},
};

}  // namespace surelearn::tests
