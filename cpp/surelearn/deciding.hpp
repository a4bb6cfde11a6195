// Decisions from the probabilities of labels: the answer of least cost, and how sure an answer is.
// Knows no weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "surelearn/normal.hpp"

namespace surelearn {

/// A matrix of costs C[label, answer] as what most mistakes of an answer cost, and the pairs that
/// cost more or less.
struct AnswerCosts {
    std::span<const double> usual;  ///< of each answer
    std::span<const std::int64_t> label;
    std::span<const std::int64_t> answer;
    std::span<const double> more;
};

/// The answer z with the least sum_y p[y] C[y, z]; ties: the first (Elkan 2001, eq. 1).
[[nodiscard]] inline std::size_t least_cost(std::span<const double> p, const AnswerCosts& costs,
                                            std::span<double> expected) {
    double total = 0.0;
    for (const double each : p) total += each;
    for (std::size_t z = 0; z < expected.size(); ++z) expected[z] = total * costs.usual[z];
    for (std::size_t i = 0; i < costs.more.size(); ++i) {
        const auto y = static_cast<std::size_t>(costs.label[i]);
        const auto z = static_cast<std::size_t>(costs.answer[i]);
        expected[z] += p[y] * costs.more[i];
    }
    return static_cast<std::size_t>(std::ranges::min_element(expected) - expected.begin());
}

/// log(p_b^2 / sum_{z != b} p_z^2): the log odds of a label if probabilities were twice as sharp.
/// NaN where all are 0.
[[nodiscard]] inline double sharp_log_odds(std::span<const double> p, std::size_t best) {
    double largest = 0.0;
    for (std::size_t z = 0; z < p.size(); ++z)
        if (z != best) largest = std::max(largest, p[z]);
    if (largest == 0.0) {
        return p[best] > 0.0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    double others = 0.0;  // relative to the largest, so that the squares do not underflow
    for (std::size_t z = 0; z < p.size(); ++z) {
        const double ratio = z == best ? 0.0 : p[z] / largest;
        others += ratio * ratio;
    }
    return 2.0 * (detail::log(p[best]) - detail::log(largest)) - detail::log(others);
}

}  // namespace surelearn
