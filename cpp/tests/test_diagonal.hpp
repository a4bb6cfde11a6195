// diagonal.hpp: updates happen whole or not at all, and changes of form lose nothing.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/types.hpp"

namespace surelearn::tests {

/// Every bit of the weights, wherever their columns lie.
template <class T>
[[nodiscard]] std::vector<unsigned char> bits(const Diagonal<T>& weights) {
    std::vector<unsigned char> all;
    std::vector<T> run(weights.shape().stride());
    for (std::size_t j = 0; j < weights.shape().n_rows(); ++j) {
        weights.copy_run(j, run.data());
        append_bytes(all, run.data(), run.size());
    }
    const double prior = weights.prior();
    append_bytes(all, &prior, 1);
    const std::uint64_t rounds = weights.rounds();
    append_bytes(all, &rounds, 1);
    return all;
}

namespace diagonal {

/// A row that owns its entries.
struct Entries {
    std::vector<std::int32_t> index;
    std::vector<double> value;

    [[nodiscard]] Row<std::int32_t, double> row() const { return {index, value}; }
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <std::size_t N>
constexpr std::array<Side, N> sides = {};
template <>
inline constexpr std::array<Side, 1> sides<1>{{{0, -1.0}}};
template <>
inline constexpr std::array<Side, 2> sides<2>{{{2, 1.0}, {0, -1.0}}};

/// Some numbers without pattern, so that a cell put back in a wrong place shows.
template <class T>
[[nodiscard]] Diagonal<T> worn(const Shape& shape) {
    Diagonal<T> weights(shape);
    double u = 0.5;
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        for (std::size_t k = 0; k < shape.stride(); ++k) {
            u = std::fmod(u * 997.0 + 0.123, 1.0);
            const bool variance = shape.second_order && k / shape.n_columns == 1;
            weights.cell(j)[k] = static_cast<T>(variance ? 0.01 + u : u - 0.5);
        }
    }
    weights.set_rounds(3);
    return weights;
}

template <std::size_t N, class T>
[[nodiscard]] double variance(const Diagonal<T>& weights, const Entries& x) {
    std::vector<double> v(weights.shape().n_columns);
    weights.variances(x.row(), v);
    double sum = 0.0;
    for (const Side& side : sides<N>) sum += v[side.column];
    return sum;
}

template <std::size_t N, class T>
[[nodiscard]] bool update(Diagonal<T>& weights, const Entries& x, const Step& step,
                          Projection projection) {
    Journal<T> journal;
    const double v = variance<N>(weights, x);
    return weights.update(x.row(), sides<N>, step, v, projection, journal);
}

template <std::size_t N, class T>
void check_refused(Diagonal<T>& weights, const Entries& x, const Step& step,
                   Projection projection) {
    const auto before = bits(weights);
    const bool learnt = update<N>(weights, x, step, projection);
    CHECK(!learnt);
    CHECK(bits(weights) == before);
}

template <class T>
constexpr double huge = 0.25 * std::numeric_limits<T>::max();

/// Where entry p of the row finds its feature's mean without room to grow.
template <std::size_t N, class T>
void check_overflow(const Shape& shape, const Entries& x, std::size_t p, Projection projection) {
    auto weights = worn<T>(shape);
    const Side& side = sides<N>[N - 1];
    T* const cell = weights.cell(static_cast<std::size_t>(x.index[p]));
    cell[side.column] = static_cast<T>(std::copysign(3.9 * huge<T>, side.sign * x.value[p]));
    cell[shape.n_columns + side.column] = T{1};
    check_refused<N>(weights, x, {huge<T> / std::fabs(x.value[p]), 0.1}, projection);
}

/// Where every variance is the least there is and entry p alone is large enough to move its own.
template <std::size_t N, class T>
void check_underflow(const Shape& shape, Entries x, std::size_t p, Projection projection) {
    auto weights = worn<T>(shape);
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        for (const Side& side : sides<N>) {
            weights.cell(j)[shape.n_columns + side.column] = std::numeric_limits<T>::denorm_min();
        }
    }
    x.value[p] = sizeof(T) == 4 ? 1e22 : 1e150;
    const double gain = sizeof(T) == 4 ? 1e20 : 1e300;
    check_refused<N>(weights, x, {0.1, gain}, projection);
    CHECK(update<N>(weights, x, {0.1, 0.0}, projection));
}

template <std::size_t N, class T>
void check_refusals(Projection projection, bool averaged, bool intercept) {
    const Shape shape{
        .n_features = 6, .n_columns = 2 * N - 1, .intercept = intercept, .averaged = averaged};
    const Entries x{{0, 2, 3, 4, 5}, {0.5, -2.0, 1.0, -0.25, 3.0}};
    for (std::size_t p = 0; p < x.index.size(); ++p) {
        check_overflow<N, T>(shape, x, p, projection);
        check_underflow<N, T>(shape, x, p, projection);
    }
    auto weights = worn<T>(shape);
    for (const Step& step : {Step{infinity, 0.0}, Step{nan, 1.0}, Step{1.0, infinity},
                             Step{1.0, nan}, Step{infinity, infinity}}) {
        check_refused<N>(weights, x, step, projection);
    }
    CHECK(update<N>(weights, x, {0.5, 0.5}, projection));
}

template <std::size_t N, class T>
void check_refusals_of_means() {
    const Shape shape{.n_features = 6, .n_columns = 2 * N - 1, .second_order = false};
    const Entries x{{0, 2, 5}, {0.5, -2.0, 4.0}};
    auto weights = worn<T>(shape);
    for (const double alpha : {1.01 * huge<T>, 3.9 * huge<T>, infinity, nan}) {
        check_refused<N>(weights, x, {alpha, 0.0}, Projection::precision);
    }
    CHECK(update<N>(weights, x, {0.9 * huge<T>, 0.0}, Projection::precision));
}

/// The update as the comment of `update` states it, in long double.
template <std::size_t N, class T>
void check_formula(Projection projection) {
    const Shape shape{.n_features = 6, .n_columns = 2 * N - 1};
    const Entries x{{0, 1, 2, 4, 5}, {0.5, -2.0, 1.0, 3.0, 0.125}};
    const Step step{0.75, 1.25};
    const auto old = worn<T>(shape);
    auto weights = worn<T>(shape);
    const long double v = variance<N>(old, x);
    CHECK(update<N>(weights, x, step, projection));
    const auto check_cell = [&](std::size_t j, double g, double sign, std::size_t k) {
        const long double s = old.sigma(j, k);
        const long double a = s * g * g;
        const long double beta = step.gain / (1 + step.gain * v);
        const long double sigma =
            projection == Projection::precision ? s / (1 + step.gain * a) : s * (1 - beta * a);
        const double within = 8.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
        CHECK_AT_MOST(relative(weights.sigma(j, k), sigma), within);
        CHECK_AT_MOST(relative(weights.cell(j)[k], old.cell(j)[k] + step.alpha * sign * s * g),
                      within);
    };
    for (const Side& side : sides<N>) {
        for (std::size_t p = 0; p < x.index.size(); ++p) {
            check_cell(static_cast<std::size_t>(x.index[p]), x.value[p], side.sign, side.column);
        }
        check_cell(shape.n_features, 1.0, side.sign, side.column);
    }
    for (std::size_t k = 0; k < shape.stride(); ++k) CHECK(weights.cell(3)[k] == old.cell(3)[k]);
    if (N == 2) CHECK(weights.cell(0)[1] == old.cell(0)[1]);  // a column of neither side
}

template <class T>
void check_both(Projection projection) {
    for (const bool averaged : {false, true}) {
        for (const bool intercept : {false, true}) {
            check_refusals<1, T>(projection, averaged, intercept);
            check_refusals<2, T>(projection, averaged, intercept);
        }
    }
    check_formula<1, T>(projection);
    check_formula<2, T>(projection);
}

}  // namespace diagonal

inline void refused_updates_leave_every_bit() {
    for (const Projection projection : {Projection::precision, Projection::covariance}) {
        diagonal::check_both<float>(projection);
        diagonal::check_both<double>(projection);
    }
    diagonal::check_refusals_of_means<1, float>();
    diagonal::check_refusals_of_means<2, float>();
    diagonal::check_refusals_of_means<1, double>();
    diagonal::check_refusals_of_means<2, double>();
    // A mean that fits, ten rounds late: its sum for the average does not.
    Diagonal<float> late(
        Shape{.n_features = 1, .intercept = false, .second_order = false, .averaged = true});
    late.set_rounds(10);
    const diagonal::Entries x{{0}, {1e38}};
    diagonal::check_refused<1>(late, x, {1.0, 0.0}, Projection::precision);
}

namespace diagonal {

/// Is a weight of mean 0 and the given variance still sound after a step of x?
template <class T>
[[nodiscard]] bool survives(T variance, double x, const Step& step) {
    Diagonal<T> weights(Shape{.n_features = 1, .intercept = false});
    weights.cell(0)[1] = variance;
    const Entries row{{0}, {x}};
    const bool learnt = update<1>(weights, row, step, Projection::precision);
    CHECK(learnt == (weights.cell(0)[0] != T{0} || weights.cell(0)[1] != variance));
    return learnt;
}

/// What is refused begins exactly where the storage type has no number left.
template <class T>
void check_limits(double least_infinite) {
    const double below = std::nextafter(least_infinite, 0.0);
    CHECK(survives<T>(1, 1.0, {below, 0.0}) && survives<T>(1, -1.0, {below, 0.0}));
    CHECK(!survives<T>(1, 1.0, {least_infinite, 0.0}));
    CHECK(!survives<T>(1, -1.0, {least_infinite, 0.0}));
    // Half the least variance rounds to zero, anything more to the least.
    constexpr T least = std::numeric_limits<T>::denorm_min();
    constexpr double x = 0x1p60;
    const double gain = 1.0 / (least * (x * x));
    CHECK(!survives<T>(least, x, {1.0, gain}));
    CHECK(survives<T>(least, x, {1.0, 0.75 * gain}));
}

}  // namespace diagonal

inline void updates_are_refused_no_sooner_than_needed() {
    diagonal::check_limits<float>(0x1.ffffffp127);
    diagonal::check_limits<double>(std::numeric_limits<double>::infinity());
}

namespace diagonal {

template <std::size_t N, class T>
void check_average(bool second_order) {
    const Shape shape{
        .n_features = 4, .n_columns = 2 * N - 1, .second_order = second_order, .averaged = true};
    Diagonal<T> weights(shape);
    std::vector<long double> sum(shape.n_rows() * shape.n_columns, 0.0L);
    double u = 0.3;
    constexpr int rounds = 200;
    for (int round = 0; round < rounds; ++round) {
        Entries x;
        for (std::int32_t j = round % 3; j < 4; j += 1 + round % 2) {
            u = std::fmod(u * 881.0 + 0.37, 1.0);
            x.index.push_back(j);
            x.value.push_back(u - 0.4);
        }
        if (round % 5 != 0) {  // a round without an update counts too
            CHECK(update<N>(weights, x, {round % 2 == 0 ? u : -u, 0.01}, Projection::precision));
        }
        weights.end_round();
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t k = 0; k < shape.n_columns; ++k) {
                sum[j * shape.n_columns + k] += weights.cell(j)[k];
            }
        }
    }
    const double within = 20.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        for (std::size_t k = 0; k < shape.n_columns; ++k) {
            // The vector before the first round, zero, is one of the rounds + 1.
            const long double naive = sum[j * shape.n_columns + k] / (rounds + 1);
            CHECK_AT_MOST(std::fabs(static_cast<double>(weights.mean(j, k) - naive)), within);
        }
    }
}

}  // namespace diagonal

inline void averages_are_those_of_a_naive_sum() {
    for (const bool second_order : {false, true}) {
        diagonal::check_average<1, float>(second_order);
        diagonal::check_average<2, float>(second_order);
        diagonal::check_average<1, double>(second_order);
        diagonal::check_average<2, double>(second_order);
    }
}

inline constexpr std::array diagonal_tests{
    Test{"refused updates leave every bit", refused_updates_leave_every_bit},
    Test{"updates are refused no sooner than needed", updates_are_refused_no_sooner_than_needed},
    Test{"averages are those of a naive sum", averages_are_those_of_a_naive_sum},
};

}  // namespace surelearn::tests
