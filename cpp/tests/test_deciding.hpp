// deciding.hpp: costs against the whole matrix, sharp odds at the ends of the range, and sets
// against sorting.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/deciding.hpp"

namespace surelearn::tests {

namespace deciding {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array scores{SetScore{}, SetScore{true, 0.0, 0}, SetScore{true, 0.05, 2}};

/// Whole numbers below n, always the same.
class Numbers {
public:
    [[nodiscard]] std::size_t below(std::size_t n) noexcept {
        return (state_ = state_ * 1664525U + 1013904223U) / 65536U % n;
    }

private:
    unsigned state_ = 1;
};

/// Probabilities with ties and zeros.
[[nodiscard]] inline std::vector<double> probabilities(Numbers& numbers, std::size_t n_labels) {
    std::vector<double> p(n_labels);
    for (double& each : p) each = static_cast<double>(numbers.below(7));
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& each : p) each = total > 0.0 ? each / total : 1.0 / static_cast<double>(n_labels);
    return p;
}

/// The set by sorting all labels and looking at each of them.
[[nodiscard]] inline std::vector<std::int64_t> by_sorting(std::span<const double> p,
                                                          const SetScore& score,
                                                          std::span<const double> limits,
                                                          bool always_the_best) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<std::int64_t> places;
    double total = 0.0;
    for (std::size_t n = 0; n < p.size(); ++n) {
        const std::size_t z = order[n];
        total += p[z];
        double own = 1.0 - p[z];
        if (score.cumulative) own = total;
        if (score.cumulative && n >= score.n_free)
            own += score.penalty * static_cast<double>(n + 1 - score.n_free);
        const bool fits = own <= limits[limits.size() == 1 ? 0 : z];
        if (fits || (n == 0 && always_the_best)) places.push_back(static_cast<std::int64_t>(z));
    }
    return places;
}

[[nodiscard]] inline std::vector<std::int64_t> found(std::span<const double> p,
                                                     const SetScore& score,
                                                     std::span<const double> limits,
                                                     bool always_the_best = true) {
    std::vector<std::int64_t> places{-1};  // those of other rows stay
    SetFinder sets(score, limits, always_the_best);
    sets.find(p, places);
    CHECK(places.front() == -1);
    return {places.begin() + 1, places.end()};
}

}  // namespace deciding

inline void the_answer_of_least_cost_is_that_of_the_matrix() {
    deciding::Numbers numbers;
    for (int i = 0; i < 500; ++i) {
        const std::size_t n_labels = 1 + numbers.below(6);
        const std::size_t n_answers = n_labels + numbers.below(2);
        std::vector<double> usual(n_answers);
        for (double& each : usual) each = static_cast<double>(numbers.below(4));
        std::vector<std::int64_t> label, answer;
        std::vector<double> more;
        std::vector<double> matrix(n_labels * n_answers);
        for (std::size_t y = 0; y < n_labels; ++y) {
            for (std::size_t z = 0; z < n_answers; ++z) {
                matrix[y * n_answers + z] = usual[z];
                if (numbers.below(3) != 0) continue;
                label.push_back(static_cast<std::int64_t>(y));
                answer.push_back(static_cast<std::int64_t>(z));
                more.push_back(static_cast<double>(numbers.below(5)) - 2.0);
                matrix[y * n_answers + z] += more.back();
            }
        }
        std::vector<double> p(n_labels);  // eighths: sums have no rounding error
        for (double& each : p) each = static_cast<double>(numbers.below(9)) / 8.0;
        std::vector<double> want(n_answers, 0.0);
        for (std::size_t y = 0; y < n_labels; ++y)
            for (std::size_t z = 0; z < n_answers; ++z) want[z] += p[y] * matrix[y * n_answers + z];
        std::vector<double> expected(n_answers, -1.0);
        const std::size_t best = least_cost(p, {usual, label, answer, more}, expected);
        CHECK(expected == want);
        CHECK(best == static_cast<std::size_t>(std::ranges::min_element(want) - want.begin()));
    }
}

inline void sharp_odds_are_those_of_squares() {
    constexpr double least = std::numeric_limits<double>::denorm_min();
    const auto odds = [](std::vector<double> p, std::size_t best) {
        return sharp_log_odds(p, best);
    };
    CHECK_AT_MOST(relative(odds({0.5, 0.3, 0.2}, 0), std::log(0.25L / 0.13L)), 1e-15);
    CHECK_AT_MOST(relative(odds({0.5, 0.3, 0.2}, 2), std::log(0.04L / 0.34L)), 1e-15);
    CHECK(odds({0.5, 0.5}, 1) == 0.0);
    // Squares of these underflow.
    CHECK_AT_MOST(relative(odds({1.0, 1e-200}, 0), 400.0L * std::log(10.0L)), 1e-15);
    CHECK_AT_MOST(relative(odds({1.0, least, least}, 0),
                           -2.0L * std::log(4.9406564584124654e-324L) - std::log(2.0L)),
                  1e-14);
    CHECK(odds({1.0, 0.0}, 0) == deciding::infinity);
    CHECK(odds({0.0, 1.0}, 0) == -deciding::infinity);
    CHECK(odds({1.0}, 0) == deciding::infinity);
    CHECK(std::isnan(odds({0.0, 0.0}, 0)) && std::isnan(odds({0.0}, 0)));
}

inline void the_first_of_the_largest_is_found() {
    deciding::Numbers numbers;
    for (int i = 0; i < 2000; ++i) {
        std::vector<double> x(1 + numbers.below(23));
        for (double& each : x) {
            const std::size_t value = numbers.below(8);
            each = value == 7 ? -deciding::infinity : static_cast<double>(value) - 3.0;
        }
        CHECK(first_largest(x) ==
              static_cast<std::size_t>(std::ranges::max_element(x) - x.begin()));
    }
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(first_largest(std::array{nan, nan}) == 0 && first_largest({}) == 0);
    CHECK(first_largest(std::array{nan, -1.0, 2.0, nan, 2.0}) == 2);
    CHECK(first_largest(std::array{1.0, deciding::infinity}) == 1);
}

inline void sets_are_those_of_sorting() {
    deciding::Numbers numbers;
    for (const std::size_t n_labels : {1U, 2U, 3U, 7U, 40U, 1000U}) {
        for (int i = 0; i < (n_labels < 100 ? 400 : 20); ++i) {
            const auto p = deciding::probabilities(numbers, n_labels);
            std::vector<double> limits(numbers.below(2) == 0 ? 1 : n_labels);
            for (double& each : limits) {
                const std::array values{-deciding::infinity, 0.0, 0.5, 0.8, 0.97, 1.0, 1.1, 40.0,
                                        deciding::infinity};
                each = values[numbers.below(values.size() - numbers.below(3))];
            }
            for (const SetScore& score : deciding::scores) {
                for (const bool always : {true, false}) {
                    CHECK(deciding::found(p, score, limits, always) ==
                          deciding::by_sorting(p, score, limits, always));
                }
            }
        }
    }
}

inline void sets_of_extremes() {
    using Places = std::vector<std::int64_t>;
    const std::vector<double> none(3, 0.0), alike(1024, 1.0 / 1024);
    const std::array loose{deciding::infinity}, strict{-deciding::infinity};
    for (const SetScore& score : deciding::scores) {
        CHECK(deciding::found(none, score, loose) == (Places{0, 1, 2}));
        CHECK(deciding::found(none, score, strict) == Places{0});
        CHECK(deciding::found(none, score, strict, false).empty());
        CHECK(deciding::found({}, score, loose).empty());
        Places all(1024);
        std::iota(all.begin(), all.end(), std::int64_t{0});
        CHECK(deciding::found(alike, score, loose) == all);
    }
    const std::array half{0.5};
    CHECK(deciding::found(alike, {true, 0.0, 0}, half).size() == 512);
    CHECK(deciding::found(alike, {true, 0.05, 2}, half).size() == 11);
}

/// The working memory is that of the longest row.
inline void sets_allocate_for_no_row() {
    const std::vector<double> p(64, 1.0 / 64);
    const std::array limits{0.5};
    SetFinder sets({true, 0.0, 0}, limits, true);
    std::vector<std::int64_t> places;
    places.reserve(10'000);
    sets.find(p, places);
    const std::size_t before = allocations();
    for (int i = 0; i < 100; ++i) sets.find(p, places);
    CHECK(allocations() == before && places.size() == 101 * 32);
}

inline constexpr std::array deciding_tests{
    Test{"the answer of least cost is that of the matrix",
         the_answer_of_least_cost_is_that_of_the_matrix},
    Test{"sharp odds are those of squares", sharp_odds_are_those_of_squares},
    Test{"the first of the largest is found", the_first_of_the_largest_is_found},
    Test{"sets are those of sorting", sets_are_those_of_sorting},
    Test{"sets of extremes", sets_of_extremes},
    Test{"sets allocate for no row", sets_allocate_for_no_row},
};

}  // namespace surelearn::tests
