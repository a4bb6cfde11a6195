// gaussian.hpp: several numbers at once move as one alone, and what is kept once rounded.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "check.hpp"
#include "surelearn/gaussian.hpp"

namespace surelearn::tests {

namespace gaussian {

struct Case {
    double mu, sigma, x, alpha, gain, rest;
};

/// Sizes that differ much, so that an order of operations that is another one shows.
inline constexpr std::array cases = {
    Case{0.1, 0.3, 0.7, 1.1, 0.9, 0.2},     Case{-3.0, 1e-9, 2.5e3, -0.3, 7.0, 1e-3},
    Case{1e8, 2.0, -1e-7, 0.77, 1e12, 0.0}, Case{0.0, 1e-200, 3.0, 1e90, 1e-30, 5.0},
    Case{-0.0, 0.6, 0.1, -0.0, 0.0, 1e30},
};

/// Of one case and the next ones, N of them.
template <std::size_t N>
void take(std::size_t first, double Case::* which, Numbers<N>& all) {
    for (std::size_t i = 0; i < N; ++i) {
        all[i] = cases[(first + i) % cases.size()].*which;
    }
}

template <std::size_t N>
void check_lanes(std::size_t first) {
    using V = Numbers<N>;
    V mu{}, s{}, x{}, alpha{}, gain{}, rest{};
    take<N>(first, &Case::mu, mu);
    take<N>(first, &Case::sigma, s);
    take<N>(first, &Case::x, x);
    take<N>(first, &Case::alpha, alpha);
    take<N>(first, &Case::gain, gain);
    take<N>(first, &Case::rest, rest);
    const V a = s * (x * x), v = a + rest;
    V precision = s, covariance = s;
    move_mean<N>(mu, alpha, s, x);
    shrink_precision<N>(precision, a, gain);
    shrink_covariance<N>(covariance, a, gain, v);
    for (std::size_t i = 0; i < N; ++i) {
        const Case& c = cases[(first + i) % cases.size()];
        double m = c.mu, p = c.sigma, q = c.sigma;
        move_mean(m, c.alpha, c.sigma, c.x);
        with_shrink(Projection::precision, c.gain, v[i], [&](auto f) { f(p, a[i]); });
        with_shrink(Projection::covariance, c.gain, v[i], [&](auto f) { f(q, a[i]); });
        CHECK(mu[i] == m && std::signbit(mu[i]) == std::signbit(m));
        CHECK(precision[i] == p && covariance[i] == q);
    }
}

template <class T>
void check_kept() {
    const double most = std::numeric_limits<T>::max();
    const double least = std::numeric_limits<T>::denorm_min();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double mu : {0.0, 1.0, most, std::nextafter(most, 1e308) * (1 + 1e-9), 1e308, nan,
                            least_lost<T>, std::nextafter(least_lost<T>, 0.0)}) {
        for (const double sign : {1.0, -1.0}) {
            bool sound = true;
            check_mean<T>(sign * mu, sound);
            CHECK(sound == std::isfinite(static_cast<T>(sign * mu)));
        }
    }
    for (const double sigma : {0.0, -1.0, least, 0.5 * least, std::nextafter(0.5 * least, 1.0), nan,
                               1.0, 0.75 * least}) {
        bool sound = true;
        check_variance<T>(sigma, sound);
        CHECK(sound == (static_cast<T>(sigma) > T{0}));
    }
}

}  // namespace gaussian

inline void numbers_together_move_as_one_alone() {
    for (std::size_t first = 0; first < gaussian::cases.size(); ++first) {
        gaussian::check_lanes<2>(first);
        gaussian::check_lanes<4>(first);
    }
}

inline void a_mask_chooses_between_projections() {
    for (const auto& c : gaussian::cases) {
        const double a = c.sigma * (c.x * c.x), v = a + c.rest;
        for (const auto projection : {Projection::precision, Projection::covariance}) {
            const bool covariance = projection == Projection::covariance;
            double one = c.sigma, other = c.sigma;
            MaskedShrink{covariance ? ~std::uint64_t{0} : 0, c.gain, v}(one, a);
            with_shrink(projection, c.gain, v, [&](auto shrink) { shrink(other, a); });
            CHECK(one == other && one > 0.0 && one <= c.sigma);
        }
    }
}

/// sigma' = sigma / (1 + growth) in both projections.
inline void a_shrunk_variance_is_a_grown_precision() {
    for (const auto& c : gaussian::cases) {
        const double a = c.sigma * (c.x * c.x), v = a + c.rest;
        for (const auto projection : {Projection::precision, Projection::covariance}) {
            double sigma = c.sigma;
            with_shrink(projection, c.gain, v, [&](auto shrink) { shrink(sigma, a); });
            const double growth = precision_growth(projection, c.gain, v, a);
            CHECK_AT_MOST(std::fabs(sigma * (1.0 + growth) / c.sigma - 1.0), 1e-12);
        }
    }
}

/// The sum behind the average: three means, each for a round.
inline void the_average_is_that_of_all_rounds() {
    const std::array<float, 3> mu{0.5F, -0.25F, 2.0F};
    float q = 0.0F, before = 0.0F;
    double sum = 0.0;
    for (std::size_t i = 0; i < mu.size(); ++i) {
        q = static_cast<float>(average_after(q, static_cast<double>(i + 1), mu[i], before));
        before = mu[i];
        sum += mu[i];
    }
    // The first round begins with zero, whose mean counts as well.
    CHECK(average_of(before, q, 4.0) == sum / 4.0);
}

inline void what_is_kept_once_rounded() {
    gaussian::check_kept<float>();
    gaussian::check_kept<double>();
}

inline constexpr std::array gaussian_tests = {
    Test{"numbers together move as one alone", numbers_together_move_as_one_alone},
    Test{"a mask chooses between projections", a_mask_chooses_between_projections},
    Test{"a shrunk variance is a grown precision", a_shrunk_variance_is_a_grown_precision},
    Test{"the average is that of all rounds", the_average_is_that_of_all_rounds},
    Test{"what is kept once rounded", what_is_kept_once_rounded},
};

}  // namespace surelearn::tests
