// The standard normal distribution. Knows nothing of learning.
//
// exp and log are implemented here because the C library chooses a version by processor (with or
// without fused multiply-add), which would break "same wheel, same input, same bytes".
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace surelearn {

namespace detail {

/// e^x to about one unit in the last place, from additions and multiplications only.
[[nodiscard]] inline double exp(double x) noexcept {
    if (!(x > -745.2)) return std::isnan(x) ? x : 0.0;
    if (x > 709.79) return std::numeric_limits<double>::infinity();
    constexpr double inverse_ln2 = 1.4426950408889634;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // ends in zeros: k * ln2_high is exact
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const double k = std::floor(x * inverse_ln2 + 0.5);
    const double r = (x - k * ln2_high) - k * ln2_low;  // |r| <= ln(2)/2
    constexpr std::array<double, 14> inverse_factorial{1.0,
                                                       1.0,
                                                       1.0 / 2,
                                                       1.0 / 6,
                                                       1.0 / 24,
                                                       1.0 / 120,
                                                       1.0 / 720,
                                                       1.0 / 5040,
                                                       1.0 / 40320,
                                                       1.0 / 362880,
                                                       1.0 / 3628800,
                                                       1.0 / 39916800,
                                                       1.0 / 479001600,
                                                       1.0 / 6227020800};
    double sum = 0.0;  // Taylor; the first term left out is below 5e-18
    for (std::size_t n = inverse_factorial.size(); n-- > 0;) sum = sum * r + inverse_factorial[n];
    // Two steps, since 2^k alone may be out of range where the product is not.
    const int half = static_cast<int>(k) / 2;
    return std::ldexp(std::ldexp(sum, half), static_cast<int>(k) - half);
}

/// Natural logarithm: 2 artanh((f - 1)/(f + 1)) of the fraction, plus the exponent times ln 2.
[[nodiscard]] inline double log(double x) noexcept {
    if (!(x > 0.0)) {
        return x == 0.0 ? -std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
    }
    if (std::isinf(x)) return x;
    int exponent = 0;
    double fraction = std::frexp(x, &exponent);  // [0.5, 1)
    if (fraction < 0.70710678118654752) {
        fraction *= 2.0;
        --exponent;
    }
    const double t = (fraction - 1.0) / (fraction + 1.0);  // |t| <= 0.1716
    const double t2 = t * t;
    double sum = 0.0;
    for (int n = 21; n >= 3; n -= 2) sum = (sum + 1.0 / n) * t2;
    constexpr double ln2 = 6.93147180559945309417e-01;
    return 2.0 * (t + t * sum) + exponent * ln2;
}

/// log(1 - x) for small x >= 0, to full precision.
[[nodiscard]] inline double log_of_rest(double x) noexcept {
    if (x > 0.01) return detail::log(1.0 - x);
    double sum = 1.0 / 9;
    for (int k = 8; k > 0; --k) sum = sum * x + 1.0 / k;
    return 0.0 - x * sum;
}

}  // namespace detail

/// erfcx(z) = exp(z^2) erfc(z), which neither underflows nor cancels for large z.
///
/// For z >= 0 the function (1 + 2z) erfcx(z) is smooth in t = (z - 3.75)/(z + 3.75) on [-1, 1]
/// (the variable of Shepherd & Laframboise 1981); the Chebyshev coefficients below were computed
/// with 60 digits and stop under 1e-17.
[[nodiscard]] inline double erfcx(double z) noexcept {
    constexpr std::array<double, 27> c{
        1.1775789345674017541,      -0.0045900545806464773309,  -0.084249133366517915584,
        0.059209939998191890498,    -0.026658668435305752277,   0.0090749976707052650939,
        -0.0024131635404176081909,  0.00049077583652580863229,  -0.000069169733025012063671,
        4.1390279860730101675e-6,   7.7403830661984906686e-7,   -2.1886401049234395661e-7,
        1.0764999465670910377e-8,   4.5219598112182868979e-9,   -7.7544002088313511065e-10,
        -6.3180883408866844944e-11, 2.8687950109306698981e-11,  1.945586854577734723e-13,
        -9.6546967484334389059e-13, 3.2525481481487398415e-14,  3.3478119482868053878e-14,
        -1.8645628804193131015e-15, -1.2507950530688647085e-15, 7.418235256624043463e-17,
        5.0681489047961113168e-17,  -2.2370566594359995974e-18, -2.187342944303017665e-18};
    const double a = std::fabs(z);
    if (std::isinf(a)) return z > 0.0 ? 0.0 : a;
    const double t = (a - 3.75) / (a + 3.75);
    // T_2k(t) = T_k(u) and T_2k+1(t) = t V_k(u) with u = 2 t^2 - 1, where T and V have the same
    // recurrence: two Clenshaw sums of half the length, which do not wait for each other.
    const double twice_u = 2.0 * (2.0 * t * t - 1.0);
    double even1 = c[26];
    double even2 = 0.0;
    double odd1 = 0.0;
    double odd2 = 0.0;
    for (std::size_t n = c.size() - 3; n >= 2; n -= 2) {
        const double even = twice_u * even1 + (c[n] - even2);
        const double odd = twice_u * odd1 + (c[n + 1] - odd2);
        even2 = std::exchange(even1, even);
        odd2 = std::exchange(odd1, odd);
    }
    const double even = 0.5 * twice_u * even1 + (c[0] - even2);
    const double odd = (twice_u - 1.0) * odd1 + (c[1] - odd2);
    const double positive = (even + t * odd) / (1.0 + 2.0 * a);
    return z >= 0.0 ? positive : 2.0 * detail::exp(z * z) - positive;
}

/// Phi(t), the probability that a standard normal variable is below t.
[[nodiscard]] inline double normal_cdf(double t) noexcept {
    constexpr double inverse_sqrt2 = 0.70710678118654752440;
    const double z = std::fabs(t) * inverse_sqrt2;
    const double tail = z > 40.0 ? 0.0 : 0.5 * detail::exp(-z * z) * erfcx(z);
    return t < 0.0 ? tail : 1.0 - tail;
}

/// log Phi(t), also if Phi(t) is too small for a double or too close to one.
[[nodiscard]] inline double log_normal_cdf(double t) noexcept {
    constexpr double inverse_sqrt2 = 0.70710678118654752440;
    if (t < 0.0) return detail::log(0.5 * erfcx(-t * inverse_sqrt2)) - 0.5 * t * t;
    return detail::log_of_rest(normal_cdf(-t));
}

/// A standard normal variable that is known to be above -t.
struct Truncated {
    double mean;      ///< h = pdf(t) / cdf(t)
    double lost;      ///< w = h (h + t), by how much truncation reduces the variance 1
    double variance;  ///< 1 - w
};

/// Mean and variance for every t, without cancellation in either tail.
[[nodiscard]] inline Truncated truncated_normal(double t) noexcept {
    if (t >= -3.0) {
        constexpr double sqrt_2_over_pi = 0.79788456080286535588;
        constexpr double inverse_sqrt2 = 0.70710678118654752440;
        const double h = sqrt_2_over_pi / erfcx(-t * inverse_sqrt2);
        const double w = h > 0.0 ? h * (h + t) : 0.0;  // t may be infinite if h is 0
        return {h, w, 1.0 - w};
    }
    // With s = -t Laplace's continued fraction h = s + 1/(s + 2/(s + 3/(s + ...))) gives h + t and
    // 1 - w = k (c - k) directly; the plain formulas would subtract nearly equal numbers.
    const double s = -t;
    if (s > 1e150) return {s, 1.0, 0.0};  // also where s is infinite
    double c = 0.0;
    for (int n = 120; n >= 2; --n) c = n / (s + c);
    const double k = 1.0 / (s + c);
    return {s + k, (s + k) * k, k * (c - k)};
}

/// Phi^-1(p): a rough start (Hastings 1955), then Halley steps on the lower tail.
[[nodiscard]] inline double normal_quantile(double p) noexcept {
    if (!(p >= 0.0 && p <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
    if (std::fabs(p - 0.5) < 1e-8) return 2.5066282746310002 * (p - 0.5);  // sqrt(2 pi)
    const double tail = p < 0.5 ? p : 1.0 - p;
    if (tail == 0.0) {
        const double infinity = std::numeric_limits<double>::infinity();
        return p < 0.5 ? -infinity : infinity;
    }
    const double s = std::sqrt(-2.0 * detail::log(tail));
    double t = -(s - (2.515517 + s * (0.802853 + s * 0.010328)) /
                         (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308))));
    for (int i = 0; i < 3; ++i) {
        // Error of the cdf over the density, the density taken as cdf * hazard.
        const double cdf = normal_cdf(t);
        const double e = (cdf - tail) / (cdf * truncated_normal(t).mean);
        t -= e / (1.0 + 0.5 * t * e);
    }
    return p < 0.5 ? t : -t;
}

}  // namespace surelearn
