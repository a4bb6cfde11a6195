// A round, as passes over rows and over structures share it: how to learn, which examples in which
// order, and how a round ends. Knows neither rows nor structures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "surelearn/constraints.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

/// How a pass learns.
struct Method {
    AnyRule rule;
    Projection projection = Projection::precision;
    Scheme scheme;
};

/// Weights of examples, and their order.
struct Examples {
    std::span<const double> weight;       ///< of each example, all > 0; empty: all 1
    std::span<const std::int64_t> order;  ///< in which they are learnt; empty: as they lie

    [[nodiscard]] std::size_t at(std::size_t n) const noexcept {
        return order.empty() ? n : static_cast<std::size_t>(order[n]);
    }
    [[nodiscard]] double weight_of(std::size_t i) const noexcept {
        return weight.empty() ? 1.0 : weight[i];
    }
};

/// What happened: examples [begin, end) were learnt and `end` stopped short where one was refused.
struct Tally {
    std::size_t end = 0;
    std::uint64_t mistakes = 0;
    std::uint64_t updates = 0;
    bool refused = false;
};

/// What became of an example, and was the prediction for it wrong?
struct Verdict {
    Outcome outcome;
    bool mistaken;
};

/// The end of a round: what is counted, and weights that stay in range. Of classes that are not
/// `known` yet the range does not count; empty: all are. False, and no round, for a refused
/// example.
template <Weights W>
[[nodiscard]] bool close_round(W& weights, const Method& method, const Verdict& verdict,
                               std::span<const std::uint8_t> known, Tally& tally) {
    if (verdict.outcome == Outcome::refused) return false;
    if (verdict.outcome == Outcome::moved) {
        ++tally.updates;
        if (is_scale_free(method.rule)) weights.keep_in_range(known);
    }
    if (verdict.mistaken) ++tally.mistakes;
    weights.end_round();
    return true;
}

}  // namespace surelearn
