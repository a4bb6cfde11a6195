// The temperature of a softmax that follows a stream, by Newton steps. Knows no weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/normal.hpp"
#include "surelearn/probability.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

/// The log loss of some rows as a function of t = log tau: L(t) = sum_i log sum_k exp(e^-t d_ik),
/// with d_ik the scaled score of class k less that of the row's own class. Convex in e^-t.
class TemperatureLoss {
public:
    struct At {
        double loss = 0.0;
        double slope = 0.0;      ///< L'(t)
        double curvature = 0.0;  ///< L''(t)
    };

    /// `scores` has a row for each of `places`: of all classes, or one margin, positive for the
    /// second of two.
    TemperatureLoss(std::span<const double> scores, std::span<const std::int64_t> places,
                    double factor)
        : n_(places.size()) {
        const std::size_t width = n_ == 0 ? 1 : scores.size() / n_;
        width_ = std::max<std::size_t>(1, width - 1);
        gaps_.resize((n_ + 3) / 4 * width_);
        powers_.resize(width_);
        for (std::size_t i = 0; i < n_; ++i) {
            const auto row = scores.subspan(i * width, width);
            const auto place = static_cast<std::size_t>(places[i]);
            const auto gaps = std::span<Lanes>(gaps_).subspan(i / 4 * width_, width_);
            if (width == 1) gaps[0].x[i % 4] = gap(place == 1 ? -row[0] : row[0], 0.0, factor);
            for (std::size_t k = 0, at = 0; width > 1 && k < width; ++k) {
                if (k != place) gaps[at++].x[i % 4] = gap(row[k], row[place], factor);
            }
        }
    }

    /// The second difference of L around t.
    [[nodiscard]] double curvature_near(double t) {
        constexpr double step = 0.1;
        const double around = (*this)(t + step).loss + (*this)(t - step).loss;
        return (around - 2.0 * (*this)(t).loss) / (step * step);
    }

    [[nodiscard]] At operator()(double t) {
        const double u = detail::exp(-t);
        At at;
        double first = 0.0;  // of the derivatives by u
        double second = 0.0;
        for (std::size_t i = 0; i < n_; i += 4) {
            Sums sums;
            sum({gaps_.data() + i / 4 * width_, width_}, u, powers_, sums);
            for (std::size_t lane = 0; lane < std::min<std::size_t>(4, n_ - i); ++lane) {
                const double mean = sums.mean[lane];
                at.loss += sums.most[lane] + detail::log(sums.total[lane]);
                first += mean;
                second += sums.square[lane] - mean * mean;
            }
        }
        at.slope = -u * first;
        at.curvature = u * u * second + u * first;
        return at;
    }

private:
    using Lanes = detail::Lanes;
    static constexpr double huge = 1e300;

    /// Of four rows: the largest power, the sum of exponentials less it, and the moments of gaps.
    struct Sums {
        Four most;
        Four total;
        Four mean;
        Four square;
    };

    [[nodiscard]] static double gap(double score, double own, double factor) {
        const double most = 4e307;  // a difference of two such scores is finite
        const double gap = std::clamp(score, -most, most) - std::clamp(own, -most, most);
        return std::clamp(factor * gap, -huge, huge);
    }

    static void sum(std::span<const Lanes> gaps, double u, std::span<Lanes> powers,
                    Sums& sums) noexcept {
        widen([=, &sums]() SURELEARN_INLINED {
            const Four zero{};
            Four most = zero;
            for (std::size_t k = 0; k < gaps.size(); ++k) {
                const Four scaled = u * gaps[k].x;
                const Four power = scaled < huge ? scaled : zero + huge;
                powers[k].x = power;
                most = power > most ? power : most;
            }
            Four total;
            exp_below(-most, total);
            Four mean = zero;
            Four square = zero;
            for (std::size_t k = 0; k < gaps.size(); ++k) {
                Four p;
                exp_below(powers[k].x - most, p);
                total += p;
                const Four part = p * gaps[k].x;
                mean += part;
                square += part * gaps[k].x;
            }
            sums = {most, total, mean / total, square / total};
        });
    }

    /// e^x for x <= 0; 0 from -700 on.
    [[gnu::always_inline]] static void exp_below(const Four& x, Four& result) noexcept {
        const Four zero{};
        Four near;
        detail::quick_exp(x > -700.0 ? x : zero - 700.0, near);
        result = x > -700.0 ? near : zero;
    }

    std::size_t n_;
    std::size_t width_ = 1;    ///< classes other than the own one
    std::vector<Lanes> gaps_;  ///< of four rows side by side
    std::vector<Lanes> powers_;
};

/// Minimises L(t) + (t - start)^2 precision / 2 for |t| <= log 1e4.
///
/// L falls up to one minimum and rises from there, as a convex function of e^-t, and the prior
/// rises from `start`: all minima of the sum lie between these two. They are looked for in short
/// steps, as there may be two, and each is found by Newton's method within its step.
class FollowedTemperature {
public:
    FollowedTemperature(TemperatureLoss& loss, double start, double precision)
        : loss_(loss), start_(start), precision_(precision) {}

    [[nodiscard]] double minimum() {
        double a = std::clamp(start_, -largest, largest);
        TemperatureLoss::At at = sum(a);
        double best = a;
        double least = at.loss;
        const double onwards = a != start_ ? (a < 0.0 ? 1.0 : -1.0) : (at.slope < 0.0 ? 1.0 : -1.0);
        while (prior(a) < least) {  // L is never negative
            const double b = std::clamp(a + onwards * step, -largest, largest);
            const TemperatureLoss::At next = sum(b);
            double x = b;
            double found = next.loss;
            if (onwards * at.slope < 0.0 && onwards * next.slope >= 0.0) {
                x = a - at.slope / at.curvature;
                found = descend(std::min(a, b), std::max(a, b), x);
            }
            if (found < least) {
                best = x;
                least = found;
            }
            const bool rises = onwards * (next.slope - precision_ * (b - start_)) >= 0.0;
            if (rises || std::abs(b) == largest) break;
            a = b;
            at = next;
        }
        return best;
    }

private:
    static constexpr double largest = 9.210340371976184;  ///< log 1e4
    static constexpr double step = 0.5;

    [[nodiscard]] double prior(double t) const noexcept {
        return 0.5 * precision_ * (t - start_) * (t - start_);
    }

    /// Loss and prior together.
    [[nodiscard]] TemperatureLoss::At sum(double t) {
        TemperatureLoss::At at = loss_(t);
        at.loss += prior(t);
        at.slope += precision_ * (t - start_);
        at.curvature += precision_;
        return at;
    }

    /// Moves x to where the slope is 0, between two places of which the lower one has a negative
    /// slope: by Newton's method, or to the middle where that leads outside. Returns the sum there.
    [[nodiscard]] double descend(double low, double high, double& x) {
        double least = std::numeric_limits<double>::infinity();
        double width = high - low;
        for (int i = 0; i < 100 && width > 1e-7; ++i) {
            if (!(x > low && x < high)) x = 0.5 * (low + high);
            const TemperatureLoss::At at = sum(x);
            least = std::min(least, at.loss);
            (at.slope < 0.0 ? low : high) = x;
            const double newton = x - at.slope / at.curvature;
            const bool inside = at.curvature > 0.0 && newton >= low && newton <= high;
            const double next = inside ? newton : 0.5 * (low + high);
            width = std::abs(next - x);  // the error of a step of Newton's is its square
            x = next;
        }
        return least;
    }

    TemperatureLoss& loss_;
    double start_;
    double precision_;
};

}  // namespace surelearn
