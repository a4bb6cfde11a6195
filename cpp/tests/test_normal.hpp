// normal.hpp against the C library in long double, and against identities.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "surelearn/normal.hpp"

namespace surelearn::tests {

namespace normal {

using Wide = long double;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least = std::numeric_limits<double>::denorm_min();
/// Where long double is no wider than double the reference errs as much as what it judges.
constexpr double slack = std::numeric_limits<Wide>::digits > 53 ? 1.0 : 4.0;

inline const Wide pi = 4 * std::atan(Wide{1});
inline const Wide sqrt2 = std::sqrt(Wide{2});

/// The largest relative error over [a, b], at points that follow no grid.
template <class F, class R>
[[nodiscard]] double worst(double a, double b, F&& f, R&& reference) {
    constexpr int points = 20'000;
    constexpr double golden = 0.61803398874989485;
    double most = 0.0;
    for (int i = 0; i < points; ++i) {
        const double part = i * golden - std::floor(i * golden);
        const double x = a + (b - a) * part;
        most = std::fmax(most, relative(f(x), reference(x)) / slack);
    }
    return most;
}

/// Whether the library's erfc has the digits and the range of a wide number. That of musl on arm64
/// has those of double, as has that of macOS there: it cannot judge values far from zero.
[[nodiscard]] inline bool can_judge() { return std::erfc(Wide{30}) > 0; }

[[nodiscard]] inline Wide wide_cdf(Wide t) { return std::erfc(-t / sqrt2) / 2; }
[[nodiscard]] inline Wide wide_hazard(Wide t) {
    return std::exp(-t * t / 2) / std::sqrt(2 * pi) / wide_cdf(t);
}

/// The quantile by Newton steps from a start that is nearly right.
[[nodiscard]] inline Wide wide_quantile(Wide p, double start) {
    Wide t = start;
    for (int i = 0; i < 4; ++i) t -= (wide_cdf(t) - p) / (wide_cdf(t) * wide_hazard(t));
    return t;
}

}  // namespace normal

inline void exp_is_that_of_the_library() {
    const auto f = [](double x) { return detail::exp(x); };
    const auto reference = [](double x) { return std::exp(normal::Wide{x}); };
    CHECK_AT_MOST(normal::worst(-708.0, 709.7, f, reference), 2.3e-16);
    CHECK_AT_MOST(normal::worst(-1.0, 1.0, f, reference), 2.3e-16);
    CHECK_AT_MOST(normal::worst(-1e-9, 1e-9, f, reference), 2.3e-16);
    // Subnormal results are rounded once: half of their last place, and the error of the sum.
    for (double x = -745.0; x < -708.4; x += 0.01) {
        const double distance = std::fabs(static_cast<double>(detail::exp(x) - reference(x)));
        CHECK_AT_MOST(distance, 0.51 * normal::least + 2.3e-16 * detail::exp(x));
    }
}

inline void exp_has_the_right_limits() {
    CHECK(detail::exp(0.0) == 1.0 && detail::exp(-0.0) == 1.0);
    CHECK(detail::exp(normal::infinity) == normal::infinity);
    CHECK(detail::exp(-normal::infinity) == 0.0);
    CHECK(std::isnan(detail::exp(normal::nan)));
    CHECK(detail::exp(709.782712893384) == std::exp(709.782712893384));
    CHECK(detail::exp(709.782712893385) == normal::infinity);
    CHECK(detail::exp(-745.13) == normal::least);
    CHECK(detail::exp(-745.14) == 0.0);
    CHECK(detail::exp(normal::least) == 1.0);
    CHECK(detail::exp(1e308) == normal::infinity && detail::exp(-1e308) == 0.0);
}

inline void log_is_that_of_the_library() {
    const auto f = [](double x) { return detail::log(x); };
    const auto reference = [](double x) { return std::log(normal::Wide{x}); };
    CHECK_AT_MOST(normal::worst(0.5, 2.0, f, reference), 4.5e-16);
    CHECK_AT_MOST(normal::worst(0.999, 1.001, f, reference), 4.5e-16);
    CHECK_AT_MOST(normal::worst(
                      -1074.0, 1023.0, [&](double e) { return f(std::exp2(e)); },
                      [&](double e) { return reference(std::exp2(e)); }),
                  4.5e-16);
    CHECK(detail::log(1.0) == 0.0);
    CHECK(detail::log(0.0) == -normal::infinity && detail::log(-0.0) == -normal::infinity);
    CHECK(detail::log(normal::infinity) == normal::infinity);
    CHECK(std::isnan(detail::log(-1.0)) && std::isnan(detail::log(-normal::infinity)));
    CHECK(std::isnan(detail::log(normal::nan)));
    CHECK_AT_MOST(relative(detail::log(normal::least), reference(normal::least)), 4.5e-16);
}

inline void erfcx_is_exp_times_erfc() {
    const auto f = [](double z) { return erfcx(z); };
    const auto reference = [](double z) {
        return std::exp(normal::Wide{z} * z) * std::erfc(normal::Wide{z});
    };
    CHECK_AT_MOST(normal::worst(0.0, 1.0, f, reference), 1e-15);
    if (normal::can_judge()) {
        CHECK_AT_MOST(normal::worst(0.0, 20.0, f, reference), 1e-15);
        CHECK_AT_MOST(normal::worst(20.0, 100.0, f, reference), 1e-15);
    }
    // Below zero the rounding of z^2 shows: |z|^2 half units of the last place of exp(z^2).
    CHECK_AT_MOST(normal::worst(-1.0, 0.0, f, reference), 1.5e-15);
    CHECK_AT_MOST(normal::worst(-5.0, 0.0, f, reference), 4e-15);
    CHECK_AT_MOST(normal::worst(-26.6, 0.0, f, reference), 1e-13);
    // Far out it is 1 / (z sqrt(pi)) (1 - 1/(2 z^2) + ...).
    for (double z = 1e8; z < 1e300; z *= 10.0) {
        CHECK_AT_MOST(relative(erfcx(z), 1 / (z * std::sqrt(normal::pi))), 1e-15);
    }
    CHECK_AT_MOST(relative(erfcx(0.0), 1.0L), 5e-16);
    CHECK(erfcx(normal::infinity) == 0.0 && erfcx(-normal::infinity) == normal::infinity);
    CHECK(std::isnan(erfcx(normal::nan)));
    CHECK(erfcx(-27.0) == normal::infinity && erfcx(-1e308) == normal::infinity);
}

inline void normal_cdf_is_that_of_the_library() {
    const auto f = [](double t) { return normal_cdf(t); };
    const auto reference = [](double t) { return normal::wide_cdf(t); };
    CHECK_AT_MOST(normal::worst(-1.0, 0.0, f, reference), 1.2e-15);
    CHECK_AT_MOST(normal::worst(-5.0, 0.0, f, reference), 8e-15);
    CHECK_AT_MOST(normal::worst(-37.5, 0.0, f, reference), 4e-13);
    CHECK_AT_MOST(normal::worst(0.0, 40.0, f, reference), 1e-15);
    for (double t = -38.5; t < -37.5; t += 1e-3) {  // subnormal
        const double distance = std::fabs(static_cast<double>(normal_cdf(t) - reference(t)));
        CHECK_AT_MOST(distance, 2.0 * normal::least + 4e-13 * normal_cdf(t));
    }
    CHECK_AT_MOST(relative(normal_cdf(0.0), 0.5L), 2.3e-16);
    CHECK(normal_cdf(normal::infinity) == 1.0 && normal_cdf(-normal::infinity) == 0.0);
    CHECK(normal_cdf(1e308) == 1.0 && normal_cdf(-1e308) == 0.0);
    CHECK(std::isnan(normal_cdf(normal::nan)));
    double before = 0.0;
    for (double t = -40.0; t < 10.0; t += 1e-3) {
        CHECK(normal_cdf(t) >= before);
        before = normal_cdf(t);
        CHECK_AT_MOST(std::fabs(normal_cdf(t) + normal_cdf(-t) - 1.0), 2.3e-16);
    }
}

inline void truncated_normal_keeps_its_digits() {
    const auto mean = [](double t) { return truncated_normal(t).mean; };
    const auto lost = [](double t) { return truncated_normal(t).lost; };
    const auto variance = [](double t) { return truncated_normal(t).variance; };
    const auto h = [](double t) { return normal::wide_hazard(t); };
    const auto w = [](double t) { return normal::wide_hazard(t) * (normal::wide_hazard(t) + t); };
    const auto left = [&](double t) { return 1 - w(t); };
    CHECK_AT_MOST(normal::worst(-3.0, 3.0, mean, h), 4e-15);
    CHECK_AT_MOST(normal::worst(3.0, 37.0, mean, h), 4e-13);
    CHECK_AT_MOST(normal::worst(-3.0, 37.0, lost, w), 4e-13);
    if (normal::can_judge()) {
        CHECK_AT_MOST(normal::worst(-50.0, -3.0, mean, h), 1e-15);
        CHECK_AT_MOST(normal::worst(-8.0, -3.0, lost, w), 1e-15);
        CHECK_AT_MOST(normal::worst(-3.0, 10.0, variance, left), 1e-13);
        // The reference subtracts here; its own error is about 2e-14 at -8.
        CHECK_AT_MOST(normal::worst(-8.0, -3.0, variance, left), 4e-14);
    }
    // Laplace's continued fraction with room to spare, in long double.
    const auto fraction = [](double t) {
        normal::Wide c = 0;
        for (int n = 1500; n >= 2; --n) c = n / (c - t);
        const normal::Wide k = 1 / (c - t);
        return k * (c - k);
    };
    for (double t = -3.001; t > -50.0; t *= 1.001) {
        CHECK_AT_MOST(relative(variance(t), fraction(t)), 1e-15);
    }
    // Further out the asymptotic series: 1 - w = 1/t^2 - 6/t^4 + 50/t^6 - 518/t^8 + ...
    const auto series = [](double t) {
        const normal::Wide u = 1 / (normal::Wide{t} * t);
        return u * (1 - u * (6 - u * (50 - u * 518)));
    };
    CHECK_AT_MOST(normal::worst(-1e4, -1e3, variance, series), 1e-15);
    for (double t = -1e5; t > -1e150; t *= 10.0) {
        CHECK_AT_MOST(relative(variance(t), series(t)), 1e-15);
        CHECK_AT_MOST(std::fabs(lost(t) + variance(t) - 1.0), 2.3e-16);
    }
}

inline void truncated_normal_joins_its_two_halves() {
    const Truncated above = truncated_normal(-3.0);
    const Truncated below = truncated_normal(std::nextafter(-3.0, -4.0));
    CHECK_AT_MOST(relative(above.mean, below.mean), 4e-15);
    CHECK_AT_MOST(relative(above.lost, below.lost), 1e-14);
    CHECK_AT_MOST(relative(above.variance, below.variance), 1e-13);
    for (double t = -200.0; t < 200.0; t += 0.01) {
        const Truncated z = truncated_normal(t);
        CHECK(z.mean >= 0.0 && z.lost >= 0.0 && z.lost <= 1.0);
        CHECK(z.variance >= 0.0 && z.variance <= 1.0);
        CHECK_AT_MOST(std::fabs(z.lost + z.variance - 1.0), 1e-15);
    }
    CHECK(truncated_normal(1e308).mean == 0.0 && truncated_normal(1e308).variance == 1.0);
    CHECK(truncated_normal(-1e308).mean == 1e308 && truncated_normal(-1e308).variance == 0.0);
    CHECK_AT_MOST(std::fabs(truncated_normal(-1e308).lost - 1.0), 1e-15);  // 1e-308 is subnormal
    CHECK(std::isnan(truncated_normal(normal::nan).mean));
}

inline void normal_quantile_undoes_the_cdf() {
    const auto f = [](double p) { return normal_quantile(p); };
    const auto reference = [](double p) { return normal::wide_quantile(p, normal_quantile(p)); };
    CHECK_AT_MOST(normal::worst(1e-9, 0.4, f, reference), 4e-15);
    CHECK_AT_MOST(normal::worst(
                      -1022.0, -2.0, [&](double e) { return f(std::exp2(e)); },
                      [&](double e) { return reference(std::exp2(e)); }),
                  1e-15);
    // Near one half the answer is near zero, and good to an absolute 1e-15.
    for (double p = 0.4; p < 0.6; p += 1e-4) {
        CHECK_AT_MOST(std::fabs(static_cast<double>(f(p) - reference(p))), 2e-15);
        CHECK_AT_MOST(std::fabs(normal_cdf(f(p)) - p), 4e-16);
    }
    for (double e = 1.0; e <= 53.0; ++e) {
        CHECK(normal_quantile(1.0 - std::exp2(-e)) == -normal_quantile(std::exp2(-e)));
    }
}

inline void normal_quantile_has_the_right_limits() {
    CHECK(normal_quantile(0.0) == -normal::infinity && normal_quantile(1.0) == normal::infinity);
    CHECK(normal_quantile(0.5) == 0.0 && !std::signbit(normal_quantile(0.5)));
    for (const double p : {-normal::least, std::nextafter(1.0, 2.0), -1.0, 2.0, normal::infinity,
                           -normal::infinity, normal::nan}) {
        CHECK(std::isnan(normal_quantile(p)));
    }
    // The cdf has few digits where it is subnormal, so its inverse has too.
    CHECK_AT_MOST(std::fabs(normal_quantile(normal::least) + 38.4674), 1e-3);
    CHECK_AT_MOST(std::fabs(normal_quantile(1e-310) + 37.663060331949524), 1e-12);
    double p = 0.5;  // what eta asks for is never negative
    for (int i = 0; i < 10'000; ++i) {
        p = std::nextafter(p, 1.0);
        CHECK(normal_quantile(p) >= 0.0);
    }
}

inline constexpr std::array normal_tests{
    Test{"exp is that of the library", exp_is_that_of_the_library},
    Test{"exp has the right limits", exp_has_the_right_limits},
    Test{"log is that of the library", log_is_that_of_the_library},
    Test{"erfcx is exp times erfc", erfcx_is_exp_times_erfc},
    Test{"normal_cdf is that of the library", normal_cdf_is_that_of_the_library},
    Test{"truncated_normal keeps its digits", truncated_normal_keeps_its_digits},
    Test{"truncated_normal joins its two halves", truncated_normal_joins_its_two_halves},
    Test{"normal_quantile undoes the cdf", normal_quantile_undoes_the_cdf},
    Test{"normal_quantile has the right limits", normal_quantile_has_the_right_limits},
};

}  // namespace surelearn::tests
