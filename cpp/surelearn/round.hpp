// What passes over rows and over structures share: the method, the examples and their order, and
// the end of a round. Knows neither rows nor structures.
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
    std::span<const double> weight;       ///< weight of each example, all > 0; empty: all 1
    std::span<const std::int64_t> order;  ///< the order of learning; empty: as they are stored

    [[nodiscard]] std::size_t at(std::size_t n) const noexcept {
        return order.empty() ? n : static_cast<std::size_t>(order[n]);
    }
    [[nodiscard]] double weight_of(std::size_t i) const noexcept {
        return weight.empty() ? 1.0 : weight[i];
    }
};

/// The result of a pass: examples [begin, end) were learnt; a refused example ends the pass early.
struct Tally {
    std::size_t end = 0;
    std::uint64_t mistakes = 0;
    std::uint64_t updates = 0;
    bool refused = false;
};

/// The outcome of an example, and whether its prediction was wrong.
struct Verdict {
    Outcome outcome;
    bool mistaken;
};

/// Ends a round: counts it, and keeps the weights in range. Classes that are not `known` yet do not
/// count for the range; empty: all are known. A refused example counts no round and returns false.
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
