// Logarithms of label probabilities, also of those far too small for a double. Knows
// numbers only: no weights, rules or labels.
//
// A probability below 1e-4 gets a separate integral. Its integrand pdf_y prod cdf_z is log-concave:
// Newton steps find the mode, and panels, halved where needed, integrate around it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/normal.hpp"
#include "surelearn/probability.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

namespace detail {

/// Adds log Phi(x): squares go to `sum`; `product` collects factors, so that many labels need only
/// one logarithm.
[[gnu::always_inline]] inline void add_log_cdf(const Four& x, Four& sum, Four& product) noexcept {
    const Four zero{};
    const Four size = x < zero ? -x : x;
    const Four near = size < 37.0 ? size : zero + 37.0;
    Four e;
    quick_exp(-0.5 * (near * near), e);
    Tail tail;
    quick_tail(size < 1e20 ? size : zero + 1e20, tail);  // its powers must stay finite
    const Four ratio = tail.p / tail.q;
    sum += x < zero ? -0.5 * (x * x) : zero;
    product *= x < zero ? ratio : 1.0 - e * ratio;
}

/// Moves the logarithm of `product` to `sum`.
[[gnu::always_inline]] inline void take_log(Four& sum, Four& product) noexcept {
    for (std::size_t k = 0; k < 4; ++k) {
        sum[k] += log(product[k]);
        product[k] = 1.0;
    }
}

/// Hazard h of a normal variable and -h', as far as Newton steps need them.
[[nodiscard]] inline std::array<double, 2> rough_hazard(double x) noexcept {
    if (x < -1e4) return {-x, 1.0};
    if (x > 37.0) return {0.0, 0.0};
    const double h = 0.79788456080286535588 / erfcx(-x * 0.70710678118654752440);
    return {h, h * (h + x)};
}

}  // namespace detail

/// Log probabilities of one row after the other; keeps its working memory between rows.
class LogProbabilities {
public:
    /// Writes to `log_p` the log probability that each score is the largest.
    void operator()(std::span<const double> mean, std::span<const double> variance,
                    std::span<double> log_p) {
        if (mean.size() == 2) return two(mean, variance, log_p);
        begin(mean, variance);
        for (std::size_t y = 0; y < mean.size(); ++y) log_p[y] = one(mean, variance, y);
        // Near one, use log(1 - sum of the others), which keeps all digits.
        const auto best = std::max_element(p_.begin(), p_.end());
        if (*best <= 0.5) return;
        const auto y = static_cast<std::size_t>(best - p_.begin());
        double others = 0.0;
        for (std::size_t z = 0; z < p_.size(); ++z) others += z == y ? 0.0 : detail::exp(log_p[z]);
        log_p[y] = detail::log_of_rest(others);
    }

    /// The log probability of label `y` alone, to 1e-6 of itself or 1e-10, whichever is more.
    [[nodiscard]] double of(std::span<const double> mean, std::span<const double> variance,
                            std::size_t y) {
        if (mean.size() == 2) {
            std::array<double, 2> both{};
            two(mean, variance, both);
            return both[y];
        }
        begin(mean, variance);
        return one(mean, variance, y);
    }

private:
    static constexpr double infinity_ = std::numeric_limits<double>::infinity();
    static constexpr double small_ = 1e-4;      ///< smaller probabilities get a separate integral
    static constexpr double negligible_ = -40;  ///< log of what is ignored relative to the mode
    static constexpr double certain_ = 9.0;     ///< deviations above which a cdf counts as one

    static void two(std::span<const double> mean, std::span<const double> variance,
                    std::span<double> log_p) {
        const double m = mean[0] - mean[1];
        const double t = m == 0.0 ? 0.0 : m / joint_sd(variance[0], variance[1]);
        log_p[0] = log_normal_cdf(t);
        log_p[1] = log_normal_cdf(-t);
    }

    void begin(std::span<const double> mean, std::span<const double> variance) {
        p_.resize(mean.size());
        probabilities_(mean, variance, p_);
        least_ = infinity_;
        top_fixed_ = -infinity_;
        for (std::size_t z = 0; z < mean.size(); ++z) {
            if (variance[z] > 0.0)
                least_ = std::min(least_, std::sqrt(variance[z]));
            else
                top_fixed_ = std::max(top_fixed_, mean[z]);
        }
    }

    [[nodiscard]] double one(std::span<const double> mean, std::span<const double> variance,
                             std::size_t y) {
        if (p_[y] >= small_) return detail::log(p_[y]);
        const bool beaten = variance[y] == 0.0 && mean[y] < top_fixed_;
        if (std::isinf(least_) || beaten) return -infinity_;
        const double bound = pairwise(mean, variance, y);
        if (!(bound > -1e100)) return bound;  // the squares below would overflow
        prepare(mean, variance, y);
        const auto beyond = [](const Score& z) { return !(std::fabs(z.mean) < 1e100); };
        if (beyond(own_) || std::any_of(rivals_.begin(), rivals_.end(), beyond)) {
            return p_[y] > 1e-9 ? detail::log(p_[y]) : bound;  // too far apart to be told exactly
        }
        return integral();
    }

    /// The probability that `y` beats its strongest rival, an upper bound of Pr[y].
    [[nodiscard]] static double pairwise(std::span<const double> mean,
                                         std::span<const double> variance, std::size_t y) {
        double least = 0.0;
        for (std::size_t z = 0; z < mean.size(); ++z) {
            const double m = mean[y] - mean[z];
            if (m < 0.0) least = std::min(least, m / joint_sd(variance[y], variance[z]));
        }
        return log_normal_cdf(least);
    }

    /// Means and deviations from, and in units of, the narrower of `y` and the hardest to beat.
    void prepare(std::span<const double> mean, std::span<const double> variance, std::size_t y) {
        const auto deviation = [&](std::size_t z) {
            return variance[z] > 0.0 ? std::sqrt(variance[z]) : least_ * 1e-12;
        };
        std::size_t first = 0;  // the label with the highest lower end
        for (std::size_t z = 1; z < mean.size(); ++z) {
            if (mean[z] - mean[first] > 7.0 * (deviation(z) - deviation(first))) first = z;
        }
        const std::size_t centre = deviation(first) < deviation(y) ? first : y;
        unit_ = deviation(centre);
        const auto label = [&](std::size_t z) {
            const double place = (mean[z] - mean[centre]) / unit_;
            // A deviation below the rounding error of the mean cannot be resolved.
            const double least = std::clamp(1e-12 * std::fabs(place), 1e-100, 1e100);
            return Score{place, std::clamp(deviation(z) / unit_, least, 1e100)};
        };
        own_ = label(y);
        rivals_.clear();
        for (std::size_t z = 0; z < mean.size(); ++z) {
            const bool beaten = variance[z] == 0.0 && mean[z] < top_fixed_;
            if (z != y && !beaten) rivals_.push_back(label(z));
        }
    }

    /// log of the integral of pdf_y prod cdf_z.
    [[nodiscard]] double integral() {
        find_mode();
        detail::FourPanel t;
        for (detail::Lanes& four : t) four.x = Four{} + mode_;
        detail::FourPanel height;
        heights(t, height);
        const double at_mode = height[0].x[0];
        const double density = -detail::log(own_.sd) - 0.91893853320467274178;  // log sqrt(2 pi)
        // This far out, the height at the mode already gives all digits of the logarithm.
        if (!(at_mode > -1e9))
            return at_mode + density + 0.91893853320467274178 + detail::log(width_);
        const double left = reach(at_mode, -1.0);
        const double right = reach(at_mode, 1.0);
        std::erase_if(rivals_,
                      [&](const Score& z) { return mode_ - left > z.mean + certain_ * z.sd; });
        sum_ = 0.0;
        halved_ = 0;
        add(mode_ - left, left, at_mode);
        add(mode_, right, at_mode);
        return at_mode + density + detail::log(sum_);
    }

    /// log of the integrand at each `t`, up to a constant.
    void heights(const detail::FourPanel& t, detail::FourPanel& sum) const noexcept {
        widen([=, this, &t, &sum]() SURELEARN_INLINED {
            detail::FourPanel product;
            for (std::size_t i = 0; i < detail::panel_fours; ++i) {
                const Four x = (t[i].x - own_.mean) / own_.sd;
                sum[i].x = -0.5 * (x * x);
                product[i].x = Four{} + 1.0;
            }
            for (std::size_t n = 0; n < rivals_.size(); ++n) {
                const Score& z = rivals_[n];
                for (std::size_t i = 0; i < detail::panel_fours; ++i) {
                    detail::add_log_cdf((t[i].x - z.mean) / z.sd, sum[i].x, product[i].x);
                    // No factor is below 1e-21: eight of them do not underflow.
                    if (n % 8 == 7) detail::take_log(sum[i].x, product[i].x);
                }
            }
            for (std::size_t i = 0; i < detail::panel_fours; ++i) {
                detail::take_log(sum[i].x, product[i].x);
            }
        });
    }

    /// Newton steps from the left: the slope of the log is convex, so they cannot overshoot.
    void find_mode() noexcept {
        double t = own_.mean;
        width_ = 0.0;
        for (int i = 0; i < 1000; ++i) {
            double slope = -(t - own_.mean) / own_.sd / own_.sd;
            double curvature = 1.0 / own_.sd / own_.sd;
            for (const Score& z : rivals_) {
                const auto [h, lost] = detail::rough_hazard((t - z.mean) / z.sd);
                slope += h / z.sd;
                curvature += lost / z.sd / z.sd;
            }
            const double before = width_;
            width_ = 1.0 / std::sqrt(curvature);
            const double step = slope / curvature;
            t += step;
            // A short step ends the search only if the curvature is stable: next to a narrow rival
            // it falls by orders of magnitude.
            if (!(std::fabs(step) > 1e-3 * width_) && !(width_ > 1.01 * before)) break;
        }
        mode_ = t;
    }

    /// How far from the mode, on one side of it, the integrand counts. Tries 16 widths at a time.
    [[nodiscard]] double reach(double at_mode, double side) const noexcept {
        detail::FourPanel t;
        detail::FourPanel height;
        double least = width_ / 16.0;
        for (int round = 0; round < 50; ++round) {
            double w = least;
            for (std::size_t i = 0; i < detail::panel_size; ++i, w *= 2.0) {
                t[i / 4].x[i % 4] = mode_ + side * w;
            }
            heights(t, height);
            w = least;
            std::size_t i = 0;
            for (; i < detail::panel_size; ++i, w *= 2.0) {
                if (!(height[i / 4].x[i % 4] > at_mode + negligible_)) break;
            }
            if (i > 0 && i < detail::panel_size) return w;
            least = i == 0 ? least / 16384.0 : w / 2.0;
        }
        return least;
    }

    /// Adds the integral over [low, low + width], relative to the height at the mode.
    void add(double low, double width, double at_mode) noexcept {
        add_halves(low, width, at_mode, panel(low, width, at_mode), 0);
    }

    void add_halves(double low, double width, double at_mode, double whole, int depth) noexcept {
        const double half = 0.5 * width;
        const double left = panel(low, half, at_mode);
        const double right = panel(low + half, half, at_mode);
        const double both = left + right;
        // Heights are sums of numbers as large as the height at the mode, with that rounding error.
        const double tolerance = std::max(1e-6, -4e-15 * at_mode);
        if (depth >= 60 || ++halved_ > 500 ||
            !(std::fabs(both - whole) > tolerance * (sum_ + both))) {
            sum_ += both;
            return;
        }
        add_halves(low, half, at_mode, left, depth + 1);
        add_halves(low + half, half, at_mode, right, depth + 1);
    }

    [[nodiscard]] double panel(double low, double width, double at_mode) const noexcept {
        detail::FourPanel t;
        detail::FourPanel height;
        for (std::size_t i = 0; i < detail::panel_fours; ++i) {
            t[i].x = low + width * detail::panel_points[i].x;
        }
        heights(t, height);
        double sum = 0.0;
        for (std::size_t i = 0; i < detail::panel_size; ++i) {
            const double weight = detail::panel_weights[i / 4].x[i % 4];
            sum += weight * detail::exp(height[i / 4].x[i % 4] - at_mode);
        }
        return sum * width;
    }

    struct Score {
        double mean;
        double sd;
    };

    LabelProbabilities probabilities_;
    std::vector<double> p_;     ///< of the row, as far as one grid for all labels tells
    double least_ = infinity_;  ///< smallest deviation that is not zero
    double top_fixed_ = 0.0;    ///< largest score that does not vary
    double unit_ = 1.0;         ///< of length
    Score own_{};               ///< of the label whose integral is asked for
    std::vector<Score> rivals_;
    double mode_ = 0.0;
    double width_ = 1.0;  ///< of a normal density with the integrand's curvature at the mode
    double sum_ = 0.0;
    int halved_ = 0;  ///< halved panels so far; a limit, since rounding noise could halve for ever
};

}  // namespace surelearn
