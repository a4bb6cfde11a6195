// Prefetching for a pass over rows. Knows neither labels nor rules.
#pragma once

#include <algorithm>
#include <cstddef>

#include "surelearn/round.hpp"
#include "surelearn/weights.hpp"

namespace surelearn::detail {

/// Prefetches coming rows, and once these are in the cache, the weights they touch: early enough
/// for memory to answer, late enough to be still in the cache when needed.
template <Weights W, class M>
class Lookahead {
public:
    using RowView = typename M::RowView;

    Lookahead(const W& weights, const M& rows, const Examples& examples, std::size_t begin,
              std::size_t end)
        : weights_(weights),
          rows_(rows),
          examples_(examples),
          next_row_(begin),
          next_weights_(begin),
          end_(end),
          idle_(is_idle(weights, rows)) {}

    /// Call it before learning row `i` of the order. It returns the row whose weights should be
    /// prefetched while row `i` is read: spread requests cost less than a burst.
    [[nodiscard]] RowView advance(std::size_t i) noexcept {
        if constexpr (W::fetches_ahead) {
            return idle_ ? RowView{} : fetch_for(i);
        } else {
            return {};
        }
    }

private:
    [[nodiscard]] static bool is_idle(const W& weights, const M& rows) noexcept {
        if constexpr (W::fetches_ahead) return rows.dense() || weights.bytes() <= near;
        return true;
    }

    [[nodiscard]] RowView fetch_for(std::size_t i) noexcept {
        constexpr std::size_t rows_ahead = 16;
        constexpr std::size_t features_ahead = 128;
        for (; next_row_ < std::min(end_, i + rows_ahead); ++next_row_) {
            if (!examples_.order.empty()) rows_.prefetch(examples_.at(next_row_));
        }
        // A burst happens only at the start, and when rows become longer.
        while (next_weights_ < end_ && (next_weights_ <= i || ahead_ < features_ahead)) {
            const auto row = take();
            weights_.prefetch(row, 0, row.size());
        }
        const bool room = next_weights_ < end_ && ahead_ < 2 * features_ahead;
        const auto row = room ? take() : RowView{};
        ahead_ -= rows_.stored(examples_.at(i)).size();
        return row;
    }

    RowView take() noexcept {
        const auto row = rows_.stored(examples_.at(next_weights_++));
        ahead_ += row.size();
        return row;
    }

    const W& weights_;
    const M& rows_;
    const Examples& examples_;
    std::size_t next_row_;
    std::size_t next_weights_;
    std::size_t end_;
    std::size_t ahead_ = 0;  ///< features of rows from i on whose weights were prefetched
    /// The processor prefetches dense rows, which are contiguous. Few weights stay in the cache
    /// anyway.
    static constexpr std::size_t near = std::size_t{1} << 19;
    bool idle_;
};

}  // namespace surelearn::detail
