// dual.hpp: a linear kernel gives full weights, threads and budgets that are not reached change no
// bit, and removed points leave a Gaussian.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/dual.hpp"
#include "surelearn/full.hpp"
#include "surelearn/learn.hpp"
#include "surelearn/rows.hpp"

namespace surelearn::tests {

namespace dual {

/// Dense rows with labels, and their linear kernel.
struct Problem {
    std::size_t n_features;
    std::vector<double> x;
    std::vector<double> kernel;
    std::vector<double> norms;
    std::vector<std::int64_t> own;
    std::vector<std::int32_t> y;

    Problem(std::size_t n, std::size_t n_features_) : n_features(n_features_) {
        std::mt19937_64 random(n);
        for (std::size_t i = 0; i < n * n_features; ++i) {
            x.push_back(static_cast<double>(random() % 65) / 16.0 - 2.0);
        }
        for (std::size_t i = 0; i < n; ++i) {
            own.push_back(static_cast<std::int64_t>(i));
            for (std::size_t j = 0; j < n; ++j) kernel.push_back(inner(i, j));
            norms.push_back(inner(i, i));
            y.push_back(x[i * n_features] + 0.5 * x[i * n_features + 1] > 0.0 ? 1 : 0);
        }
    }

    [[nodiscard]] std::size_t size() const { return y.size(); }
    [[nodiscard]] double inner(std::size_t i, std::size_t j) const {
        double sum = 0.0;
        for (std::size_t f = 0; f < n_features; ++f) {
            sum += x[i * n_features + f] * x[j * n_features + f];
        }
        return sum;
    }
    [[nodiscard]] KernelBlock block() const { return {kernel, norms, own, own}; }
    [[nodiscard]] Targets targets() const { return {.y = y, .rows = {}, .known = {}}; }
};

[[nodiscard]] inline std::vector<Method> methods() {
    std::vector<Method> all;
    const auto add = [&](AnyRule rule) { all.push_back({.rule = rule, .scheme = {}}); };
    add(rules::Variance{0.5});
    add(rules::Stdev{0.8});
    add(rules::AROW{1.0});
    add(rules::Probit{1.0});
    add(rules::Perceptron{});
    add(rules::PA1{0.5});
    return all;
}

[[nodiscard]] inline Dual trained(const Problem& problem, const Method& method, int passes,
                                  std::size_t budget = 0, std::size_t threads = 1) {
    Dual weights(Shape{.intercept = false, .second_order = !first_order(method.rule)}, budget);
    weights.set_threads(threads);
    for (int pass = 0; pass < passes; ++pass) {
        CHECK(
            !learn(weights, method, problem.block(), problem.targets(), 0, problem.size()).refused);
    }
    return weights;
}

[[nodiscard]] inline std::vector<unsigned char> bits(const Dual& weights) {
    std::vector<unsigned char> all;
    append_bytes(all, weights.points().data(), weights.size());
    append_bytes(all, weights.nu().data(), weights.size());
    append_bytes(all, weights.sites().data(), weights.size());
    for (std::size_t p = 0; p < weights.size(); ++p) {
        append_bytes(all, weights.line(p).data(), weights.line(p).size());
    }
    return all;
}

/// Mean and variance of the score of row i.
[[nodiscard]] inline Moments judged(const Dual& weights, const Problem& problem, std::size_t i) {
    Dual::Work work;
    KernelBlock::Buffer buffer;
    const std::array g{Side{0, 1.0}};
    const KernelRow row = problem.block().row(i, buffer);
    (void)weights.bound(row, g, work);
    return weights.moments(row, g, row, work);
}

/// phi(x_i)' sigma phi(x_j), without a floor.
[[nodiscard]] inline double covariance(const Dual& weights, const Problem& problem, std::size_t i,
                                       std::size_t j) {
    double sum = problem.inner(i, j);
    for (std::size_t p = 0; p < weights.size(); ++p) {
        for (std::size_t q = 0; q < weights.line(p).size(); ++q) {
            const auto at = [&](std::size_t r) {
                return static_cast<std::size_t>(weights.points()[r]);
            };
            sum += problem.inner(i, at(p)) * weights.line(p)[q] * problem.inner(j, at(q));
        }
    }
    return sum;
}

}  // namespace dual

inline void a_linear_kernel_gives_full_weights() {
    const dual::Problem problem(60, 5);
    const Matrix<std::int32_t, double> rows(problem.x, problem.n_features, problem.size());
    RowBuffer<std::int32_t, double> buffer;
    for (const Method& method : dual::methods()) {
        if (first_order(method.rule)) continue;  // full weights have a covariance
        Full<double> full(Shape{.n_features = 5, .intercept = false});
        const Targets targets = problem.targets();
        for (int pass = 0; pass < 2; ++pass) {
            CHECK(!learn(full, method, rows, targets, 0, problem.size()).refused);
        }
        const Dual weights = dual::trained(problem, method, 2);
        CHECK(weights.size() > 5 && weights.size() <= problem.size());
        for (std::size_t i = 0; i < problem.size(); ++i) {
            Full<double>::Work work;
            const auto row = rows.row(i, buffer);
            const Moments want = full.moments(row, std::array{Side{0, 1.0}}, row, work);
            const Moments got = dual::judged(weights, problem, i);
            CHECK_AT_MOST(std::fabs(got.m - want.m), 1e-9);
            CHECK_AT_MOST(std::fabs(got.v - want.v), 1e-9);
        }
    }
}

inline void a_budget_that_is_not_reached_changes_no_bit() {
    const dual::Problem problem(50, 4);
    for (const Method& method : dual::methods()) {
        const auto free = dual::bits(dual::trained(problem, method, 2));
        CHECK(dual::bits(dual::trained(problem, method, 2, 50)) == free);
        CHECK(dual::bits(dual::trained(problem, method, 2, 3)) != free);
    }
}

inline void threads_change_no_bit_of_a_kernel() {
    const dual::Problem problem(420, 3);  // Pi beyond the megabyte that a thread is worth
    const Method probit{.rule = rules::Probit{1.0}, .scheme = {}};
    const auto alone = dual::bits(dual::trained(problem, probit, 1));
    CHECK(dual::bits(dual::trained(problem, probit, 1, 0, 3)) == alone);
}

/// The Gaussian without a point is that of the other points' factors: none of its variances is
/// below what it was, and all stay positive.
inline void removed_points_raise_variances() {
    const dual::Problem problem(40, 6);
    for (const Method& method : dual::methods()) {
        Dual weights = dual::trained(problem, method, 2);
        while (weights.size() > 0) {
            std::vector<Moments> before;
            for (std::size_t i = 0; i < problem.size(); ++i) {
                before.push_back(dual::judged(weights, problem, i));
            }
            const std::size_t p = weights.size() / 2;
            const auto point = static_cast<std::size_t>(weights.points()[p]);
            const double nu = weights.nu()[p];
            weights.remove(p);
            for (std::size_t i = 0; i < problem.size(); ++i) {
                const auto [m, v] = dual::judged(weights, problem, i);
                CHECK(v > 0.0);
                CHECK_AT_MOST(before[i].v - v, 1e-9 * before[i].v);
                CHECK_AT_MOST(v, problem.norms[i] * (1.0 + 1e-9));
                const double moved = nu * dual::covariance(weights, problem, i, point);
                CHECK_AT_MOST(std::fabs(m - (before[i].m - moved)), 1e-9);
            }
        }
        CHECK(dual::judged(weights, problem, 0).m == 0.0);
    }
}

inline void a_budget_bounds_the_support_points() {
    const dual::Problem problem(60, 5);
    for (const Method& method : dual::methods()) {
        const Dual weights = dual::trained(problem, method, 3, 7);
        CHECK(weights.size() <= 7 && weights.capacity() <= 8);
        for (std::size_t i = 0; i < problem.size(); ++i) {
            CHECK(dual::judged(weights, problem, i).v > 0.0);
        }
    }
}

/// Without a covariance there is no Pi, and the oldest points make room.
inline void first_order_rules_keep_the_newest_points() {
    const dual::Problem problem(60, 5);
    const Method perceptron{.rule = rules::Perceptron{}, .scheme = {}};
    const Dual free = dual::trained(problem, perceptron, 1);
    CHECK(free.bytes() == 0 && free.size() > 3);
    Dual bounded = dual::trained(problem, perceptron, 1, 3);
    CHECK(bounded.size() == 3 && bounded.bytes() == 0);
    CHECK(std::ranges::is_sorted(bounded.points()));
    bounded.remove(1);
    CHECK(bounded.size() == 2 && dual::bits(bounded.copy()) == dual::bits(bounded));
}

inline void a_copy_of_dual_weights_learns_apart() {
    const dual::Problem problem(40, 4);
    const Method method = dual::methods()[0];
    const Dual weights = dual::trained(problem, method, 1);
    const auto before = dual::bits(weights);
    Dual other = weights.copy();
    CHECK(dual::bits(other) == before && other.rounds() == weights.rounds());
    CHECK(!learn(other, method, problem.block(), problem.targets(), 0, problem.size()).refused);
    CHECK(dual::bits(weights) == before && dual::bits(other) != before);
}

/// A row that has shrunk its variance to nothing is refused, and leaves no trace.
inline void a_lost_variance_is_refused() {
    const dual::Problem problem(1, 2);
    Dual weights(Shape{.intercept = false});
    const Method method{.rule = rules::AROW{1e-18}, .scheme = {}};
    Tally tally = learn(weights, method, problem.block(), problem.targets(), 0, 1);
    CHECK(!tally.refused && weights.size() == 1);
    const auto before = dual::bits(weights);
    std::vector<std::int32_t> other{1 - problem.y[0]};
    tally = learn(weights, method, problem.block(), {.y = other, .rows = {}, .known = {}}, 0, 1);
    CHECK(tally.refused && dual::bits(weights) == before && weights.rounds() == 1);
}

inline constexpr std::array dual_tests{
    Test{"a linear kernel gives full weights", a_linear_kernel_gives_full_weights},
    Test{"a budget that is not reached changes no bit",
         a_budget_that_is_not_reached_changes_no_bit},
    Test{"threads change no bit of a kernel", threads_change_no_bit_of_a_kernel},
    Test{"removed points raise variances", removed_points_raise_variances},
    Test{"a budget bounds the support points", a_budget_bounds_the_support_points},
    Test{"first-order rules keep the newest points", first_order_rules_keep_the_newest_points},
    Test{"a copy of dual weights learns apart", a_copy_of_dual_weights_learns_apart},
    Test{"a lost variance is refused", a_lost_variance_is_refused},
};

}  // namespace surelearn::tests
