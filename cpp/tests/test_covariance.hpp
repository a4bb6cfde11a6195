// covariance.hpp: one sweep does what an update and a product do one after the other, to the bit;
// what was put off is seen by readers, and threads change nothing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/covariance.hpp"
#include "surelearn/parallel_for.hpp"

namespace surelearn::tests {

namespace covariance {

using Entry = detail::VectorEntry;

/// The definition: both halves, every part at once, every sum in order.
template <class T>
struct Square {
    std::size_t size;
    std::vector<T> a;

    explicit Square(std::size_t n) : size(n), a(n * n, T{0}) {
        for (std::size_t i = 0; i < n; ++i) a[i * n + i] = T{1};
    }

    void subtract(const std::vector<std::vector<double>>& factors) {
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j) {
                double sum = 0.0;
                for (const auto& f : factors) sum += f[j] * f[i];
                a[i * size + j] = static_cast<T>(a[i * size + j] - sum);
            }
        }
    }

    [[nodiscard]] std::vector<double> times(std::span<const Entry> x) const {
        std::vector<double> s(size, 0.0);
        for (std::size_t i = 0; i < size; ++i) {
            for (const auto& [j, value] : x) s[i] += a[i * size + j] * value;
        }
        return s;
    }
};

/// Every `step`th number of a vector, in ascending order.
[[nodiscard]] inline std::vector<Entry> entries(std::size_t n, std::size_t step, double phase) {
    std::vector<Entry> x;
    for (std::size_t i = step / 2; i < n; i += step) {
        x.push_back({i, std::sin(phase + 1.7 * static_cast<double>(i))});
    }
    return x;
}

/// The second half of the indices first, as for a class after its rival.
[[nodiscard]] inline std::vector<Entry> turned(std::vector<Entry> x) {
    std::ranges::rotate(x, x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2));
    return x;
}

[[nodiscard]] inline std::vector<double> factor(std::size_t n, std::size_t step, double phase) {
    std::vector<double> f(n, 0.0);
    const double scale = 0.4 / std::sqrt(static_cast<double>(n));
    for (const auto& [i, value] : entries(n, step, phase)) f[i] = scale * value;
    return f;
}

template <class T>
[[nodiscard]] Covariance<T> identity(std::size_t n) {
    Covariance<T> a(n);
    for (std::size_t i = 0; i < n; ++i) a.set(i, i, T{1});
    return a;
}

template <class T>
void check_numbers(const Covariance<T>& a, const Square<T>& want) {
    bool same = true;
    for (std::size_t i = 0; i < want.size; ++i) {
        for (std::size_t j = 0; j < want.size; ++j) {
            same = same && a(i, j) == want.a[i * want.size + j];
        }
    }
    CHECK(same);
}

template <class T>
void check_square(Covariance<T>& a, const Square<T>& want, bool in_place) {
    std::vector<T> copy(want.a.size());
    a.settle();
    a.copy_square(copy.data());
    CHECK(copy == want.a);
    if (in_place) CHECK(std::equal(copy.begin(), copy.end(), a.square()));
}

/// Updates and products of all kinds, in an order that has each after each.
template <class T>
void check_rounds(std::size_t n) {
    auto a = identity<T>(n);
    Square<T> want(n);
    std::vector<double> s(n);
    for (std::size_t round = 0; round < 24; ++round) {
        const double phase = 0.9 * static_cast<double>(round);
        const std::array<std::size_t, 3> steps{1, 2, 9};
        std::vector<std::vector<double>> factors{factor(n, steps[round % 3], phase)};
        if (round % 5 == 4) factors.push_back(factor(n, steps[round % 2], phase + 0.5));
        a.subtract(factors);
        want.subtract(factors);
        check_numbers(a, want);
        if (round % 4 == 3) continue;  // what was put off meets another update
        const auto x = entries(n, std::array<std::size_t, 4>{1, 3, 17, 60}[round % 4], phase);
        const auto g = round % 2 == 0 ? x : turned(x);
        a.multiply(g, s.data());
        CHECK(s == want.times(g));
        if (round % 7 == 6) check_square(a, want, round % 2 == 0);
    }
    check_square(a, want, true);
}

/// A whole sweep with so many threads: the lower half and the product.
template <class T>
[[nodiscard]] std::vector<double> swept(std::size_t n, std::size_t step, std::size_t threads) {
    std::vector<T> a = Square<T>(n).a;
    std::vector<double> all(n, 0.0);
    for (const double phase : {0.1, 0.7}) {
        const auto f = factor(n, 1, phase);
        detail::LowerHalfSweep<T>(a.data(), n, f.data(), entries(n, step, phase), all.data())
            .run(threads);
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) all.push_back(a[i * n + j]);
    }
    return all;
}

}  // namespace covariance

/// Sizes around the edges of panels, of blocks of rows and of tiles.
inline void a_sweep_is_an_update_and_a_product() {
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 11U, 63U, 64U, 66U, 255U, 257U, 325U}) {
        covariance::check_rounds<float>(n);
        covariance::check_rounds<double>(n);
    }
}

inline void threads_change_no_bit_of_a_sweep() {
    for (const std::size_t n : {70U, 530U}) {
        for (const std::size_t step : {1U, 40U}) {
            const auto one = covariance::swept<float>(n, step, 1);
            for (const std::size_t threads : {2U, 3U, 9U}) {
                CHECK(covariance::swept<float>(n, step, threads) == one);
            }
            CHECK(covariance::swept<double>(n, step, 3) == covariance::swept<double>(n, step, 1));
        }
    }
}

/// Once all is settled, readers may multiply at the same time.
inline void readers_share_a_settled_covariance() {
    constexpr std::size_t n = 300;
    auto a = covariance::identity<float>(n);
    a.subtract({covariance::factor(n, 1, 0.3)});
    a.settle();
    const auto x = covariance::entries(n, 1, 0.2);
    std::vector<double> want(n);
    a.multiply(x, want.data());
    std::atomic<int> wrong{0};
    parallel_for(4, 4, [&](std::size_t, std::size_t) {
        std::vector<double> s(n);
        a.multiply(x, s.data());
        if (s != want) ++wrong;
    });
    CHECK(wrong == 0);
}

inline constexpr std::array covariance_tests{
    Test{"a sweep is an update and a product", a_sweep_is_an_update_and_a_product},
    Test{"threads change no bit of a sweep", threads_change_no_bit_of_a_sweep},
    Test{"readers share a settled covariance", readers_share_a_settled_covariance},
};

}  // namespace surelearn::tests
