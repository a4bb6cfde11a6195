// The steps of all problems of a code in one round. Knows no weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "surelearn/column_updates.hpp"
#include "surelearn/constraints.hpp"
#include "surelearn/decode.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/types.hpp"

namespace surelearn::detail {

/// The contributions to the margin of a problem, by problem, sign and variance.
using SharesOf = FunctionRef<std::span<const double>(std::size_t, double, double)>;

/// The steps of the problems in place `y`, each with its sign; false if one is not finite. One
/// function for all kinds of weights and rows: it is compiled for every rule.
[[nodiscard]] inline bool find_steps(const AnyRule& any_rule, const Problems& problems,
                                     std::size_t y, std::span<const std::int8_t> signs,
                                     double weight, SharesOf shares, ColumnSteps& steps) {
    const auto in_place = problems.in_place(y);
    steps.moving.clear();
    const auto step_by = [&](const auto& rule, const Quad& quad, std::size_t i, bool& moves) {
        const std::size_t b = in_place[quad.first + i];
        const double sign = signs[b];
        const Moments margin{sign * steps.s[b], steps.v[quad.first + i]};
        if (!finite(margin)) return false;
        const auto gather = [&] { return shares(b, sign, margin.v); };
        const Step step = costed_step(rule, 1.0, margin, weight, gather);
        if (!finite(step)) return false;
        steps.alpha[quad.first + i] = sign * step.alpha;
        steps.gain[quad.first + i] = step.gain;
        moves |= step.moves();
        return true;
    };
    const auto all_by = [&](const auto& rule) {
        for (const Quad& quad : problems.of(y)) {
            bool moves = false;
            for (std::size_t i = 0; i < quad.column.size(); ++i) {
                if (!step_by(rule, quad, i, moves)) return false;
            }
            if (moves) steps.moving.push_back(quad);
        }
        return true;
    };
    return std::visit(all_by, any_rule);
}

}  // namespace surelearn::detail
