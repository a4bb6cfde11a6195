// The concept Weights: what a pass needs from weights, and the traits of each kind.
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
/// - holds_classes: there can be a column for each class; otherwise the weights are one vector.
/// - holds_coded_problems: columns can be separate problems, all updated in one round.
/// - touches_all_weights: an update may touch all weights, not only those of the row's features.
///   Then the lock is held for fewer rows at a time.
/// - bounds_variance: there is a cheap upper bound of a margin's variance, which itself takes long.
template <class W>
concept StatesItsKind = requires {
    typename W::Number;   // the storage type
    typename W::Work;     // working memory of a round, not part of the model
    typename W::SomeRow;  // a type of row that it takes
    { W::meets_one_constraint } -> std::convertible_to<bool>;
    { W::fetches_ahead } -> std::convertible_to<bool>;
    { W::holds_classes } -> std::convertible_to<bool>;
    { W::holds_coded_problems } -> std::convertible_to<bool>;
    { W::touches_all_weights } -> std::convertible_to<bool>;
    { W::bounds_variance } -> std::convertible_to<bool>;
};

/// Mean and variance of the margin of one vector.
template <class W>
concept JudgesMargins =
    requires(const W& weights, const typename W::SomeRow& row, std::array<Side, 1> g,
             std::vector<double>& shares, typename W::Work& work) {
        { weights.moments(row, g, row, work) } -> std::same_as<Moments>;
        { weights.shares(row, g, 1.0, shares) } -> std::same_as<std::span<const double>>;
    };

/// A step on g is made completely or not at all; then the round ends. Weights that put off a part
/// of an update until the next round have `settle`, which a pass calls before others may read them.
template <class W>
concept TakesSteps =
    requires(W& weights, const typename W::SomeRow& row, std::array<Side, 1> g, Step step,
             Projection projection, typename W::Work& work, std::span<const std::uint8_t> known) {
        { weights.update(row, g, step, 1.0, projection, work) } -> std::same_as<bool>;
        weights.keep_in_range(known);
        weights.look_again();
        weights.end_round();
    };

/// The mean m of a margin, and a number that its variance cannot exceed.
template <class W>
concept BoundsVariance = requires(const W& weights, const typename W::SomeRow& row,
                                  std::array<Side, 1> g, typename W::Work& work) {
    { weights.bound(row, g, work) } -> std::same_as<Moments>;
};

/// The scores of all columns, margins between two of them, and columns that come later.
template <class W>
concept HoldsClasses =
    requires(W& weights, const W& fixed, const typename W::SomeRow& row, std::array<Side, 2> g,
             std::span<double> out, std::vector<double>& shares, Step step, Projection projection,
             typename W::Work& work, std::span<const std::int64_t> from) {
        fixed.scores(row, out, row);
        fixed.averaged_scores(row, out);
        fixed.variances(row, out);
        { fixed.variance(row, g, work) } -> std::same_as<double>;
        { fixed.shares(row, g, 1.0, shares) } -> std::same_as<std::span<const double>>;
        { weights.update(row, g, step, 1.0, projection, work) } -> std::same_as<bool>;
        { fixed.mean(0, 0) } -> std::same_as<double>;
        { fixed.with_columns(from) } -> std::same_as<W>;
        { fixed.split() } -> std::same_as<W>;
    };

template <class W>
concept FetchesAhead = requires(const W& weights, const typename W::SomeRow& row) {
    weights.prefetch(row, 0, row.size());
};

template <class W>
concept HoldsCodedProblems = requires(const W& weights, const typename W::SomeRow& row,
                                      std::span<double> out, std::span<const Quad> quads) {
    weights.moments(row, out, out, quads, row);
    weights.moments_of(quads, row, out, out, row);
    { weights.order() } -> std::same_as<const ColumnOrder&>;
};

}  // namespace detail

/// Gaussian weights: one vector, or one for each column.
template <class W>
concept Weights = std::movable<W> && std::constructible_from<W, const Shape&> &&
                  detail::StatesItsKind<W> && detail::JudgesMargins<W> && detail::TakesSteps<W> &&
                  (!W::fetches_ahead || detail::FetchesAhead<W>) &&
                  (!W::bounds_variance || detail::BoundsVariance<W>) &&
                  (!W::holds_classes || detail::HoldsClasses<W>) &&
                  (!W::holds_coded_problems || detail::HoldsCodedProblems<W>) &&
                  requires(W& weights, const W& fixed) {
                      { fixed.shape() } -> std::same_as<const Shape&>;
                      { fixed.prior() } -> std::same_as<double>;
                      { fixed.bytes() } -> std::same_as<std::size_t>;
                      { fixed.rounds() } -> std::same_as<std::uint64_t>;
                      weights.set_rounds(std::uint64_t{0});
                  };

}  // namespace surelearn
