// Rooms 3 and 6, the concept Weights: what a pass needs from weights, and the traits of each kind.
// Knows no kind.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/column_order.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

namespace detail {

/// The traits of a kind of weights:
///
/// - meets_one_constraint: a step on one constraint is the exact projection; nothing is dropped.
/// - fetches_ahead: the weights of a row can be prefetched.
/// - holds_coded_problems: columns can be separate problems, all updated in one round.
/// - touches_all_weights: an update may touch all weights, not only those of the row's features.
///   Then the lock is held for fewer rows at a time.
template <class W>
concept StatesItsKind = requires {
    typename W::Number;  // the storage type
    typename W::Work;    // working memory of a round, not part of the model
    { W::meets_one_constraint } -> std::convertible_to<bool>;
    { W::fetches_ahead } -> std::convertible_to<bool>;
    { W::holds_coded_problems } -> std::convertible_to<bool>;
    { W::touches_all_weights } -> std::convertible_to<bool>;
};

/// Any type of row would do.
using AnyRow = Row<std::int32_t, float>;

/// The scores of a row's columns, and mean and variance of a margin.
template <class W>
concept JudgesRows =
    requires(const W& weights, const AnyRow& row, std::array<Side, 1> one, std::array<Side, 2> two,
             std::span<double> out, std::vector<double>& shares, typename W::Work& work) {
        weights.scores(row, out, row);
        weights.averaged_scores(row, out);
        weights.variances(row, out);
        { weights.moments(row, one, row, work) } -> std::same_as<Moments>;
        { weights.variance(row, two, work) } -> std::same_as<double>;
        { weights.shares(row, one, 1.0, shares) } -> std::same_as<std::span<const double>>;
        { weights.shares(row, two, 1.0, shares) } -> std::same_as<std::span<const double>>;
    };

/// A step on g is made completely or not at all; then the round ends.
template <class W>
concept TakesSteps = requires(W& weights, const AnyRow& row, std::array<Side, 1> one,
                              std::array<Side, 2> two, Step step, Projection projection,
                              typename W::Work& work, std::span<const std::uint8_t> known) {
    { weights.update(row, one, step, 1.0, projection, work) } -> std::same_as<bool>;
    { weights.update(row, two, step, 1.0, projection, work) } -> std::same_as<bool>;
    weights.keep_in_range(known);
    weights.look_again();
    weights.end_round();
};

template <class W>
concept FetchesAhead =
    requires(const W& weights, const AnyRow& row) { weights.prefetch(row, 0, row.size()); };

template <class W>
concept HoldsCodedProblems = requires(const W& weights, const AnyRow& row, std::span<double> out,
                                      std::span<const Quad> quads) {
    weights.moments(row, out, out, quads, row);
    { weights.order() } -> std::same_as<const ColumnOrder&>;
};

}  // namespace detail

/// Gaussian weights over features and columns.
template <class W>
concept Weights = std::movable<W> && std::constructible_from<W, const Shape&> &&
                  detail::StatesItsKind<W> && detail::JudgesRows<W> && detail::TakesSteps<W> &&
                  (!W::fetches_ahead || detail::FetchesAhead<W>) &&
                  (!W::holds_coded_problems || detail::HoldsCodedProblems<W>) &&
                  requires(W& weights, const W& fixed, std::span<const std::int64_t> from) {
                      { fixed.shape() } -> std::same_as<const Shape&>;
                      { fixed.prior() } -> std::same_as<double>;
                      { fixed.bytes() } -> std::same_as<std::size_t>;
                      { fixed.rounds() } -> std::same_as<std::uint64_t>;
                      weights.set_rounds(std::uint64_t{0});
                      { fixed.mean(0, 0) } -> std::same_as<double>;
                      { fixed.with_columns(from) } -> std::same_as<W>;
                      { fixed.split() } -> std::same_as<W>;
                  };

}  // namespace surelearn
