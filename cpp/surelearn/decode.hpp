// Prediction: the label with the largest mean score, and the best wrong label. Knows
// numbers only: no weights, no rule.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/column_order.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

/// The position of the largest score; the first one wins a tie.
[[nodiscard]] inline std::size_t best(std::span<const double> scores) noexcept {
    std::size_t top = 0;
    for (std::size_t k = 1; k < scores.size(); ++k) {
        if (scores[k] > scores[top]) top = k;
    }
    return top;
}

/// The best wrong label (Crammer, Dredze & Kulesza 2009, sec. 5.1); the first one wins a tie.
[[nodiscard]] inline std::size_t best_rival(std::span<const double> scores,
                                            std::size_t y) noexcept {
    std::size_t top = y == 0 ? 1 : 0;
    for (std::size_t k = top + 1; k < scores.size(); ++k) {
        if (k != y && scores[k] > scores[top]) top = k;
    }
    return top;
}

/// The k best wrong labels among the known ones, best first; ties keep their order.
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

/// The problems of a code [class, problem] that can be learnt: those with a known class on each
/// side. Labels are scored by the default decoding.
class Problems {
public:
    /// `order` maps problems to columns of the weights.
    void find(std::span<const std::int8_t> code, std::span<const std::uint8_t> known,
              const ColumnOrder& order) {
        const std::size_t K = known.size();
        const std::size_t B = code.size() / K;
        std::vector<std::vector<std::uint32_t>> columns(K);
        sides_.assign(B, {});
        scores_.resize(K);
        quads_.resize(K);
        in_place_.resize(K);
        bool alone = B == K;
        bool pairs = true;
        for (std::size_t b = 0; b < B; ++b) {
            std::array<bool, 3> seen{};
            std::array<std::size_t, 3> count{};
            for (std::size_t k = 0; k < K; ++k) {
                const auto side = static_cast<std::size_t>(code[k * B + b] + 1);
                ++count[side];
                sides_[b][side] = static_cast<std::uint32_t>(k);
                if (known[k] != 0) seen[side] = true;
            }
            alone = alone && count[2] == 1 && count[0] == K - 1 && sides_[b][2] == b;
            pairs = pairs && count[2] == 1 && count[0] == 1;
            const bool learnable = seen[0] && seen[2];
            for (std::size_t k = 0; k < K && learnable; ++k) {
                if (code[k * B + b] != 0) columns[k].push_back(static_cast<std::uint32_t>(b));
            }
        }
        kind_ = alone ? Kind::rest : pairs ? Kind::pairs : Kind::code;
        all_pairs_ = pairs && each_pair_once() && std::ranges::find(known, 0) == known.end();
        for (std::size_t k = 0; k < K; ++k) lay_out(k, columns[k], order);
        if (kind_ == Kind::code) keep_signs(code, columns, B);
    }

    /// One problem for each known label, all in place 0.
    void find_each(std::span<const std::uint8_t> known, const ColumnOrder& order) {
        std::vector<std::uint32_t> columns;
        for (std::size_t k = 0; k < known.size(); ++k) {
            if (known[k] != 0) columns.push_back(static_cast<std::uint32_t>(k));
        }
        quads_.resize(1);
        in_place_.resize(1);
        lay_out(0, columns, order);
    }

    [[nodiscard]] bool empty() const noexcept { return quads_.empty(); }

    /// The columns of the problems that involve class y.
    [[nodiscard]] std::span<const Quad> of(std::size_t y) const noexcept { return quads_[y]; }
    /// The problem at each position of these quads.
    [[nodiscard]] std::span<const std::uint32_t> in_place(std::size_t y) const noexcept {
        return in_place_[y];
    }

    /// Whether every two classes have exactly one problem, and all are known. Then a class that
    /// wins its K - 1 problems leads: a rival wins K - 2 at most, and a tie adds less than a vote.
    [[nodiscard]] bool all_pairs() const noexcept { return all_pairs_; }

    /// Copies the scores of y's problems, `own` in the order of its quads, to their positions in
    /// `s`. Tells whether y wins them all.
    [[nodiscard]] bool wins(std::size_t y, std::span<const double> own,
                            std::span<double> s) const noexcept {
        bool won = true;
        for (std::size_t i = 0; i < own.size(); ++i) {
            const std::uint32_t b = in_place_[y][i];
            s[b] = own[i];
            won = won && (sides_[b][2] == y ? own[i] > 0.0 : own[i] < 0.0);
        }
        return won;
    }

    /// The lead of label y over all other known labels. One-vs-rest compares scores; pairs compare
    /// votes, ties by the sum of margins; other codes compare hinge losses.
    [[nodiscard]] double lead(std::size_t y, std::span<const double> s,
                              std::span<const std::uint8_t> known) {
        switch (kind_) {
            case Kind::rest:
                std::ranges::copy(s, scores_.begin());
                break;
            case Kind::pairs:
                vote(s);
                break;
            default:
                add_losses(s);
        }
        double rival = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < known.size(); ++k) {
            if (k != y && known[k] != 0) rival = std::max(rival, scores_[k]);
        }
        return scores_[y] - rival;
    }

private:
    enum class Kind : std::uint8_t { rest, pairs, code };

    /// For problems between two classes each: whether every two classes have exactly one.
    [[nodiscard]] bool each_pair_once() const {
        const std::size_t K = scores_.size();
        std::vector<bool> seen(K * K);
        for (const auto& [loser, none, winner] : sides_) {
            const std::size_t pair = std::min(loser, winner) * K + std::max(loser, winner);
            if (seen[pair]) return false;
            seen[pair] = true;
        }
        return sides_.size() == K * (K - 1) / 2;
    }

    void vote(std::span<const double> s) {
        sums_.assign(scores_.size(), 0.0);
        std::ranges::fill(scores_, 0.0);
        for (std::size_t b = 0; b < s.size(); ++b) {
            const auto [loser, none, winner] = sides_[b];
            const double vote = s[b] > 0.0 ? 0.5 : s[b] < 0.0 ? -0.5 : 0.0;
            scores_[winner] += vote;
            scores_[loser] -= vote;
            sums_[winner] += s[b];
            sums_[loser] -= s[b];
        }
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            scores_[k] += sums_[k] / (4.0 * (1.0 + std::fabs(sums_[k])));
        }
    }

    /// -sum_b max(0, 1 - c_b s_b): one part with the sign of c, and one that is the same for all
    /// classes of the problem and is 1 if |s| < 1.
    void add_losses(std::span<const double> s) {
        odd_.resize(s.size());
        for (std::size_t b = 0; b < s.size(); ++b) {
            odd_[b] =
                std::fabs(s[b]) <= 1.0 ? s[b] : std::copysign(0.5 * (1.0 + std::fabs(s[b])), s[b]);
        }
        sum_up(odd_);
        for (std::size_t k = 0; k < scores_.size() && has_zeros_; ++k) {
            for (std::size_t b = 0; b < s.size(); ++b) {
                const double more = std::max(0.0, 0.5 * (std::fabs(s[b]) - 1.0));
                scores_[k] -= std::fabs(signs_[b * scores_.size() + k]) * more;
            }
        }
    }

    /// For each class the signed sum over its problems.
    void sum_up(std::span<const double> s) noexcept {
        widen([=, this]() SURELEARN_INLINED {
            const std::size_t K = scores_.size();
            const auto of = [&](std::size_t b) { return &signs_[b * K]; };
            std::ranges::fill(scores_, 0.0);
            std::size_t b = 0;
            for (; b + 4 <= s.size(); b += 4) {
                const std::array<const double*, 4> four{of(b), of(b + 1), of(b + 2), of(b + 3)};
                add_products(four, {s[b], s[b + 1], s[b + 2], s[b + 3]}, scores_.data(), K);
            }
            for (; b < s.size(); ++b) {
                add_products(std::array<const double*, 1>{of(b)}, {s[b]}, scores_.data(), K);
            }
        });
    }

    void keep_signs(std::span<const std::int8_t> code,
                    std::span<const std::vector<std::uint32_t>> columns, std::size_t B) {
        const std::size_t K = columns.size();
        signs_.assign(code.size(), 0.0);
        for (std::size_t k = 0; k < K; ++k) {
            for (const std::uint32_t b : columns[k]) signs_[b * K + k] = code[k * B + b];
        }
        has_zeros_ = std::ranges::find(code, std::int8_t{0}) != code.end();
    }

    void lay_out(std::size_t y, std::span<const std::uint32_t> problems, const ColumnOrder& order) {
        std::vector<std::uint32_t> columns;
        for (const std::uint32_t b : problems) {
            columns.push_back(static_cast<std::uint32_t>(order.column(b)));
        }
        std::ranges::sort(columns);
        quads_[y] = in_quads(columns);
        in_place_[y].clear();
        for (const Quad& quad : quads_[y]) {
            for (const std::uint32_t b : quad.column) {
                in_place_[y].push_back(static_cast<std::uint32_t>(order.label(b)));
            }
        }
    }

    /// Groups of four consecutive columns, then all others.
    static std::vector<Quad> in_quads(std::span<const std::uint32_t> columns) {
        std::vector<Quad> quads;
        std::vector<std::uint32_t> others;
        const auto add = [&](std::span<const std::uint32_t> some) {
            Quad quad{{},
                      static_cast<std::uint32_t>(some.size()),
                      static_cast<std::uint32_t>(4 * quads.size())};
            quad.column.fill(some.back());
            std::ranges::copy(some, quad.column.begin());
            quads.push_back(quad);
        };
        for (std::size_t i = 0; i < columns.size();) {
            if (i + 4 <= columns.size() && columns[i + 3] == columns[i] + 3) {
                add(columns.subspan(i, 4));
                i += 4;
            } else {
                others.push_back(columns[i++]);
            }
        }
        for (std::size_t i = 0; i < others.size(); i += 4) {
            add(std::span(others).subspan(i, std::min<std::size_t>(4, others.size() - i)));
        }
        return quads;
    }

    Kind kind_ = Kind::code;
    bool all_pairs_ = false;
    std::vector<std::array<std::uint32_t, 3>> sides_;  ///< the last class on each side
    std::vector<double> signs_;  ///< [problem, class]; 0 in a problem that cannot be learnt yet
    bool has_zeros_ = false;
    std::vector<double> scores_;
    std::vector<double> sums_;
    std::vector<double> odd_;
    std::vector<std::vector<Quad>> quads_;
    std::vector<std::vector<std::uint32_t>> in_place_;
};

}  // namespace surelearn
