// Decisions from the probabilities of labels: the answer of least cost, how sure an answer is, and
// sets of labels. Knows no weights.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/normal.hpp"

namespace surelearn {

/// The largest number, by four maxima, so that no comparison waits for the one before; NaN is left
/// out, and without a number it is -infinity.
[[nodiscard]] inline double largest_of(std::span<const double> x) noexcept {
    std::array<double, 4> most;
    most.fill(-std::numeric_limits<double>::infinity());
    std::size_t i = 0;
    for (; i + most.size() <= x.size(); i += most.size()) {
        for (std::size_t l = 0; l < most.size(); ++l) {
            most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
        }
    }
    for (const double each : x.subspan(i)) most[0] = each > most[0] ? each : most[0];
    return std::ranges::max(most);
}

/// The place of the largest number; ties: the first. 0 where there is none.
[[nodiscard]] inline std::size_t first_largest(std::span<const double> x) noexcept {
    const auto found = std::ranges::find(x, largest_of(x));
    return found == x.end() ? 0 : static_cast<std::size_t>(found - x.begin());
}

/// The sum, in four lanes.
[[nodiscard]] inline double sum_of(std::span<const double> x) noexcept {
    std::array<double, 4> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= x.size(); i += sums.size()) {
        for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += x[i + l];
    }
    for (const double each : x.subspan(i)) sums[0] += each;
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// A matrix of costs C[label, answer] as what most mistakes of an answer cost, and the pairs that
/// cost more or less.
struct AnswerCosts {
    std::span<const double> usual;  ///< of each answer
    std::span<const std::int64_t> label;
    std::span<const std::int64_t> answer;
    std::span<const double> more;
};

/// The answer z with the least sum_y p[y] C[y, z]; ties: the first (Elkan 2001, eq. 1).
[[nodiscard]] inline std::size_t least_cost(std::span<const double> p, const AnswerCosts& costs,
                                            std::span<double> expected) {
    const double total = sum_of(p);
    for (std::size_t z = 0; z < expected.size(); ++z) expected[z] = total * costs.usual[z];
    for (std::size_t i = 0; i < costs.more.size(); ++i) {
        const auto y = static_cast<std::size_t>(costs.label[i]);
        const auto z = static_cast<std::size_t>(costs.answer[i]);
        expected[z] += p[y] * costs.more[i];
    }
    return static_cast<std::size_t>(std::ranges::min_element(expected) - expected.begin());
}

/// log(p_b^2 / sum_{z != b} p_z^2): the log odds of a label if probabilities were twice as sharp.
/// NaN where all are 0.
[[nodiscard]] inline double sharp_log_odds(std::span<const double> p, std::size_t best) {
    const double largest =
        std::max({0.0, largest_of(p.first(best)), largest_of(p.subspan(best + 1))});
    if (largest == 0.0) {
        return p[best] > 0.0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    double others = 0.0;  // relative to the largest, so that the squares do not underflow
    for (std::size_t z = 0; z < p.size(); ++z) {
        const double ratio = z == best ? 0.0 : p[z] / largest;
        others += ratio * ratio;
    }
    return 2.0 * (detail::log(p[best]) - detail::log(largest)) - detail::log(others);
}

/// How badly a label fits: 1 - p, or the probability of all labels up to it, most probable first,
/// with `penalty` for each one beyond the first `n_free`.
struct SetScore {
    bool cumulative = false;
    double penalty = 0.0;
    std::size_t n_free = 0;
};

/// The labels of rows that fit well enough, most probable first; of equal ones the first.
class SetFinder {
public:
    /// `limits` has the largest score of a label in a set, or one of each label.
    SetFinder(const SetScore& score, std::span<const double> limits, bool always_the_best)
        : score_(score), limits_(limits), always_the_best_(always_the_best) {
        for (const double each : limits) loosest_ = std::max(loosest_, each);
    }

    /// Appends the places of the labels in the set of a row, whose probabilities are not negative.
    void find(std::span<const double> p, std::vector<std::int64_t>& places) {
        left_.assign(p.begin(), p.end());
        double total = 0.0;
        for (std::size_t n = 0; n < p.size(); ++n) {
            const std::size_t z = next(p, n);
            total += p[z];
            const std::size_t beyond = n < score_.n_free ? 0 : n + 1 - score_.n_free;
            const double added = total + score_.penalty * static_cast<double>(beyond);
            const double own = score_.cumulative ? added : 1.0 - p[z];
            const bool fits = own <= limits_[limits_.size() == 1 ? 0 : z];
            if (fits || (n == 0 && always_the_best_)) {
                places.push_back(static_cast<std::int64_t>(z));
            }
            if (!(own <= loosest_)) return;  // nor does any later label
        }
    }

private:
    /// Sets are small as a rule: so many labels are looked for among all.
    static constexpr std::size_t few = 12;
    static constexpr double taken = -std::numeric_limits<double>::infinity();

    /// The n-th label, asked for in order.
    [[nodiscard]] std::size_t next(std::span<const double> p, std::size_t n) {
        if (n < few) {
            const std::size_t found = first_largest(left_);
            left_[found] = taken;
            return found;
        }
        const auto later = [p](std::size_t a, std::size_t b) {
            return p[b] > p[a] || (p[b] == p[a] && b < a);
        };
        if (n == few) {
            rest_.clear();
            for (std::size_t z = 0; z < p.size(); ++z)
                if (left_[z] != taken) rest_.push_back(z);
            std::ranges::make_heap(rest_, later);
        }
        std::ranges::pop_heap(rest_, later);
        const std::size_t found = rest_.back();
        rest_.pop_back();
        return found;
    }

    SetScore score_;
    std::span<const double> limits_;
    bool always_the_best_;
    double loosest_ = -std::numeric_limits<double>::infinity();
    std::vector<double> left_;       ///< probabilities of labels that have not been taken
    std::vector<std::size_t> rest_;  ///< a heap of the labels to come
};

}  // namespace surelearn
