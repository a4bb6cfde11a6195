// Groups of candidates as structures: each candidate has features Psi(x, y) and a cost, and the
// cheapest are right. One column of weights serves all candidates. Knows neither rules nor labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/decode.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/mean_reader.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/structured.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// Group i has the rows [bounds[i], bounds[i + 1]) of a compressed matrix, a row per candidate.
template <class Index, class Value>
struct CandidateGroups {
    const Matrix<Index, Value>& rows;
    std::span<const std::int64_t> bounds;
    std::span<const double> cost{};  ///< of each row; empty if unknown
    bool all_right = true;  ///< a wrong candidate must lose to all cheaper ones, not to one

    [[nodiscard]] std::size_t size() const noexcept { return bounds.size() - 1; }
    [[nodiscard]] RowRange rows_of(std::size_t i) const noexcept {
        return {static_cast<std::size_t>(bounds[i]), static_cast<std::size_t>(bounds[i + 1])};
    }
};

/// f(feature, x, z) for every feature of either row, ascending; the value is 0 where a row has
/// none.
template <class R, class F>
void each_feature_of_two(const R& a, const R& b, const F& f) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    for (std::size_t p = 0, q = 0; p < a.size() || q < b.size();) {
        const std::size_t i = p < a.size() ? a.feature(p) : none;
        const std::size_t j = q < b.size() ? b.feature(q) : none;
        const double x = i <= j ? a.x(p++) : 0.0;
        const double z = j <= i ? b.x(q++) : 0.0;
        f(std::min(i, j), x, z);
    }
}

/// g = the difference of two rows, in the only column.
template <class T, class R>
void set_difference(const R& a, const R& b, SparseDifference<T>& g) {
    g.clear();
    each_feature_of_two(a, b, [&](std::size_t j, double x, double z) {
        if (x != z) g.add(j, 0, x - z);
    });
}

/// Answers are candidates, by their place in the group. With grades of cost, a candidate is wrong
/// if any other is cheaper; its partner is the cheaper candidate that it must lose to.
template <class T, class Index, class Value>
class CandidateDecoder {
public:
    using Data = CandidateGroups<Index, Value>;
    using Answer = std::size_t;
    using Truth = double;  ///< the cost of the right candidates
    static constexpr bool graded = true;

    CandidateDecoder(const Diagonal<T>& weights, const Data& groups)
        : reader_(weights), groups_(groups) {}

    /// Whether all candidates of group i cost the same.
    [[nodiscard]] bool empty(std::size_t i) const noexcept {
        const auto cost = costs(groups_.rows_of(i));
        return std::ranges::adjacent_find(cost, std::not_equal_to{}) == cost.end();
    }

    [[nodiscard]] Truth truth(std::size_t i) const noexcept {
        return std::ranges::min(costs(groups_.rows_of(i)));
    }

    void load(std::size_t i, Means means) {
        reader_.use(means);
        range_ = groups_.rows_of(i);
        cost_ = costs(range_);
        scores_.resize(range_.size());
        for (std::size_t c = 0; c < scores_.size(); ++c) {
            const std::size_t row = range_.begin + c;
            const std::size_t ahead = std::min(row + 1, groups_.rows.size() - 1);
            reader_.sum(groups_.rows, {row, ahead}, std::span(scores_).subspan(c, 1));
        }
    }

    [[nodiscard]] std::span<const double> scores() const noexcept { return scores_; }

    [[nodiscard]] bool finite() const noexcept {
        return std::ranges::all_of(scores_, [](double s) { return std::isfinite(s); });
    }

    /// Of equal scores the costliest: as with classes, a right answer must lead.
    void best(Answer& answer) const noexcept {
        answer = 0;
        for (std::size_t c = 1; c < scores_.size(); ++c) {
            const bool ties = scores_[c] == scores_[answer] && cost_[c] > cost_[answer];
            if (scores_[c] > scores_[answer] || ties) answer = c;
        }
    }

    [[nodiscard]] bool same(Truth y, Answer answer) const noexcept { return cost_[answer] <= y; }

    [[nodiscard]] bool best_other(Truth y, Answer& answer) const noexcept {
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < scores_.size(); ++c) {
            if (same(y, c) || !(scores_[c] > top)) continue;
            top = scores_[c];
            answer = c;
        }
        return std::isfinite(top);
    }

    /// The k best wrong candidates: right ones would only be skipped.
    [[nodiscard]] std::span<const Answer> k_best(std::size_t k) {
        const double right = std::ranges::min(cost_);
        ranks_.clear();
        for (std::size_t c = 0; c < scores_.size(); ++c) {
            if (!same(right, c)) ranks_.push_back(c);
        }
        const auto better = [&](Answer a, Answer b) {
            return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
        };
        const std::size_t kept = std::min(k, ranks_.size());
        std::ranges::partial_sort(ranks_, ranks_.begin() + static_cast<std::ptrdiff_t>(kept),
                                  better);
        return std::span(ranks_).first(kept);
    }

    /// With these scores, a wrong candidate that beats its partner breaks the margin between them,
    /// whatever grades the two have.
    void augment_loss(Truth y) noexcept {
        for (std::size_t c = 0; c < scores_.size(); ++c) scores_[c] += cost_[c] - y;
    }

    [[nodiscard]] double distance(Truth, Answer answer) const noexcept {
        return cost_[answer] - cost_[partner(answer)];
    }

    void difference(Truth, Answer answer, SparseDifference<T>& g) const {
        const auto right = groups_.rows.stored(range_.begin + partner(answer));
        const auto wrong = groups_.rows.stored(range_.begin + answer);
        set_difference(right, wrong, g);
    }

private:
    /// None where groups are only predicted.
    [[nodiscard]] std::span<const double> costs(const RowRange& range) const noexcept {
        if (groups_.cost.empty()) return {};
        return groups_.cost.subspan(range.begin, range.size());
    }

    /// Of the candidates that are cheaper than a wrong one, the lowest scored if it must lose to
    /// all of them, else the highest scored; the first one wins a tie.
    [[nodiscard]] std::size_t partner(Answer answer) const noexcept {
        std::size_t found = answer;
        for (std::size_t c = 0; c < scores_.size(); ++c) {
            if (cost_[c] >= cost_[answer]) continue;
            const bool first = found == answer;
            const bool lower = scores_[c] < scores_[found];
            const bool higher = scores_[c] > scores_[found];
            if (first || (groups_.all_right ? lower : higher)) found = c;
        }
        return found;
    }

    MeanReader<T> reader_;
    const Data& groups_;
    RowRange range_;
    std::span<const double> cost_;
    std::vector<double> scores_;
    std::vector<Answer> ranks_;
};

/// The lead of the best candidate over the next best.
struct CandidateLead {
    std::size_t best;
    std::size_t next;  ///< rows of the matrix
    Moments gap;
};

/// Calls f(group, lead) for groups [begin, end) with two candidates at least.
template <class T, class Index, class Value, class F>
void each_lead(const Diagonal<T>& weights, const CandidateGroups<Index, Value>& groups,
               const RowRange& some, const F& f) {
    CandidateDecoder<T, Index, Value> decoder(weights, groups);
    SparseDifference<T> g;
    for (std::size_t i = some.begin; i < some.end; ++i) {
        const RowRange range = groups.rows_of(i);
        if (range.size() < 2) continue;
        decoder.load(i, Means::predicting);
        const auto scores = decoder.scores();
        const std::size_t first = best(scores);
        const std::size_t second = best_rival(scores, first);
        const std::size_t a = range.begin + first;
        const std::size_t b = range.begin + second;
        set_difference(groups.rows.stored(a), groups.rows.stored(b), g);
        f(i, CandidateLead{a, b, g.averaged_moments(weights)});
    }
}

/// C = X diag(sigma) X' of the rows of one group; `C` is a square.
template <class T, class Index, class Value>
void score_covariances(const Diagonal<T>& weights, const CandidateGroups<Index, Value>& groups,
                       std::size_t i, std::span<double> C) {
    const RowRange range = groups.rows_of(i);
    const std::size_t n = range.size();
    for (std::size_t a = 0; a < n; ++a) {
        const auto left = groups.rows.stored(range.begin + a);
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = 0.0;
            const auto right = groups.rows.stored(range.begin + b);
            each_feature_of_two(left, right, [&](std::size_t j, double x, double z) {
                if (x != 0.0 && z != 0.0) sum += weights.sigma(j, 0) * (x * z);
            });
            C[a * n + b] = C[b * n + a] = sum;
        }
    }
}

}  // namespace surelearn
