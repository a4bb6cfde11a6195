// A pass of eight binary learners at once: each column of diagonal weights has a separate rule.
// Each learner ends with the same bits as `Pass` gives it alone.
//
// A single learner waits for memory: a feature's mean and variance are eight bytes of a cache line.
// Here one line holds those of all eight. Knows neither schemes nor more than two classes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/constraints.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/lookahead.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/targets.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The result of one learner. It stops if a row would be refused or the weights would need
/// rescaling: then its column is invalid, and it must be trained alone.
struct LearnerTally {
    std::uint64_t mistakes = 0;
    std::uint64_t updates = 0;
    std::uint64_t stopped = 0;
};

/// How one learner learns.
struct Learner {
    AnyRule rule;
    Projection projection;
};

/// Columns of the table; with fewer learners the last ones are unused. A constant, so that a row's
/// sums stay in registers.
inline constexpr std::size_t n_lanes = 8;

/// The weights of one learner, as it would have them alone.
template <class T>
[[nodiscard]] Diagonal<T> alone(const Diagonal<T>& table, std::size_t b, bool second_order,
                                double prior) {
    Shape shape = table.shape();
    shape.n_columns = 1;
    shape.second_order = second_order;
    shape.prior = prior;
    Diagonal<T> result(shape);
    result.set_rounds(table.rounds());
    for (std::size_t j = 0; j < shape.n_rows(); ++j) {
        const T* const from = table.cell(j) + b;
        T* const to = result.cell(j);
        to[0] = from[0];
        if (second_order) to[1] = from[n_lanes];
        if (shape.averaged) to[shape.parts() - 1] = from[table.average_at()];
    }
    result.forget_bounds();
    return result;
}

template <class T, class Index, class Value>
class Sweep {
public:
    /// The table also has variances for first-order rules; these stay 1. `missed` of the targets
    /// holds one flag per row, learner after learner.
    Sweep(Diagonal<T>& weights, std::span<const Learner> learners, const Matrix<Index, Value>& rows,
          const Targets& targets, std::span<LearnerTally> tallies, std::size_t begin,
          std::size_t end)
        : weights_(weights),
          learners_(learners),
          rows_(rows),
          targets_(targets),
          tallies_(tallies),
          lookahead_(weights, rows, targets.rows, begin, end),
          next_(begin) {
        for (std::size_t b = 0; b < learners.size(); ++b) {
            const bool covariance = learners[b].projection == Projection::covariance;
            covariance_[b] = covariance ? ~std::uint64_t{0} : 0;
        }
    }

    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;

    /// Learns the rows from the end of the last piece up to `end`.
    void run(std::size_t end) {
        for (; next_ < end; ++next_) {
            const auto ahead = lookahead_.advance(next_);
            const std::size_t i = targets_.rows.at(next_);
            learn(rows_.row(i, buffer_), ahead, i);
            weights_.end_round();
        }
    }

private:
    using Eight = std::array<double, n_lanes>;
    using Masks = std::array<std::uint64_t, n_lanes>;

    void learn(const Row<Index, Value>& row, const Row<Index, Value>& ahead, std::size_t i) {
        const std::size_t y = targets_.y[i] == 1 ? 1 : 0;
        const double sign = y == 1 ? 1.0 : -1.0;
        const double cost = targets_.cost_of(y, 1 - y);
        const double weight = targets_.rows.weight_of(i);
        weigh(row, ahead);
        if (weights_.shape().averaged) weigh_averages(row);
        bool any = false;
        for (std::size_t b = 0; b < learners_.size(); ++b)
            any |= decide(row, b, sign, cost, weight);
        if (any) move(row);
        for (std::size_t b = 0; b < learners_.size(); ++b) close(b, sign, i);
    }

    /// Mean and variance of every margin; even and odd features are summed separately, as for one
    /// column.
    void weigh(const Row<Index, Value>& row, const Row<Index, Value>& ahead) {
        widen([=, this, &row, &ahead]() SURELEARN_INLINED {
            Eight even_m{}, even_v{}, odd_m{}, odd_v{};
            const std::size_t n = row.size();
            std::size_t p = 0;
            for (; p + 2 <= n; p += 2) {
                weights_.prefetch(ahead, p, p + 2);
                add(row.feature(p), row.x(p), even_m, even_v);
                add(row.feature(p + 1), row.x(p + 1), odd_m, odd_v);
            }
            weights_.prefetch(ahead, p, ahead.size());
            if (p < n) add(row.feature(p), row.x(p), even_m, even_v);
            if (weights_.shape().intercept) add(weights_.shape().n_features, 1.0, odd_m, odd_v);
            for (std::size_t b = 0; b < n_lanes; ++b) {
                m_[b] = even_m[b] + odd_m[b];
                v_[b] = even_v[b] + odd_v[b];
            }
        });
    }

    [[gnu::always_inline]] void add(std::size_t j, double x, Eight& m, Eight& v) const noexcept {
        const T* const at = weights_.cell(j);
        const double square = x * x;
        for (std::size_t b = 0; b < n_lanes; ++b) m[b] += at[b] * x;
        for (std::size_t b = 0; b < n_lanes; ++b) v[b] += at[n_lanes + b] * square;
    }

    /// The scores that predictions use.
    void weigh_averages(const Row<Index, Value>& row) {
        widen([=, this, &row]() SURELEARN_INLINED {
            const auto rounds = static_cast<double>(weights_.rounds() + 1);
            Eight s{};
            weights_.shape().each_feature(row, [&](std::size_t j, double x) {
                const T* const at = weights_.cell(j);
                for (std::size_t b = 0; b < n_lanes; ++b) {
                    s[b] += average_of(at[b], at[2 * n_lanes + b], rounds) * x;
                }
            });
            averaged_ = s;
        });
    }

    /// Computes the step of column b; returns whether it moves.
    [[nodiscard]] bool decide(const Row<Index, Value>& row, std::size_t b, double sign, double cost,
                              double weight) {
        alpha_[b] = gain_[b] = 0.0;
        moves_[b] = 0;
        if (tallies_[b].stopped != 0) return false;
        const Moments margin{sign * m_[b], v_[b]};
        const std::array g{Side{b, sign}};
        const auto gather = [&] { return weights_.shares(row, g, margin.v, shares_); };
        const Step step = costed_step(learners_[b].rule, cost, margin, weight, gather);
        if (!finite(margin) || !finite(step)) {
            tallies_[b].stopped = 1;
            return false;
        }
        alpha_[b] = step.alpha * sign;
        gain_[b] = step.gain;
        moves_[b] = step.moves() ? ~std::uint64_t{0} : 0;
        return step.moves();
    }

    void move(const Row<Index, Value>& row) {
        const bool averaged = weights_.shape().averaged;
        weights_.forget_bounds();
        if (averaged) keep_means(row);
        unsigned odd = move_all(row);
        if (averaged) odd |= average(row);
        if (odd != 0) find_bad(row);
    }

    /// Updates all columns at once, each by its projection. Columns that do not move are written
    /// back unchanged (adding 0 would turn -0 into +0). Returns whether any number is invalid.
    [[nodiscard]] unsigned move_all(const Row<Index, Value>& row) {
        return widen([=, this, &row]() SURELEARN_INLINED {
            const Eight alpha = alpha_;
            const Eight gain = gain_;
            const Eight v = v_;
            const Masks moves = moves_;
            const Masks covariance = covariance_;
            std::array<std::uint64_t, n_lanes> odd{};
            weights_.shape().each_feature(row, [&](std::size_t j, double x) {
                T* const at = weights_.cell(j);
                const double square = x * x;
#pragma GCC ivdep
                for (std::size_t b = 0; b < n_lanes; ++b) {
                    double sigma = at[n_lanes + b];
                    double mu = at[b];
                    move_mean(mu, alpha[b], sigma, x);
                    mu = chosen(moves[b], mu, at[b]);
                    MaskedShrink{covariance[b], gain[b], v[b]}(sigma, sigma * square);
                    bool sound = true;
                    check_mean<T>(mu, sound);
                    check_variance<T>(sigma, sound);
                    odd[b] |= !sound;
                    at[b] = static_cast<T>(mu);
                    at[n_lanes + b] = static_cast<T>(sigma);
                }
            });
            return std::ranges::any_of(odd, [](auto bit) { return bit != 0; }) ? 1 : 0;
        });
    }

    void keep_means(const Row<Index, Value>& row) {
        old_.clear();
        weights_.shape().each_feature(row, [&](std::size_t j, double) {
            old_.insert(old_.end(), weights_.cell(j), weights_.cell(j) + n_lanes);
        });
    }

    /// The sums for averaging of all columns that move.
    [[nodiscard]] unsigned average(const Row<Index, Value>& row) {
        return widen([=, this, &row]() SURELEARN_INLINED {
            const auto rounds = static_cast<double>(weights_.rounds() + 1);
            const Masks moves = moves_;
            const T* old = old_.data();
            std::array<std::uint64_t, n_lanes> odd{};
            weights_.shape().each_feature(row, [&](std::size_t j, double) {
                T* const at = weights_.cell(j);
                T* const q = at + 2 * n_lanes;
#pragma GCC ivdep
                for (std::size_t b = 0; b < n_lanes; ++b) {
                    const double after = average_after(q[b], rounds, at[b], old[b]);
                    const double sum = chosen(moves[b], after, q[b]);
                    bool sound = true;
                    check_mean<T>(sum, sound);
                    odd[b] |= !sound;
                    q[b] = static_cast<T>(sum);
                }
                old += n_lanes;
            });
            return std::ranges::any_of(odd, [](auto bit) { return bit != 0; }) ? 1 : 0;
        });
    }

    /// Stops the learners with a variance of zero or a number that is not finite.
    void find_bad(const Row<Index, Value>& row) {
        const Shape& shape = weights_.shape();
        shape.each_feature(row, [&](std::size_t j, double) {
            const T* const at = weights_.cell(j);
            for (std::size_t k = 0; k < shape.stride(); ++k) {
                const bool variance = k / n_lanes == 1;
                const bool sound = std::isfinite(at[k]) && (!variance || at[k] > T{0});
                const std::size_t b = k % n_lanes;
                if (!sound && b < tallies_.size()) tallies_[b].stopped = 1;
            }
        });
    }

    /// The end of a round for column b.
    void close(std::size_t b, double sign, std::size_t i) {
        LearnerTally& tally = tallies_[b];
        if (tally.stopped == 0 && moves_[b] != 0) {
            tally.stopped = in_range(b) ? 0 : 1;
            ++tally.updates;
        }
        if (tally.stopped != 0) return;
        const bool wrong = !(sign * m_[b] > 0.0);
        const bool missed = weights_.shape().averaged ? !(sign * averaged_[b] > 0.0) : wrong;
        tally.mistakes += wrong ? 1 : 0;
        targets_.missed[b * targets_.y.size() + i] = missed ? 1 : 0;
    }

    /// Whether the weights of a scale-free rule need no rescaling.
    [[nodiscard]] bool in_range(std::size_t b) {
        if (!is_scale_free(learners_[b].rule)) return true;
        std::size_t& j = witness_[b];
        while (j < weights_.shape().n_rows() &&
               !(weights_.sigma(j, b) >= Diagonal<T>::least_in_range)) {
            ++j;
        }
        return j < weights_.shape().n_rows();
    }

    Diagonal<T>& weights_;
    std::span<const Learner> learners_;
    const Matrix<Index, Value>& rows_;
    const Targets& targets_;
    std::span<LearnerTally> tallies_;
    detail::Lookahead<Diagonal<T>, Matrix<Index, Value>> lookahead_;
    RowBuffer<Index, Value> buffer_;
    std::vector<double> shares_;
    std::vector<T> old_;
    Eight m_{};
    Eight v_{};
    Eight averaged_{};
    Eight alpha_{};  ///< with the sign of the label
    Eight gain_{};
    Masks moves_{};       ///< all bits set: the column moves in this round
    Masks covariance_{};  ///< all bits set: by the covariance form
    std::array<std::size_t, n_lanes> witness_{};
    std::size_t next_;
};

}  // namespace surelearn
