// Query scores: the margin between the two best labels of a row, and the variances as if
// the row had been learnt. Knows no right label.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "surelearn/column_updates.hpp"
#include "surelearn/decode.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/full.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

/// The mean score of each column, as predictions use it. `ahead` as for `scores`.
template <Weights W, class R>
void mean_scores(const W& weights, const R& row, std::span<double> s, const R& ahead = {}) {
    if (weights.shape().averaged) {
        weights.averaged_scores(row, s);
    } else {
        weights.scores(row, s, ahead);
    }
}

/// The variance of the score of one column, with the bits that `variances` gives it.
template <Weights W, class R>
[[nodiscard]] double variance_of(const W& weights, const R& row, std::size_t column,
                                 std::vector<double>& work) {
    if constexpr (W::touches_all_weights) {
        work.resize(weights.shape().n_columns);
        weights.variances(row, std::span(work));
        return work[column];
    } else {
        double v = 0.0;
        weights.shape().each_feature(
            row, [&](std::size_t j, double x) { v += weights.sigma(j, column) * (x * x); });
        return v;
    }
}

/// The column with the largest mean score, or with the one farthest from 0; ties: the first.
[[nodiscard]] inline std::size_t surest_column(std::span<const double> s, bool two_sided) noexcept {
    if (!two_sided) return best(s);
    const auto less = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
    return static_cast<std::size_t>(std::ranges::max_element(s, less) - s.begin());
}

/// The two labels with the largest mean scores (ties: the first), and the margin between them.
struct TopTwo {
    std::size_t best;
    std::size_t next;
    double gap;
    double v;
};

/// Dredze & Crammer 2008, sec. 3, has the two-class form; more: the best two of K columns.
template <Weights W, class R>
[[nodiscard]] TopTwo top_two_of(const W& weights, const R& row, std::span<double> s, const R& ahead,
                                typename W::Work& work) {
    mean_scores(weights, row, s, ahead);
    if (s.size() == 1) {
        const std::size_t label = s[0] > 0.0 ? 1 : 0;
        double v = 0.0;
        weights.variances(row, std::span(&v, 1));
        return {label, 1 - label, std::fabs(s[0]), v};
    }
    const std::size_t top = best(s);
    const std::size_t next = best_rival(s, top);
    const std::array g{Side{top, 1.0}, Side{next, -1.0}};
    return {top, next, s[top] - s[next], weights.variance(row, g, work)};
}

/// f(position, top two) for the rows of these numbers, or for all rows. Rows are independent, so
/// the number of threads does not change the result.
template <Weights W, class Index, class Value, class F>
void each_top_two(const W& weights, const Matrix<Index, Value>& matrix,
                  std::optional<std::span<const std::int64_t>> numbers, std::size_t threads,
                  const F& f) {
    constexpr std::size_t worth_a_thread = 1024;
    const std::size_t n = numbers ? numbers->size() : matrix.size();
    const auto number = [&](std::size_t i) {
        return numbers ? static_cast<std::size_t>((*numbers)[i]) : i;
    };
    parallel_for(n, std::min(threads, n / worth_a_thread), [&](std::size_t begin, std::size_t end) {
        RowBuffer<Index, Value> buffer;
        typename W::Work work;
        std::vector<double> s(weights.shape().n_columns);
        for (std::size_t i = begin; i < end; ++i) {
            Row<Index, Value> ahead;
            if (i + 1 < end && !matrix.dense()) ahead = matrix.stored(number(i + 1));
            f(i, top_two_of(weights, matrix.row(number(i), buffer), std::span(s), ahead, work));
        }
    });
}

/// The gain of the rule for a row on the border: margin 0, variance v with these contributions.
[[nodiscard]] inline double gain_on_border(const AnyRule& rule, double v,
                                           std::span<const double> shares) {
    const auto gather = [&] { return shares; };
    return std::visit([&](const auto& r) { return weighted_step(r, 0.0, v, 1.0, gather).gain; },
                      rule);
}

/// Shrinks the variances as if a row on the border had been learnt; means do not change. If a
/// variance would become zero, nothing changes and it returns false.
template <std::size_t N, class T, class R>
[[nodiscard]] bool hypothetical_update(Diagonal<T>& weights, const AnyRule& rule,
                                       Projection projection, const R& row,
                                       const std::array<Side, N>& g) {
    std::vector<double> out;
    const auto shares = weights.shares(row, g, 0.0, out);
    const double v = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double gain = gain_on_border(rule, v, shares);
    ColumnSteps steps;
    steps.resize(weights.shape().n_columns, 1);
    std::ranges::fill(steps.v, v);
    std::ranges::fill(steps.alpha, 0.0);
    std::ranges::fill(steps.gain, gain);
    Quad quad{{}, N, 0};
    quad.column.fill(static_cast<std::uint32_t>(weights.column(g[N - 1].column)));
    quad.column[0] = static_cast<std::uint32_t>(weights.column(g[0].column));
    steps.moving.assign(1, quad);
    return ColumnUpdates<T>().update(weights, row, steps, projection);
}

template <std::size_t N, class T, class R>
[[nodiscard]] bool hypothetical_update(Full<T>& weights, const AnyRule& rule, Projection projection,
                                       const R& row, const std::array<Side, N>& g) {
    typename Full<T>::Work work;
    const double v = weights.variance(row, g, work);
    const double gain = gain_on_border(rule, v, std::span(&v, 1));
    const bool done = weights.update(row, g, {0.0, gain}, v, projection, work);
    weights.settle();
    return done;
}

}  // namespace surelearn
