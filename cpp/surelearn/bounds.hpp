// Bounds on all numbers of a table of weights, kept step by step. Knows neither rows nor storage.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "surelearn/types.hpp"

namespace surelearn {

/// Upper bounds on |mu|, 1/sigma and sigma of every weight; T is the storage type. In either
/// projection a step adds at most gain x^2 to a precision, at most alpha sigma |x| to a mean, and
/// nothing to a variance. While both sums are far from overflow no update can fail, so none needs
/// to be checked or undone.
template <class T>
class Bounds {
public:
    static constexpr double limit = 0x1p100;

    /// Of weights that no step has touched.
    [[nodiscard]] static Bounds of_prior(double prior) noexcept {
        Bounds bounds;
        bounds.include(0.0, prior);
        return bounds;
    }
    /// Of weights that nothing is known about.
    [[nodiscard]] static Bounds unknown() noexcept {
        Bounds bounds;
        bounds.mean_ = bounds.precision_ = std::numeric_limits<double>::infinity();
        return bounds;
    }

    void include(double mu, double sigma) noexcept {
        mean_ = std::max(mean_, std::fabs(mu));
        precision_ = std::max(precision_, 1.0 / sigma);
        variance_ = std::max(variance_, sigma);
    }

    void include(const Bounds& other) noexcept {
        mean_ = std::max(mean_, other.mean_);
        precision_ = std::max(precision_, other.precision_);
        variance_ = std::max(variance_, other.variance_);
    }

    /// Counts a step on features of which no |x| is above `x`, which is at least 1. False if a
    /// weight may be out of range after it.
    [[nodiscard]] bool grow(const Step& step, double x) noexcept {
        mean_ = (mean_ + step.alpha * variance_ * x) * slack;
        precision_ = (precision_ + step.gain * (x * x)) * slack;
        return mean_ < limit && precision_ < limit;
    }

    [[nodiscard]] bool known() const noexcept { return std::isfinite(mean_); }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double precision() const noexcept { return precision_; }

private:
    /// More than an update can round: to T once, and some times to double.
    static constexpr double slack = 1.0 + 8.0 * std::numeric_limits<T>::epsilon();

    double mean_ = 0.0;
    double precision_ = 0.0;
    double variance_ = 0.0;
};

}  // namespace surelearn
