// Room 2, prediction: which label the mean scores name, and which wrong one comes nearest.
// Knows numbers only: no weights, no rule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/lanes.hpp"
#include "surelearn/types.hpp"

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

/// Put a later column in: into the last stretch where it is near, since a few columns too many cost
/// less than a stretch of its own.
inline void extend(std::vector<Stretch>& stretches, std::size_t column) {
    constexpr std::size_t near = 4;
    if (!stretches.empty() && column < stretches.back().end + near) {
        stretches.back().end = column + 1;
    } else {
        stretches.push_back({column, column + 1});
    }
}

/// The problems of a code [class, problem] that can be learnt: those with a known class on either
/// side.
class Problems {
public:
    void find(std::span<const std::int8_t> code, std::span<const std::uint8_t> known) {
        const std::size_t K = known.size();
        n_problems_ = code.size() / K;
        signs_.assign(code.size(), 0.0);
        stretches_.assign(K, {});
        scores_.resize(K);
        for (std::size_t b = 0; b < n_problems_; ++b) {
            const auto sign = [&](std::size_t k) { return code[k * n_problems_ + b]; };
            bool plus = false;
            bool minus = false;
            for (std::size_t k = 0; k < K; ++k) {
                plus |= known[k] != 0 && sign(k) > 0;
                minus |= known[k] != 0 && sign(k) < 0;
            }
            for (std::size_t k = 0; k < K && plus && minus; ++k) {
                signs_[b * K + k] = sign(k);
                if (sign(k) != 0) extend(stretches_[k], b);
            }
        }
    }

    [[nodiscard]] bool empty() const noexcept { return signs_.empty(); }

    /// The problems that rows of class y are for, and some between them.
    [[nodiscard]] std::span<const Stretch> of(std::size_t y) const noexcept {
        return stretches_[y];
    }

    /// -1, 0 or +1: what rows of class y are in problem b.
    [[nodiscard]] double sign(std::size_t y, std::size_t b) const noexcept {
        return signs_[b * scores_.size() + y];
    }

    /// By how much label y leads all others known, each scored by the sum of its problems.
    SURELEARN_WIDEN [[nodiscard]] double lead(std::size_t y, std::span<const double> s,
                                              std::span<const std::uint8_t> known) noexcept {
        const std::size_t K = scores_.size();
        std::ranges::fill(scores_, 0.0);
        for (std::size_t b = 0; b < n_problems_; ++b) {
            for (std::size_t k = 0; k < K; ++k) scores_[k] += signs_[b * K + k] * s[b];
        }
        double rival = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < K; ++k) {
            if (k != y && known[k] != 0) rival = std::max(rival, scores_[k]);
        }
        return scores_[y] - rival;
    }

private:
    std::size_t n_problems_ = 0;
    std::vector<double> signs_;  ///< [problem, class]; 0 in a problem that cannot be learnt yet
    std::vector<std::vector<Stretch>> stretches_;
    std::vector<double> scores_;
};

}  // namespace surelearn
