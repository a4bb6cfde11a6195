// probability.hpp and log_probability.hpp: extremes, memory and the quick functions against exact
// ones.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "check.hpp"
#include "surelearn/log_probability.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/probability.hpp"

namespace surelearn::tests {

inline void quick_hazard_is_the_exact_one() {
    for (double x = -7.2; x < 7.2; x += 0.003) {
        Four cdf;
        Four hazard;
        detail::quick_hazard(Four{x, x, -x, 50.0 * x}, cdf, hazard);
        CHECK_AT_MOST(relative(cdf[0], normal_cdf(x)), 2e-11);
        CHECK_AT_MOST(relative(cdf[2], normal_cdf(-x)), 2e-11);
        CHECK_AT_MOST(relative(hazard[0], truncated_normal(x).mean), 2e-11);
        CHECK(cdf[0] == cdf[1] && hazard[0] == hazard[1]);
        CHECK(cdf[3] >= 0.0 && cdf[3] <= 1.0 + 1e-11 && std::isfinite(hazard[3]));
    }
}

inline void probabilities_of_equal_scores_are_equal() {
    LabelProbabilities probabilities;
    for (const std::size_t k : {3U, 10U, 200U, 5000U}) {
        const std::vector<double> mean(k, 0.3);
        const std::vector<double> variance(k, 4.0);
        std::vector<double> p(k);
        probabilities(mean, variance, p);
        for (const double each : p)
            CHECK_AT_MOST(relative(each, 1.0L / static_cast<long double>(k)), 1e-9);
    }
}

inline void extremes_give_probabilities() {
    constexpr double most = std::numeric_limits<double>::max();
    constexpr double least = std::numeric_limits<double>::denorm_min();
    const std::array<double, 8> means{-most, -1e200, -1.0, 0.0, least, 1.0, 1e200, most};
    const std::array<double, 7> variances{0.0, least, 1e-300, 1.0, 1e16, 1e200, most};
    LabelProbabilities probabilities;
    LogProbabilities logs;
    unsigned state = 1;
    const auto pick = [&](std::size_t n) {
        return (state = state * 1664525U + 1013904223U) / 65536U % n;
    };
    for (int i = 0; i < 5000; ++i) {
        std::array<double, 5> mean{};
        std::array<double, 5> variance{};
        std::array<double, 5> p{};
        for (double& m : mean) m = means[pick(means.size())];
        for (double& v : variance) v = variances[pick(variances.size())];
        probabilities(mean, variance, p);
        double sum = 0.0;
        for (const double each : p) {
            CHECK(each >= 0.0);
            sum += each;
        }
        CHECK_AT_MOST(std::fabs(sum - 1.0), 1e-12);
        logs(mean, variance, p);
        for (const double each : p) CHECK_AT_MOST(each, 0.0);
    }
}

inline void rows_after_the_first_need_no_memory() {
    const std::vector<double> mean{0.0, 1.0, 2.0, 0.5};
    const std::vector<double> variance{1.0, 2.0, 0.1, 1.0};
    std::vector<double> p(4);
    LabelProbabilities probabilities;
    LogProbabilities logs;
    probabilities(mean, variance, p);
    logs(mean, variance, p);
    const std::size_t before = allocations();
    for (int i = 0; i < 10; ++i) {
        probabilities(mean, variance, p);
        logs(mean, variance, p);
    }
    CHECK(allocations() == before);
}

inline constexpr std::array probability_tests{
    Test{"quick_hazard is the exact one", quick_hazard_is_the_exact_one},
    Test{"probabilities of equal scores are equal", probabilities_of_equal_scores_are_equal},
    Test{"extremes give probabilities", extremes_give_probabilities},
    Test{"rows after the first need no memory", rows_after_the_first_need_no_memory},
};

}  // namespace surelearn::tests
