// Room 2, prediction: which label the mean scores name, and which wrong one comes nearest.
// Knows numbers only: no weights, no rule.
#pragma once

#include <cstddef>
#include <span>

namespace surelearn {

/// The largest score's place; the first of equals.
[[nodiscard]] inline std::size_t best(std::span<const double> scores) noexcept {
    std::size_t top = 0;
    for (std::size_t k = 1; k < scores.size(); ++k) {
        if (scores[k] > scores[top]) top = k;
    }
    return top;
}

/// The best wrong label (Crammer, Dredze & Kulesza 2009, sec. 5.1); the first of equals.
[[nodiscard]] inline std::size_t best_rival(std::span<const double> scores,
                                            std::size_t y) noexcept {
    std::size_t top = y == 0 ? 1 : 0;
    for (std::size_t k = top + 1; k < scores.size(); ++k) {
        if (k != y && scores[k] > scores[top]) top = k;
    }
    return top;
}

}  // namespace surelearn
