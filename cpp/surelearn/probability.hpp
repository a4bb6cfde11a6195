// Means and variances of K independent scores -> the probability that each is the largest.
// Knows numbers only: no weights, rules or labels.
//
//     Pr[y] = integral pdf_y(t) prod_{z != y} cdf_z(t) dt = integral hazard_y(t) F(t) dt
//
// with F = prod_z cdf_z and hazard = pdf / cdf. One grid serves all labels. It consists of panels
// from the highest possible score down to where F vanishes. The narrowest score that varies within
// a panel limits its width, so a spread of 1e-4 among spreads of 1 costs only a few more panels.
// Summed over y, the integrand is the derivative of F: so the sum over each panel is known, and a
// panel with a larger error is halved.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/normal.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

namespace detail {

/// Four points of a panel. A struct, since templates do not accept a bare vector type.
struct Lanes {
    Four x;
};
constexpr std::size_t panel_fours = 4;
constexpr std::size_t panel_size = 4 * panel_fours;
using FourPanel = std::array<Lanes, panel_fours>;

/// Points of a panel, as fractions of its width from the lower end: Gauss-Radau, exact to
/// degree 30. The first point is the lower end, which the next panel and the check of this one need
/// anyway.
constexpr FourPanel panel_points{
    Lanes{{0.0, 0.014269454736825774734, 0.047299590094166685662, 0.097713299320621973369}},
    Lanes{{0.16356903939438987602, 0.242335260968657288, 0.33098480497004012346,
           0.42611083909331411933}},
    Lanes{{0.52405769153676513943, 0.62106131135302196189, 0.71339391374247294002,
           0.79750724494989595243}},
    Lanes{{0.87016897444640894403, 0.92858704688484115995, 0.97051770135205751337,
           0.99435931102748829024}},
};
constexpr FourPanel panel_weights{
    Lanes{{0.00390625, 0.023851113473842860233, 0.041992640722482589004, 0.058510176551930028515}},
    Lanes{{0.072777772610101121435, 0.084248198924961245018, 0.092480890744332679783,
           0.097159544855783921672}},
    Lanes{{0.098104394119515841134, 0.095279147127677544413, 0.088792396376369755948,
           0.078893460902101010143}},
    Lanes{{0.065962849966534066722, 0.050497839810891954362, 0.033094754305068217372,
           0.014448569508407164246}},
};

/// e^x for -700 < x <= 0 to 3e-13, from additions and multiplications only.
[[gnu::always_inline]] inline void quick_exp(const Four& x, Four& result) noexcept {
    constexpr double inverse_ln2 = 1.4426950408889634;
    constexpr double ln2 = 0.69314718055994530942;
    constexpr double round = 6755399441055744.0;  // 1.5 * 2^52: its last bits hold whole numbers
    const Four shifted = x * inverse_ln2 + round;
    const Four r = x - (shifted - round) * ln2;
    const Four r2 = r * r;
    const Four r4 = r2 * r2;
    const Four low = (r + 1.0) + (r * (1.0 / 6) + 1.0 / 2) * r2;  // Taylor, in parallel pieces
    const Four middle = (r * (1.0 / 120) + 1.0 / 24) + (r * (1.0 / 5040) + 1.0 / 720) * r2;
    const Four high = (r * (1.0 / 362880) + 1.0 / 40320) + r2 * (1.0 / 3628800);
    const Four sum = low + (middle + high * r4) * r4;
    // 2^k has the exponent bits k + 1023.
    const FourBits scale = (reinterpret_cast<FourBits>(shifted) + 1023) << 52;
    result = sum * reinterpret_cast<Four>(scale);
}

/// The factors of 1 - Phi(a) = exp(-a^2/2) P(a) / Q(a) for a >= 0. P / Q is a minimax fit on
/// [0, 7.2], computed with 40 digits: relative error 1e-11 there and below 1e-5 for all larger a.
struct Tail {
    Four p;
    Four q;
};

[[gnu::always_inline]] inline void quick_tail(const Four& a, Tail& tail) noexcept {
    const Four a2 = a * a;
    const Four a4 = a2 * a2;
    tail.p = ((a * 0.480088400286768055 + 0.499999999996168309) +
              (a * 0.0614758035317085276 + 0.226842542396202361) * a2) +
             (a * 0.000672582504404723671 + 0.00948355648910542199) * a4;
    tail.q =
        ((a * 1.75806136052276735 + 1.0) + (a * 0.592145017963587185 + 1.35641511668849358) * a2) +
        ((a * 0.0237709820487735321 + 0.155800001832584135) + a2 * 0.00168593044536456909) * a4;
}

/// cdf and pdf / cdf of a standard normal variable to 1e-11 for |x| < 7.2.
[[gnu::always_inline]] inline void quick_hazard(const Four& x, Four& cdf, Four& hazard) noexcept {
    const Four zero{};
    const Four size = x < zero ? -x : x;
    const Four a = size < 37.0 ? size : zero + 37.0;  // beyond it exp underflows
    Four e;
    quick_exp(-0.5 * (a * a), e);
    Tail tail;
    quick_tail(a, tail);
    const Four upper = e * tail.p;
    const Four cdf_q = x < zero ? upper : tail.q - upper;
    const Four inverse = 1.0 / (cdf_q * tail.q);  // one division for both
    constexpr double inverse_sqrt_2pi = 0.39894228040143267794;
    cdf = cdf_q * cdf_q * inverse;
    hazard = inverse_sqrt_2pi * e * (tail.q * tail.q) * inverse;
}

}  // namespace detail

/// Pr[score 0 > score 1] and the other way round.
[[nodiscard]] inline std::array<double, 2> two_label_probabilities(double m, double sd) noexcept {
    if (m == 0.0) return {0.5, 0.5};
    const double t = m / sd;
    return {normal_cdf(t), normal_cdf(-t)};
}

/// The standard deviation of a sum or difference of two independent scores.
[[nodiscard]] inline double joint_sd(double v0, double v1) noexcept {
    const double v = v0 + v1;
    return std::isinf(v) ? 2.0 * std::sqrt(0.25 * v0 + 0.25 * v1) : std::sqrt(v);
}

/// Label probabilities of one row after the other; keeps its working memory between rows.
class LabelProbabilities {
public:
    /// Writes to `p` the probability that each score is the largest. Sums to one.
    void operator()(std::span<const double> mean, std::span<const double> variance,
                    std::span<double> p) {
        if (mean.size() == 2) {
            const auto both =
                two_label_probabilities(mean[0] - mean[1], joint_sd(variance[0], variance[1]));
            std::copy(both.begin(), both.end(), p.begin());
            return;
        }
        std::fill(p.begin(), p.end(), 0.0);
        if (!prepare(mean, variance)) return share_ties(mean, p);
        integrate();
        collect(p);
    }

private:
    using FourPanel = detail::FourPanel;
    static constexpr std::size_t fours_ = detail::panel_fours;
    static constexpr double reach_ = 7.0;  ///< standard deviations that count; 1e-12 lies beyond
    static constexpr double tolerance_ = 1e-10;  ///< of the sum over a panel
    static constexpr double vanished_ = 1e-11;   ///< F below which nothing is left to integrate

    /// Lists the labels that may win. False if no score varies.
    [[nodiscard]] bool prepare(std::span<const double> mean, std::span<const double> variance) {
        const std::size_t n_classes = mean.size();
        double least = std::numeric_limits<double>::infinity();
        double top_fixed = -least;  // largest constant score
        sd_.resize(n_classes);
        for (std::size_t z = 0; z < n_classes; ++z) {
            sd_[z] = std::sqrt(variance[z]);
            if (sd_[z] > 0.0)
                least = std::min(least, sd_[z]);
            else
                top_fixed = std::max(top_fixed, mean[z]);
        }
        if (std::isinf(least)) return false;
        // Treat a constant score as the limit of one with a tiny deviation.
        for (double& sd : sd_) sd = sd > 0.0 ? sd : least * 1e-12;
        std::size_t first = 0;  // any winner must beat its lower end
        for (std::size_t z = 1; z < n_classes; ++z) {
            // As differences: with large means the ends themselves would be rounded.
            if (mean[z] - mean[first] > reach_ * (sd_[z] - sd_[first])) first = z;
        }
        const double origin = reach_ * sd_[first];
        n_ = 0;
        label_.resize(n_classes);
        place_.resize(n_classes);
        inverse_.resize(n_classes);
        for (std::size_t z = 0; z < n_classes; ++z) {
            // Relative to the lower end, which every kept label can reach: no digits are lost.
            const double place = (mean[z] - mean[first]) + origin;
            if (variance[z] == 0.0 && mean[z] < top_fixed) continue;
            if (!(place + reach_ * sd_[z] > 0.0)) continue;
            label_[n_] = z;
            place_[n_] = place;
            inverse_[n_] = 1.0 / sd_[z];
            sd_[n_++] = sd_[z];  // n_ <= z: not read again
        }
        return true;
    }

    void share_ties(std::span<const double> mean, std::span<double> p) const {
        const double top = *std::max_element(mean.begin(), mean.end());
        const auto ties = static_cast<double>(std::count(mean.begin(), mean.end(), top));
        for (std::size_t z = 0; z < p.size(); ++z) p[z] = mean[z] == top ? 1.0 / ties : 0.0;
    }

    void integrate() {
        hazard_.resize(n_);
        sum_.assign(n_, detail::Lanes{});
        double high = 0.0;
        for (std::size_t z = 0; z < n_; ++z) high = std::max(high, upper(z));
        double at_high = 1.0;
        double part = 1.0;                        // fraction of the width that spreads allow
        const std::size_t most = 64 * (n_ + 16);  // a row that needs more is only rounding noise
        for (std::size_t i = 0; i < most && high > 0.0 && at_high > vanished_; ++i) {
            const double wide = lower_end(high);
            const double low = part == 1.0 ? wide : high - (high - wide) * part;
            evaluate(low, high);
            const double error = std::fabs(total_ - (at_high - at_low_));
            if (error > tolerance_ && part > 0.01) {
                part *= 0.5;
                continue;
            }
            add();
            high = low;
            at_high = at_low_;
            part = std::min(1.0, 2.0 * part);
        }
    }

    /// The lower end of a panel that begins at `high`. The widths in standard deviations are
    /// empirical: for K from 3 to 200 they take the least time for errors below 5e-10.
    [[nodiscard]] double lower_end(double high) const noexcept {
        double low = 0.0;
        for (std::size_t z = 0; z < n_; ++z) {
            const double above = (high - place_[z]) * inverse_[z];
            // Far above its mean a score is constant: go down to where it begins to vary.
            const double width = std::clamp(above - 1.5, 3.5, 5.5);
            low = std::max(low, above > 12.0 ? upper(z) : high - width * sd_[z]);
        }
        return low;
    }

    /// The score of label `z` is never above this point.
    [[nodiscard]] double upper(std::size_t z) const noexcept { return place_[z] + reach_ * sd_[z]; }

    /// Hazards of all labels in the panel, the integral of their sum, and F at the lower end.
    void evaluate(double low, double high) noexcept {
        widen([=, this]() SURELEARN_INLINED {
            FourPanel t;
            FourPanel product;
            FourPanel all;
            for (std::size_t i = 0; i < fours_; ++i) {
                t[i].x = low + (high - low) * detail::panel_points[i].x;
                product[i].x = all[i].x = Four{};
                product[i].x += 1.0;
            }
            for (std::size_t z = 0; z < n_; ++z) {
                FourPanel& hazard = hazard_[z];
                if (low >= upper(z)) {
                    hazard = {};
                    continue;
                }
                const double inverse = inverse_[z];
                for (std::size_t i = 0; i < fours_; ++i) {
                    Four cdf;
                    Four each;
                    detail::quick_hazard((t[i].x - place_[z]) * inverse, cdf, each);
                    product[i].x *= cdf;
                    hazard[i].x = each * inverse;
                    all[i].x += hazard[i].x;
                }
            }
            Four total{};
            for (std::size_t i = 0; i < fours_; ++i) {
                weight_[i].x = (high - low) * detail::panel_weights[i].x * product[i].x;
                total += weight_[i].x * all[i].x;
            }
            total_ = (total[0] + total[1]) + (total[2] + total[3]);
            at_low_ = product[0].x[0];
        });
    }

    void add() noexcept {
        widen([=, this]() SURELEARN_INLINED {
            for (std::size_t z = 0; z < n_; ++z) {
                for (std::size_t i = 0; i < fours_; ++i)
                    sum_[z].x += weight_[i].x * hazard_[z][i].x;
            }
        });
    }

    void collect(std::span<double> p) const noexcept {
        double total = 0.0;
        for (std::size_t z = 0; z < n_; ++z) {
            const Four& sum = sum_[z].x;
            p[label_[z]] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            total += p[label_[z]];
        }
        for (double& each : p) each /= total;
    }

    std::size_t n_ = 0;               ///< labels that may win
    std::vector<std::size_t> label_;  ///< their numbers
    std::vector<double> place_;       ///< their means, relative to the lower end of the integral
    std::vector<double> sd_;
    std::vector<double> inverse_;     ///< 1 / sd
    std::vector<FourPanel> hazard_;   ///< of each label at each point of the panel
    std::vector<detail::Lanes> sum_;  ///< of each label over the panels so far
    FourPanel weight_;                ///< of each point, times F there
    double total_ = 0.0;
    double at_low_ = 0.0;
};

}  // namespace surelearn
