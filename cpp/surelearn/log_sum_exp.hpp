// Sums of exponentials in logs. Knows nothing of what is summed.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "surelearn/normal.hpp"

namespace surelearn {

namespace detail {

[[nodiscard]] inline double largest(std::span<const double> s) noexcept {
    double most = -std::numeric_limits<double>::infinity();
    for (const double x : s) most = std::max(most, x);
    return most;
}

/// log sum_i exp(s[i]); -inf if all are.
[[nodiscard]] inline double log_sum_exp(std::span<const double> s) noexcept {
    const double most = largest(s);
    if (!(most > -std::numeric_limits<double>::infinity())) return most;
    double sum = 0.0;
    for (const double x : s) sum += detail::exp(x - most);
    return most + detail::log(sum);
}

/// Turns log weights into probabilities; returns the log of their sum. Relative to the largest, so
/// that no exp overflows.
inline double softmax(std::span<double> s) noexcept {
    const double most = largest(s);
    double sum = 0.0;
    for (double& x : s) {
        x = detail::exp(x - most);
        sum += x;
    }
    for (double& x : s) x /= sum;
    return most + detail::log(sum);
}

}  // namespace detail

}  // namespace surelearn
