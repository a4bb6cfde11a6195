// bounds.hpp: no weight exceeds them, and updates they let pass have the bits of checked ones.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "surelearn/diagonal.hpp"
#include "test_diagonal.hpp"

namespace surelearn::tests {

namespace bounds {

constexpr std::size_t n_features = 50;

/// A random row; a bound on its values makes it fast, none makes it slow.
struct Entries {
    std::vector<std::int32_t> index;
    std::vector<float> value;
    double largest = 0.0;

    Entries(std::mt19937_64& random, bool unit) {
        for (std::int32_t j = 0; j < static_cast<std::int32_t>(n_features); ++j) {
            if (random() % 3 != 0) continue;
            index.push_back(j);
            value.push_back(unit ? 1.0F : static_cast<float>(random() % 64) / 8.0F - 3.9F);
            largest = std::max(largest, std::fabs(static_cast<double>(value.back())));
        }
    }
    [[nodiscard]] Row<std::int32_t, float> checked() const { return {index, value}; }
    [[nodiscard]] Row<std::int32_t, float> sure(bool unit) const {
        return {index, value, largest, unit};
    }
};

/// Whether no weight exceeds the bounds.
template <class T>
[[nodiscard]] bool hold(const Diagonal<T>& weights) {
    double mean = 0.0;
    double precision = 0.0;
    for (std::size_t j = 0; j < weights.shape().n_rows(); ++j) {
        for (std::size_t k = 0; k < weights.shape().n_columns; ++k) {
            mean = std::max(mean, std::fabs(weights.mean(j, k)));
            precision = std::max(precision, 1.0 / weights.sigma(j, k));
        }
    }
    return mean <= weights.bounds().mean() && precision <= weights.bounds().precision();
}

/// The same random steps with and without checks.
template <class T, std::size_t N>
void compare(Projection projection, bool unit) {
    const Shape shape{.n_features = n_features, .n_columns = N == 1 ? 1U : 5U};
    std::mt19937_64 random(11);
    Diagonal<T> sure(shape), checked(shape);
    Journal<T> journal;
    for (int i = 0; i < 200; ++i) {
        const Entries row(random, unit);
        const Step step{static_cast<double>(random() % 100) / 50.0,
                        static_cast<double>(random() % 100) / 10.0};
        const std::array<Side, N>& g = diagonal::sides<N>;
        const double v = 1e3;
        CHECK(sure.update(row.sure(unit), g, step, v, projection, journal, row.sure(unit)));
        CHECK(checked.update(row.checked(), g, step, v, projection, journal));
        CHECK(hold(sure) && sure.bounds().precision() < Bounds<T>::limit);
    }
    CHECK(bits(sure) == bits(checked));
}

template <class T>
void compare_all() {
    for (const Projection projection : {Projection::precision, Projection::covariance}) {
        for (const bool unit : {false, true}) {
            compare<T, 1>(projection, unit);
            compare<T, 2>(projection, unit);
        }
    }
}

inline void sure_updates_are_checked_updates() {
    compare_all<float>();
    compare_all<double>();
}

/// Exceeded bounds are measured anew after as many steps as the table has numbers.
inline void loose_bounds_are_measured_again() {
    const Shape shape{.n_features = n_features};
    std::mt19937_64 random(12);
    Diagonal<float> weights(shape);
    Journal<float> journal;
    const Entries row(random, true);
    const auto learn = [&](double largest) {
        auto one = row.checked();
        one.largest = largest;
        CHECK(weights.update(one, diagonal::sides<1>, {0.1, 0.1}, 1.0, Projection::precision,
                             journal));
    };
    learn(1e40);
    CHECK(!(weights.bounds().precision() < Bounds<float>::limit));
    for (std::size_t i = 0; i < 2 * shape.n_rows(); ++i) learn(1.0);
    CHECK(weights.bounds().precision() < Bounds<float>::limit && hold(weights));
    weights.forget_bounds();
    learn(1.0);
    CHECK(weights.bounds().precision() < Bounds<float>::limit && hold(weights));
}

/// Rescaling multiplies all weights.
inline void rescaled_weights_are_measured() {
    Diagonal<float> weights(Shape{.n_features = n_features, .prior = 1e-20});
    Journal<float> journal;
    std::mt19937_64 random(13);
    const Entries row(random, true);
    CHECK(weights.update(row.sure(true), diagonal::sides<1>, {1e20, 1e20}, 1.0,
                         Projection::precision, journal));
    weights.keep_in_range();
    CHECK(weights.prior() > 0.1 && hold(weights));
}

}  // namespace bounds

inline constexpr std::array bounds_tests{
    Test{"sure updates are checked updates", bounds::sure_updates_are_checked_updates},
    Test{"rescaled weights are measured", bounds::rescaled_weights_are_measured},
    Test{"loose bounds are measured again", bounds::loose_bounds_are_measured_again},
};

}  // namespace surelearn::tests
