// One pass over rows: decode, margin, rule, update. The only header that sees all the others.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "surelearn/decode.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The labels' side of a pass.
struct Targets {
    std::span<const std::int32_t> y;      ///< class of each row
    std::span<const double> weight;       ///< of each row, all > 0; empty: all 1
    std::span<const std::int64_t> order;  ///< rows in the order they are learnt; empty: as they lie
    std::span<std::uint8_t> known;        ///< for each class: may it be a rival yet?

    [[nodiscard]] std::size_t at(std::size_t i) const noexcept {
        return order.empty() ? i : static_cast<std::size_t>(order[i]);
    }
};

/// What happened: rows [begin, end) were learnt and `end` stopped short where a row was refused.
struct Tally {
    std::size_t end = 0;
    std::uint64_t mistakes = 0;
    std::uint64_t updates = 0;
    bool refused = false;
};

namespace detail {

/// Memory of a pass that is no part of the model.
template <class T, class Index, class Value>
struct Scratch {
    RowBuffer<Index, Value> row;
    Journal<T> journal;
    std::vector<double> shares;
    std::vector<double> scores;
};

/// Brings what coming rows need near before it is needed: first the rows themselves, then, once
/// those are here, the weights they touch; each early enough for memory to answer and late enough
/// to be still there.
template <class T, class Index, class Value>
class Lookahead {
public:
    Lookahead(const Diagonal<T>& weights, const Matrix<Index, Value>& rows, const Targets& targets,
              std::size_t begin, std::size_t end)
        : weights_(weights),
          rows_(rows),
          targets_(targets),
          next_row_(begin),
          next_weights_(begin),
          end_(end),
          idle_(rows.dense() || weights.bytes() <= near) {}

    /// Called before row `i` of the order is learnt: gives the row whose weights are to be asked
    /// for while that one is read. Requests spread over the reading cost less than requests in a
    /// burst.
    [[nodiscard]] Row<Index, Value> advance(std::size_t i) noexcept {
        constexpr std::size_t rows_ahead = 16;
        constexpr std::size_t features_ahead = 128;
        if (idle_) return {};
        for (; next_row_ < std::min(end_, i + rows_ahead); ++next_row_) {
            if (!targets_.order.empty()) rows_.prefetch(targets_.at(next_row_));
        }
        // In bursts only at the start, and where rows become longer.
        while (next_weights_ < end_ && (next_weights_ <= i || ahead_ < features_ahead)) {
            const auto row = take();
            weights_.prefetch(row, 0, row.size());
        }
        const bool room = next_weights_ < end_ && ahead_ < 2 * features_ahead;
        const auto row = room ? take() : Row<Index, Value>{};
        ahead_ -= rows_.stored(targets_.at(i)).size();
        return row;
    }

private:
    Row<Index, Value> take() noexcept {
        const auto row = rows_.stored(targets_.at(next_weights_++));
        ahead_ += row.size();
        return row;
    }

    const Diagonal<T>& weights_;
    const Matrix<Index, Value>& rows_;
    const Targets& targets_;
    std::size_t next_row_;
    std::size_t next_weights_;
    std::size_t end_;
    std::size_t ahead_ = 0;  ///< features of rows i.. whose weights have been asked for
    /// Dense rows are read from end to end: the processor sees it coming. Few weights stay near by
    /// themselves.
    static constexpr std::size_t near = std::size_t{1} << 19;
    bool idle_;
};

/// One round: what g is, what the rule says, what becomes of the weights.
template <class T, class Index, class Value>
class Round {
public:
    Round(Diagonal<T>& weights, const Rule& rule, Projection projection,
          Scratch<T, Index, Value>& scratch)
        : weights_(weights), rule_(rule), projection_(projection), scratch_(scratch) {}

    /// Two classes, one vector: g = y x with y = -1 or +1.
    [[nodiscard]] bool binary(const Row<Index, Value>& row, const Row<Index, Value>& ahead,
                              std::int32_t label, double weight, Tally& tally) {
        const double y = label == 1 ? 1.0 : -1.0;
        Moments margin = weights_.margin(row, ahead);
        margin.m *= y;
        return learn(row, std::array{Side{0, y}}, margin, weight, tally);
    }

    /// One block a class: g = f(x, y) - f(x, rival), the rival being the best wrong label.
    [[nodiscard]] bool joint(const Row<Index, Value>& row, const Row<Index, Value>& ahead,
                             std::size_t y, std::span<std::uint8_t> known, double weight,
                             Tally& tally) {
        const bool arrived = known[y] == 0;
        if (arrived) {
            known[y] = 1;
            weights_.look_again();
        }
        auto& scores = scratch_.scores;
        scores.resize(known.size());
        weights_.scores(row, scores, ahead);
        for (std::size_t k = 0; k < known.size(); ++k) {
            if (known[k] == 0) scores[k] = -std::numeric_limits<double>::infinity();
        }
        const std::size_t rival = best_rival(scores, y);
        const std::array sides{Side{y, 1.0}, Side{rival, -1.0}};
        const auto v = weights_.variances(row, sides);
        const Moments margin{scores[y] - scores[rival], v[0] + v[1]};
        const bool learnt = learn(row, sides, margin, weight, tally, known);
        if (!learnt && arrived) known[y] = 0;  // a refused row makes nothing known
        return learnt;
    }

private:
    template <std::size_t N>
    [[nodiscard]] bool learn(const Row<Index, Value>& row, const std::array<Side, N>& sides,
                             const Moments& margin, double weight, Tally& tally,
                             std::span<const std::uint8_t> known = {}) {
        if (!std::isfinite(margin.m) || !std::isfinite(margin.v)) return false;
        const auto gather = [&] { return weights_.shares(row, sides, scratch_.shares); };
        const Step step = std::visit(
            [&](const auto& rule) {
                return weighted_step(rule, margin.m, margin.v, weight, gather);
            },
            rule_);
        if (step.moves()) {
            if (!weights_.update(row, sides, step, margin.v, projection_, scratch_.journal)) {
                return false;
            }
            ++tally.updates;
            const bool scale_free =
                std::visit([]<class R>(const R&) { return ScaleFree<R>; }, rule_);
            if (scale_free) weights_.keep_in_range(known);
        }
        if (!(margin.m > 0.0)) ++tally.mistakes;
        weights_.end_round();
        return true;
    }

    Diagonal<T>& weights_;
    const Rule& rule_;
    Projection projection_;
    Scratch<T, Index, Value>& scratch_;
};

}  // namespace detail

/// Rows [.., end) of an order, learnt in as many pieces as the caller likes, one round each. What
/// it has fetched ahead is kept from piece to piece.
template <class T, class Index, class Value>
class Pass {
public:
    Pass(Diagonal<T>& weights, const Rule& rule, Projection projection,
         const Matrix<Index, Value>& rows, const Targets& targets, std::size_t begin,
         std::size_t end)
        : weights_(weights),
          rows_(rows),
          targets_(targets),
          lookahead_(weights, rows, targets, begin, end),
          round_(weights, rule, projection, scratch_),
          next_(begin) {}

    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// Learn the rows from where the last piece ended up to `end`.
    [[nodiscard]] Tally run(std::size_t end) {
        const bool binary = weights_.shape().n_columns == 1;
        Tally tally{.end = next_};
        for (; next_ < end && !tally.refused; tally.end = next_) {
            const auto ahead = lookahead_.advance(next_);
            const std::size_t i = targets_.at(next_);
            const auto row = rows_.row(i, scratch_.row);
            const double weight = targets_.weight.empty() ? 1.0 : targets_.weight[i];
            const std::int32_t y = targets_.y[i];
            const bool learnt = binary ? round_.binary(row, ahead, y, weight, tally)
                                       : round_.joint(row, ahead, static_cast<std::size_t>(y),
                                                      targets_.known, weight, tally);
            if (learnt) {
                ++next_;
            } else {
                tally.refused = true;
            }
        }
        return tally;
    }

private:
    Diagonal<T>& weights_;
    const Matrix<Index, Value>& rows_;
    const Targets& targets_;
    detail::Scratch<T, Index, Value> scratch_;
    detail::Lookahead<T, Index, Value> lookahead_;
    detail::Round<T, Index, Value> round_;
    std::size_t next_;
};

/// Learn rows [begin, end) of the order in one piece.
template <class T, class Index, class Value>
[[nodiscard]] Tally learn(Diagonal<T>& weights, const Rule& rule, Projection projection,
                          const Matrix<Index, Value>& rows, const Targets& targets,
                          std::size_t begin, std::size_t end) {
    return Pass<T, Index, Value>(weights, rule, projection, rows, targets, begin, end).run(end);
}

}  // namespace surelearn
