// What a pass over rows learns: labels, weights, costs and codes. Knows no weights and no rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "surelearn/round.hpp"

namespace surelearn {

/// Labels, costs and code of a pass.
struct Targets {
    std::span<const std::int32_t> y;  ///< class of each row
    Examples rows;
    std::span<std::uint8_t> known;   ///< for each class, whether it may be a rival yet
    std::span<const double> cost{};  ///< [right, wrong]: factor of the rule's demand; empty: 1

    std::span<const std::int8_t> code{};  ///< [class, problem]: -1, 0, +1; empty: no reduction

    /// For each row, whether the prediction before learning it was wrong. Empty: not wanted.
    std::span<std::uint8_t> missed{};

    /// If given, rows have any number of labels, and every label is a problem of its own: row i has
    /// the labels y[starts[i]] to y[starts[i + 1]].
    std::span<const std::int64_t> starts{};

    /// For each row of the pass, in the order of learning: the scores of all columns before it was
    /// learnt, and whether it moved a weight. For problems that are columns. Empty: not wanted.
    std::span<double> scores{};
    std::span<std::uint8_t> moved{};

    [[nodiscard]] std::span<const std::int32_t> labels_of(std::size_t i) const noexcept {
        const auto begin = static_cast<std::size_t>(starts[i]);
        return y.subspan(begin, static_cast<std::size_t>(starts[i + 1]) - begin);
    }
    [[nodiscard]] double cost_of(std::size_t right, std::size_t wrong) const noexcept {
        return cost.empty() ? 1.0 : cost[right * known.size() + wrong];
    }
};

}  // namespace surelearn
