// One weight: the update of its mean, its variance and its sum for averaging. All
// kinds of weights use these functions. Knows neither rows nor storage.
//
// N numbers are computed together (simd.hpp), each with the bits it would get alone. T is the
// storage type.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// mu += alpha sigma x.
template <std::size_t N = 1>
[[gnu::always_inline]] inline void move_mean(Numbers<N>& mu, const Numbers<N>& alpha,
                                             const Numbers<N>& sigma,
                                             const Numbers<N>& x) noexcept {
    mu += alpha * sigma * x;
}

/// sigma^-1 += gain g g' without what the projection on the precision drops; a = sigma x^2.
template <std::size_t N = 1>
[[gnu::always_inline]] inline void shrink_precision(Numbers<N>& sigma, const Numbers<N>& a,
                                                    const Numbers<N>& gain) noexcept {
    sigma = sigma / (1.0 + gain * a);
}

/// The same for the projection on the covariance: sigma (1 - beta a) with beta as below and v the
/// variance of g. This form cannot cancel to zero (v >= a also holds in floating point) and cannot
/// round above sigma.
template <std::size_t N = 1>
[[gnu::always_inline]] inline void shrink_covariance(Numbers<N>& sigma, const Numbers<N>& a,
                                                     const Numbers<N>& gain,
                                                     const Numbers<N>& v) noexcept {
    sigma = sigma * ((1.0 + gain * (v - a)) / (1.0 + gain * v));
}

/// The effect of one step on each variance it touches, with the precision projection.
struct PrecisionShrink {
    double gain;

    [[gnu::always_inline]] void operator()(double& sigma, double a) const noexcept {
        shrink_precision(sigma, a, gain);
    }
    [[gnu::always_inline]] void operator()(DoublePair& sigma, const DoublePair& a) const noexcept {
        shrink_precision<2>(sigma, a, DoublePair{gain, gain});
    }
    [[gnu::always_inline]] void operator()(Four& sigma, const Four& a) const noexcept {
        shrink_precision<4>(sigma, a, Four{gain, gain, gain, gain});
    }
};

/// The same with the covariance projection.
struct CovarianceShrink {
    double gain;
    double v;

    [[gnu::always_inline]] void operator()(double& sigma, double a) const noexcept {
        shrink_covariance(sigma, a, gain, v);
    }
    [[gnu::always_inline]] void operator()(DoublePair& sigma, const DoublePair& a) const noexcept {
        shrink_covariance<2>(sigma, a, DoublePair{gain, gain}, DoublePair{v, v});
    }
    [[gnu::always_inline]] void operator()(Four& sigma, const Four& a) const noexcept {
        shrink_covariance<4>(sigma, a, Four{gain, gain, gain, gain}, Four{v, v, v, v});
    }
};

/// f(shrink) with the shrink of a projection.
template <class F>
[[gnu::always_inline]] inline decltype(auto) with_shrink(Projection projection, double gain,
                                                         double v, const F& f) {
    if (projection == Projection::precision) return f(PrecisionShrink{gain});
    return f(CovarianceShrink{gain, v});
}

/// Either of the two, chosen per lane by a mask with all or no bits set. One division serves lanes
/// of both projections.
struct MaskedShrink {
    std::uint64_t covariance;
    double gain;
    double v;

    [[gnu::always_inline]] void operator()(double& sigma, double a) const noexcept {
        const double above = chosen(covariance, 1.0 + gain * (v - a), sigma);
        const double below = 1.0 + gain * chosen(covariance, v, a);
        const double share = above / below;
        sigma = chosen(covariance, sigma * share, share);
    }
};

/// The covariance step that equals the precision step `gain`: sigma -= beta sigma g g' sigma.
[[nodiscard]] inline double beta_of(double gain, double v) noexcept {
    return gain / (1.0 + gain * v);
}

/// The relative growth of a weight's precision, in either projection.
[[nodiscard]] inline double precision_growth(Projection projection, double gain, double v,
                                             double a) noexcept {
    const double rest = projection == Projection::precision ? 0.0 : v - a;
    return gain * a / (1.0 + gain * rest);
}

/// Freund & Schapire 1999, cheap form: q += c (change of mu), c = 1 in the first round. The change
/// is that of the stored, rounded mean.
template <class T>
[[gnu::always_inline]] inline double average_after(T q, double c, T mu, double old) noexcept {
    return q + c * (static_cast<double>(mu) - old);
}

/// The mean of all means so far.
template <class T>
[[gnu::always_inline]] inline double average_of(T mu, T q, double c) noexcept {
    return mu - q / c;
}

/// In T, a double up to the first bound becomes zero, and one from the second bound on infinite.
template <class T>
inline constexpr double least_kept = sizeof(T) == 4 ? 0x1p-150 : 0.0;
template <class T>
inline constexpr double least_lost =
    sizeof(T) == 4 ? 0x1.ffffffp127 : std::numeric_limits<double>::infinity();

/// Clears the bits of `sound` where a mean, or a sum of them, is not finite after rounding to T.
template <class T, std::size_t N = 1>
[[gnu::always_inline]] inline void check_mean(const Numbers<N>& mu, Mask<N>& sound) noexcept {
    if constexpr (N == 1) {
        sound &= std::fabs(mu) < least_lost<T>;
    } else {  // there is no fabs for vector types
        sound &= (mu < least_lost<T>)&(mu > -least_lost<T>);
    }
}

/// The same where a variance is not positive.
template <class T, std::size_t N = 1>
[[gnu::always_inline]] inline void check_variance(const Numbers<N>& sigma,
                                                  Mask<N>& sound) noexcept {
    sound &= sigma > least_kept<T>;
}

}  // namespace surelearn
