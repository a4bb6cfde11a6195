// Room 2, prediction: which label the mean scores name, and which wrong one comes nearest.
// Knows numbers only: no weights, no rule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

/// The k best wrong labels among those known, best first; the first of equals comes first.
inline void best_rivals(std::span<const double> scores, std::size_t y,
                        std::span<const std::uint8_t> known, std::size_t k,
                        std::vector<std::size_t>& rivals) {
    rivals.clear();
    for (std::size_t z = 0; z < scores.size(); ++z) {
        if (z != y && known[z] != 0) rivals.push_back(z);
    }
    const auto better = [&](std::size_t a, std::size_t b) {
        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    };
    const std::size_t kept = k == 0 ? rivals.size() : std::min(k, rivals.size());
    const auto middle = rivals.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(rivals.begin(), middle, rivals.end(), better);
    rivals.resize(kept);
}

}  // namespace surelearn
