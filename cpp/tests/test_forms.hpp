// diagonal.hpp: other columns, other scale, and what counts as untouched.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "surelearn/diagonal.hpp"
#include "test_diagonal.hpp"

namespace surelearn::tests {

namespace forms {

using diagonal::Entries;

inline const Entries sample{{0, 1, 3, 4, 6}, {0.5, -2.0, 1.0, 3.0, 0.125}};

template <class T>
void check_split(bool second_order, bool averaged) {
    const Shape shape{
        .n_features = 7, .second_order = second_order, .averaged = averaged, .prior = 0.3};
    auto one = diagonal::worn<T>(shape);
    const Diagonal<T> fresh(shape);
    std::copy_n(fresh.cell(2), shape.stride(), one.cell(2));
    const Diagonal<T> two = one.split();
    CHECK(two.shape().n_columns == 2 && two.rounds() == one.rounds());
    CHECK(two.prior() == (second_order ? 0.15 : 0.3));
    CHECK(one.untouched(2) && two.untouched(2) && !two.untouched(1));
    std::array<double, 1> s{}, v{};
    std::array<double, 2> s2{}, v2{};
    const auto row = sample.row();
    one.scores(row, s);
    two.scores(row, s2);
    CHECK(s2[1] - s2[0] == s[0]);
    one.averaged_scores(row, s);
    two.averaged_scores(row, s2);
    if (averaged) CHECK(s2[1] - s2[0] == s[0]);
    one.variances(row, v);
    two.variances(row, v2);
    // Without variances sigma is the identity, for two blocks as for one.
    CHECK(v2[0] + v2[1] == (second_order ? 1.0 : 2.0) * v[0]);
}

template <class T>
void check_columns(bool second_order, bool averaged) {
    const Shape shape{.n_features = 7,
                      .n_columns = 3,
                      .second_order = second_order,
                      .averaged = averaged,
                      .prior = 0.3};
    const auto old = diagonal::worn<T>(shape);
    const std::array<std::int64_t, 5> from{2, -1, 0, 1, -1};
    const auto wide = old.with_columns(from);
    CHECK(wide.shape().n_columns == 5 && wide.rounds() == old.rounds());
    const Diagonal<T> fresh(wide.shape());
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        for (std::size_t part = 0; part < shape.parts(); ++part) {
            for (std::size_t k = 0; k < from.size(); ++k) {
                const T want =
                    from[k] < 0 ? fresh.cell(j)[part * 5 + k] : (old.cell(j) + from[k])[part * 3];
                CHECK(wide.cell(j)[part * 5 + k] == want);
            }
        }
    }
    const std::array<std::int64_t, 3> back{2, 3, 0};
    CHECK(bits(wide.with_columns(back)) == bits(old));
}

template <class T>
constexpr double out_of_range = sizeof(T) == 4 ? 1e-16 : 1e-101;

/// Weights whose variances have all fallen below the safe range but those of the last feature.
template <class T>
[[nodiscard]] Diagonal<T> shrunk(std::size_t n_columns, bool averaged) {
    const double least = out_of_range<T>;
    const Shape shape{.n_features = 7,
                      .n_columns = n_columns,
                      .intercept = false,
                      .averaged = averaged,
                      .prior = 0.9 * least};
    Diagonal<T> weights = diagonal::worn<T>(shape);
    const Diagonal<T> fresh(shape);
    for (std::size_t j = 0; j < 7; ++j) {
        for (std::size_t k = 0; k < shape.stride(); ++k) {
            T& x = weights.cell(j)[k];
            const bool variance = k / n_columns == 1;
            x = static_cast<T>(x * (variance ? 0.5 * least : std::sqrt(least)));
        }
    }
    std::copy_n(fresh.cell(2), shape.stride(), weights.cell(2));  // an untouched one
    return weights;
}

template <class T>
void check_rescale(std::size_t n_columns, bool averaged) {
    auto weights = shrunk<T>(n_columns, averaged);
    weights.cell(6)[2 * n_columns - 1] = T{1};
    const auto before = bits(weights);
    weights.keep_in_range();
    CHECK(bits(weights) == before);  // one variance is still in range

    weights.cell(6)[2 * n_columns - 1] = static_cast<T>(out_of_range<T> / 7);
    const auto old = weights.with_columns(std::vector<std::int64_t>{n_columns == 1 ? 0 : 2});
    std::vector<double> s(n_columns), v(n_columns), s_after(n_columns), v_after(n_columns);
    weights.scores(sample.row(), s);
    weights.variances(sample.row(), v);
    const double prior = weights.prior();
    weights.keep_in_range();
    weights.scores(sample.row(), s_after);
    weights.variances(sample.row(), v_after);
    int power = 0;
    CHECK(std::frexp(weights.prior() / prior, &power) == 0.5 && power % 2 == 1);
    const double c = std::ldexp(1.0, (power - 1) / 2);
    CHECK(c > 1.0 && weights.untouched(2));
    for (std::size_t k = 0; k < n_columns; ++k) {
        CHECK(s_after[k] == c * s[k] && v_after[k] == c * c * v[k]);
        CHECK(s_after[k] / std::sqrt(v_after[k]) == s[k] / std::sqrt(v[k]));
    }
    const std::size_t last = n_columns == 1 ? 0 : 2;
    CHECK(weights.mean(4, last) == c * old.mean(4, 0));
    double largest = 0.0;
    for (std::size_t j = 0; j < 7; ++j) {
        for (std::size_t k = 0; k < n_columns; ++k) {
            largest = std::max<double>(largest, weights.sigma(j, k));
        }
    }
    CHECK(largest >= 0.25 && largest < 4.0);
    const auto settled = bits(weights);
    weights.keep_in_range();
    CHECK(bits(weights) == settled);
}

/// Means that would leave the range are a reason to leave all as it is.
template <class T>
void check_no_room() {
    auto weights = shrunk<T>(1, false);
    weights.cell(3)[0] = std::numeric_limits<T>::max() / T{2};
    const auto before = bits(weights);
    weights.keep_in_range();
    CHECK(bits(weights) == before);
}

/// However often the scale was changed, the prior is a number that the storage type can hold.
template <class T>
void check_prior_stays_finite() {
    Diagonal<T> weights(Shape{.n_features = 2, .intercept = false});
    for (int i = 0; i < 100; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            weights.cell(j)[1] *= static_cast<T>(out_of_range<T>);
        }
        weights.keep_in_range();
    }
    CHECK(std::isfinite(static_cast<T>(weights.prior())));
    const auto wide = weights.split().with_columns(std::vector<std::int64_t>{0, 1, -1});
    CHECK(std::isfinite(wide.sigma(0, 2)) && wide.sigma(0, 2) >= wide.sigma(0, 1));
}

/// A column whose class is not known yet holds nothing back and stays at the prior.
template <class T>
void check_unknown_column() {
    const Shape shape{.n_features = 4, .n_columns = 3};
    Diagonal<T> weights(shape);
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        for (const std::size_t k : {0U, 2U}) {
            weights.cell(j)[k] = T{1};
            weights.cell(j)[3 + k] = static_cast<T>(out_of_range<T>);
        }
    }
    const auto before = bits(weights);
    weights.keep_in_range(std::array<std::uint8_t, 3>{1, 1, 1});
    CHECK(bits(weights) == before);
    weights.look_again();
    weights.keep_in_range(std::array<std::uint8_t, 3>{1, 0, 1});
    const double c = weights.cell(0)[0];
    CHECK(c > 1.0 && weights.prior() == c * c);
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        CHECK(weights.cell(j)[1] == T{0} && weights.sigma(j, 1) == c * c);
        CHECK(weights.cell(j)[2] == c &&
              weights.sigma(j, 2) == c * c * static_cast<T>(out_of_range<T>));
    }
}

template <class T>
void check_untouched(bool second_order, bool averaged) {
    const Shape shape{.n_features = 3,
                      .n_columns = 3,
                      .second_order = second_order,
                      .averaged = averaged,
                      .prior = 0.1};  // not the same number as float and as double
    Diagonal<T> weights(shape);
    for (std::size_t j = 0; j < shape.n_rows(); ++j) CHECK(weights.untouched(j));
    for (std::size_t k = 0; k < shape.stride(); ++k) {
        T& x = weights.cell(1)[k];
        const T start = x;
        x = std::nextafter(start, T{1});
        CHECK(!weights.untouched(1) && weights.untouched(0) && weights.untouched(2));
        x = start == T{0} ? -start : std::nextafter(start, T{0});
        CHECK(!weights.untouched(1));  // -0 is not 0 to the bit
        x = start;
        CHECK(weights.untouched(1));
    }
}

template <class T>
void check_every_form() {
    for (const bool second_order : {false, true}) {
        for (const bool averaged : {false, true}) {
            check_split<T>(second_order, averaged);
            check_columns<T>(second_order, averaged);
            check_untouched<T>(second_order, averaged);
        }
    }
}

}  // namespace forms

inline void forms_change_without_loss() {
    forms::check_every_form<float>();
    forms::check_every_form<double>();
}

inline void rescaling_loses_no_bit() {
    for (const bool averaged : {false, true}) {
        for (const std::size_t n_columns : {1U, 3U}) {
            forms::check_rescale<float>(n_columns, averaged);
            forms::check_rescale<double>(n_columns, averaged);
        }
    }
    forms::check_no_room<float>();
    forms::check_no_room<double>();
    forms::check_prior_stays_finite<float>();
    forms::check_prior_stays_finite<double>();
    forms::check_unknown_column<float>();
    forms::check_unknown_column<double>();
}

namespace forms {

template <class T>
void check_start(const Shape& shape) {
    const Diagonal<T> weights(shape);
    std::size_t touched = 0;
    for (std::size_t j = 0; j < shape.n_rows(); ++j) touched += weights.untouched(j) ? 0 : 1;
    CHECK(touched == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(weights.cell(0)) % 64 == 0);
}

}  // namespace forms

/// Tables are filled in pieces; the sizes are around those of a piece and of a large page.
inline void every_weight_starts_at_its_prior() {
    for (const unsigned n_columns : {1U, 3U, 5000U}) {
        for (const unsigned n : {0U, 1U, 2U, 7U, 8191U / n_columns, 8192U / n_columns}) {
            const Shape shape{.n_features = n, .n_columns = n_columns, .prior = 0.3};
            forms::check_start<float>(shape);
            forms::check_start<double>(shape);
        }
    }
    for (const bool second_order : {false, true}) {
        for (const bool averaged : {false, true}) {
            forms::check_start<float>({.n_features = 300'000,
                                       .n_columns = 3,
                                       .second_order = second_order,
                                       .averaged = averaged,
                                       .prior = 0.3});
        }
    }
}

inline void tables_may_be_empty_or_too_large() {
    const Shape none{.n_features = 0, .intercept = false};
    Diagonal<double> empty(none);
    empty.keep_in_range();
    const diagonal::Entries nothing;
    CHECK(empty.margin(nothing.row()).v == 0.0);
    CHECK(empty.split().shape().n_columns == 2);
    for (const std::size_t n :
         {std::size_t{1} << 60, std::numeric_limits<std::size_t>::max() / 2}) {
        bool refused = false;
        try {
            const Diagonal<double> large(Shape{.n_features = n, .n_columns = 5});
        } catch (const std::bad_alloc&) {
            refused = true;
        }
        CHECK(refused);
    }
}

inline constexpr std::array forms_tests{
    Test{"forms change without loss", forms_change_without_loss},
    Test{"rescaling loses no bit", rescaling_loses_no_bit},
    Test{"every weight starts at its prior", every_weight_starts_at_its_prior},
    Test{"tables may be empty or too large", tables_may_be_empty_or_too_large},
};

}  // namespace surelearn::tests
