// A round as a transaction: copies the weights that a row and some labels touch,
// updates the copies as often as the scheme needs, and writes them back, rounded once, all or
// nothing. Knows neither rules nor schemes.
//
// Constraint r of a transaction is the margin of the right label, block 0, against rival r, block r
// + 1. Two classes have one block and one constraint.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/full.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

template <Weights W>
class Transaction;

template <class T>
class Transaction<Diagonal<T>> {
public:
    /// Copies the weights that `row` touches in the columns of `sides`; the first is the right
    /// label.
    template <class R>
    void load(const Diagonal<T>& weights, const R& row, std::span<const Side> sides) {
        second_order_ = weights.shape().second_order;
        features_.clear();
        x_.clear();
        largest_ = row.largest;
        total_ = {};
        const auto add = [&](std::size_t j, double x) {
            features_.push_back(j);
            x_.push_back(x);
        };
        with_values(row, [&](const auto& entries) { weights.shape().each_feature(entries, add); });
        blocks_.resize(sides.size());
        for (std::size_t b = 0; b < sides.size(); ++b) {
            Block& block = blocks_[b];
            block.side = {weights.column(sides[b].column), sides[b].sign};
            block.moved = false;
            block.mu.resize(x_.size());
            block.sigma.resize(x_.size());
            for (std::size_t p = 0; p < x_.size(); ++p) {
                block.mu[p] = weights.cell(features_[p])[block.side.column];
                block.sigma[p] = weights.sigma(features_[p], sides[b].column);
            }
            block.summed = false;
        }
    }

    /// Number of constraints.
    [[nodiscard]] std::size_t size() const noexcept {
        return std::max<std::size_t>(1, blocks_.size() - 1);
    }

    /// Current mean and variance of margin r.
    [[nodiscard]] Moments margin(std::size_t r) const noexcept {
        const Moments right = score(blocks_[0]);
        if (blocks_.size() == 1) return {blocks_[0].side.sign * right.m, right.v};
        const Moments rival = score(blocks_[r + 1]);
        return {right.m - rival.m, right.v + rival.v};
    }

    /// g_r' sigma g_s.
    [[nodiscard]] double gram(std::size_t r, std::size_t s) const noexcept {
        return r == s ? margin(r).v : score(blocks_[0]).v;
    }

    /// The contributions a_j = sigma_j g_j^2 to margin r.
    [[nodiscard]] std::span<const double> shares(std::size_t r, std::vector<double>& out) const {
        out.clear();
        for (std::size_t p = 0; p < x_.size(); ++p) {
            for (const std::size_t b : {std::size_t{0}, r + 1}) {
                if (b < blocks_.size()) out.push_back(blocks_[b].sigma[p] * (x_[p] * x_[p]));
            }
        }
        return out;
    }

    /// A step on margin r from the current state.
    [[nodiscard]] bool apply(std::size_t r, const Step& step, Projection projection) {
        const double v = margin(r).v;
        count(step.alpha, step.gain);
        for (const std::size_t b : {std::size_t{0}, r + 1}) {
            if (b >= blocks_.size()) continue;
            with_shrink(projection, step.gain, v,
                        [&](const auto& shrink) { move(blocks_[b], step.alpha, shrink); });
        }
        return true;
    }

    /// Steps on all margins from the start of the transaction: averages the means and precisions
    /// that each step alone would give, with these weights.
    [[nodiscard]] bool apply_together(std::span<const Step> steps, std::span<const double> mixing,
                                      Projection projection) {
        const std::vector<double> v = margin_variances();
        const auto growth = [&](std::size_t r, double a) {
            return mixing[r] * precision_growth(projection, steps[r].gain, v[r], a);
        };
        double alpha = 0.0;
        for (std::size_t r = 0; r < steps.size(); ++r) {
            alpha += mixing[r] * steps[r].alpha;
            count(mixing[r] * steps[r].alpha, mixing[r] * steps[r].gain);
        }
        move(blocks_[0], alpha, [&](double& sigma, double a) {
            double sum = 1.0;
            for (std::size_t r = 0; r < steps.size(); ++r) sum += growth(r, a);
            sigma /= sum;
        });
        for (std::size_t r = 0; r + 1 < blocks_.size(); ++r) {
            if (!steps[r].moves()) continue;
            move(blocks_[r + 1], mixing[r] * steps[r].alpha,
                 [&](double& sigma, double a) { sigma /= 1.0 + growth(r, a); });
        }
        return true;
    }

    /// Variances of the margins after sigma^-1 += 2 sum_s p_s g_s^2, and their slopes.
    void shrunk(std::span<const double> p, std::span<double> u, std::span<double> slope) const {
        double total = 0.0;
        for (const double x : p) total += x;
        const Moments right = shrunk_sums(blocks_[0], total);
        std::ranges::fill(slope, -2.0 * right.v);
        for (std::size_t r = 0; r < p.size(); ++r) {
            const bool alone = blocks_.size() == 1;
            const Moments rival = alone ? Moments{} : shrunk_sums(blocks_[r + 1], p[r]);
            u[r] = right.m + rival.m;
            slope[r * p.size() + r] -= 2.0 * rival.v;
        }
    }

    /// Writes back the weights; if a variance would become zero or a number not finite, writes
    /// nothing and returns false.
    [[nodiscard]] bool commit(Diagonal<T>& weights) const {
        const bool safe = weights.grow_safely(total_, largest_) && !weights.shape().averaged;
        for (const Block& block : blocks_) {
            if (block.moved && !safe && !is_valid(weights, block)) return false;
        }
        for (const Block& block : blocks_) {
            if (block.moved) write(weights, block);
        }
        return true;
    }

private:
    struct Block {
        Side side;  ///< in the column of the table
        bool moved = false;
        mutable bool summed = false;  ///< whether `sums` is up to date
        mutable Moments sums;         ///< mean and variance of its score
        std::vector<double> mu;
        std::vector<double> sigma;
    };

    /// Mean and variance of a block's score. Summed when asked for: most blocks move last of all.
    [[nodiscard]] const Moments& score(const Block& block) const noexcept {
        if (block.summed) return block.sums;
        DoublePair sums{};
        for (std::size_t p = 0; p < x_.size(); ++p) {
            sums += DoublePair{block.mu[p], block.sigma[p]} * DoublePair{x_[p], x_[p] * x_[p]};
        }
        block.sums = {sums[0], sums[1]};
        block.summed = true;
        return block.sums;
    }

    /// Adds a step to all steps of the transaction.
    void count(double alpha, double gain) noexcept {
        total_.alpha += alpha;
        total_.gain += gain;
    }

    [[nodiscard]] std::vector<double> margin_variances() const {
        std::vector<double> v(size());
        for (std::size_t r = 0; r < v.size(); ++r) v[r] = margin(r).v;
        return v;
    }

    template <class Shrink>
    void move(Block& block, double alpha, const Shrink& shrink) {
        widen([=, this, &block, &shrink]() SURELEARN_INLINED {
            const double signed_alpha = alpha * block.side.sign;
            const double* const x = x_.data();
            double* const mu = block.mu.data();
            double* const sigma = block.sigma.data();
            const std::size_t n = x_.size();
#pragma GCC ivdep
            for (std::size_t p = 0; p < n; ++p) {
                double shrunk = sigma[p];
                move_mean(mu[p], signed_alpha, shrunk, x[p]);
                if (second_order_) shrink(shrunk, shrunk * (x[p] * x[p]));
                sigma[p] = shrunk;
            }
            block.moved = true;
            block.summed = false;
        });
    }

    /// sum_j b_j and sum_j b_j^2 of b_j = a_j / (1 + 2 p a_j), even and odd features in turn.
    [[nodiscard]] Moments shrunk_sums(const Block& block, double p) const noexcept {
        DoublePair sum{};
        DoublePair squares{};
        const auto add = [&](DoublePair a) {
            DoublePair b = a;
            PrecisionShrink{2.0 * p}(b, a);
            sum += b;
            squares += b * b;
        };
        const auto share = [&](std::size_t j) { return block.sigma[j] * (x_[j] * x_[j]); };
        std::size_t j = 0;
        for (; j + 2 <= x_.size(); j += 2) add(DoublePair{share(j), share(j + 1)});
        if (j < x_.size()) add(DoublePair{share(j), 0.0});
        return {sum[0] + sum[1], squares[0] + squares[1]};
    }

    /// The new sum for averaging of feature p of a block.
    [[nodiscard]] double sum_after(const Diagonal<T>& weights, const Block& block,
                                   std::size_t p) const noexcept {
        const T* const at = weights.cell(features_[p]) + block.side.column;
        const auto c = static_cast<double>(weights.rounds() + 1);
        return average_after(at[weights.average_at()], c, static_cast<T>(block.mu[p]), at[0]);
    }

    [[nodiscard]] bool is_valid(const Diagonal<T>& weights, const Block& block) const noexcept {
        bool sound = true;
        for (std::size_t p = 0; p < x_.size(); ++p) {
            check_mean<T>(block.mu[p], sound);
            check_variance<T>(block.sigma[p], sound);
            if (weights.shape().averaged) check_mean<T>(sum_after(weights, block, p), sound);
        }
        return sound;
    }

    void write(Diagonal<T>& weights, const Block& block) const noexcept {
        for (std::size_t p = 0; p < x_.size(); ++p) {
            T* const at = weights.cell(features_[p]) + block.side.column;
            if (weights.shape().averaged) {
                at[weights.average_at()] = static_cast<T>(sum_after(weights, block, p));
            }
            at[0] = static_cast<T>(block.mu[p]);
            if (second_order_) at[weights.capacity()] = static_cast<T>(block.sigma[p]);
        }
    }

    bool second_order_ = true;
    Step total_;            ///< the sum of all steps
    double largest_ = 0.0;  ///< no |x| is above it
    std::vector<std::size_t> features_;
    std::vector<double> x_;
    std::vector<Block> blocks_;
};

/// Full weights change only within the span of the blocks' sigma f_b, so a transaction is as small
/// as its number of blocks: means s_b of the scores and covariances C_ab = f_a' sigma f_b. With
/// sigma F' = U M for the U of the start, a step is a vector in these coordinates.
template <class T>
class Transaction<Full<T>> {
public:
    template <class R>
    void load(const Full<T>& weights, const R& row, std::span<const Side> sides) {
        const std::size_t n = sides.size();
        directions_.resize(n);
        floor_.resize(n);
        s_.resize(n);
        C_.assign(n * n, 0.0);
        M_.assign(n * n, 0.0);
        move_.assign(n, 0.0);
        factors_.clear();
        for (std::size_t a = 0; a < n; ++a) {
            weights.lay_out(row, std::array{Side{sides[a].column, 1.0}}, directions_[a]);
            weights.transform(directions_[a]);
            floor_[a] = weights.floor(directions_[a]);
            M_[a * n + a] = 1.0;
            s_[a] = 0.0;
            for (const auto& [i, x] : directions_[a].g) s_[a] += weights.means()[i] * x;
        }
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b <= a; ++b) C_[a * n + b] = C_[b * n + a] = inner(a, b);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return s_.size() - 1; }

    [[nodiscard]] Moments margin(std::size_t r) const noexcept {
        return {s_[0] - s_[r + 1], std::max(gram(r, r), floor(r))};
    }

    [[nodiscard]] double gram(std::size_t r, std::size_t s) const noexcept {
        const std::size_t n = s_.size();
        return C_[0] - C_[r + 1] - C_[s + 1] + C_[(r + 1) * n + s + 1];
    }

    [[nodiscard]] std::span<const double> shares(std::size_t r, std::vector<double>& out) const {
        out.assign(1, margin(r).v);
        return out;
    }

    [[nodiscard]] bool apply(std::size_t r, const Step& step, Projection) {
        if (!(gram(r, r) > floor(r))) return false;
        step_mean(r, step.alpha);
        shrink(r, step.gain);
        return true;
    }

    [[nodiscard]] bool apply_together(std::span<const Step> steps, std::span<const double> mixing,
                                      Projection) {
        for (std::size_t r = 0; r < steps.size(); ++r) {
            if (steps[r].moves() && !(gram(r, r) > floor(r))) return false;
        }
        for (std::size_t r = 0; r < steps.size(); ++r) step_mean(r, mixing[r] * steps[r].alpha);
        // Precisions add up, so the order of the gains does not matter.
        for (std::size_t r = 0; r < steps.size(); ++r) shrink(r, mixing[r] * steps[r].gain);
        return true;
    }

    /// As for diagonal weights: G = (gram^-1 + 2 diag(p))^-1, u_r = G_rr, du_r / dp_s = -2 G_rs^2.
    void shrunk(std::span<const double> p, std::span<double> u, std::span<double> slope) const {
        const std::size_t k = p.size();
        for (std::size_t r = 0; r < k; ++r) {
            for (std::size_t s = 0; s < k; ++s) slope[r * k + s] = gram(r, s);
        }
        std::vector<double> column(k);
        for (std::size_t t = 0; t < k; ++t) {  // one g g' after the other
            for (std::size_t r = 0; r < k; ++r) column[r] = slope[r * k + t];
            const double beta = beta_of(2.0 * p[t], column[t]);
            for (std::size_t r = 0; r < k; ++r) {
                for (std::size_t s = 0; s < k; ++s) {
                    slope[r * k + s] -= beta * column[r] * column[s];
                }
            }
        }
        for (std::size_t r = 0; r < k; ++r) u[r] = slope[r * k + r];
        for (double& x : slope) x *= -2.0 * x;
    }

    [[nodiscard]] bool commit(Full<T>& weights) const {
        Change change;
        change.move = expand(move_, weights.size());
        for (const auto& factor : factors_)
            change.factors.push_back(expand(factor, weights.size()));
        return weights.apply(change);
    }

private:
    [[nodiscard]] double inner(std::size_t a, std::size_t b) const noexcept {
        double sum = 0.0;
        for (const auto& [i, x] : directions_[a].g) sum += x * directions_[b].sigma_g[i];
        return sum;
    }

    [[nodiscard]] double floor(std::size_t r) const noexcept { return floor_[0] + floor_[r + 1]; }

    /// M e_r or C e_r, e_r being +1 at the right label and -1 at the rival.
    [[nodiscard]] std::vector<double> towards(std::size_t r, std::span<const double> A) const {
        const std::size_t n = s_.size();
        std::vector<double> out(n);
        for (std::size_t a = 0; a < n; ++a) out[a] = A[a * n] - A[a * n + r + 1];
        return out;
    }

    void step_mean(std::size_t r, double alpha) {
        const auto Ce = towards(r, C_);
        const auto Me = towards(r, M_);
        for (std::size_t a = 0; a < s_.size(); ++a) {
            s_[a] += alpha * Ce[a];
            move_[a] += alpha * Me[a];
        }
    }

    void shrink(std::size_t r, double gain) {
        if (gain == 0.0) return;
        const std::size_t n = s_.size();
        const auto Ce = towards(r, C_);
        const auto Me = towards(r, M_);
        const double beta = beta_of(gain, Ce[0] - Ce[r + 1]);
        std::vector<double> factor = Me;
        for (double& x : factor) x *= std::sqrt(beta);
        factors_.push_back(std::move(factor));
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) {
                C_[a * n + b] -= beta * Ce[a] * Ce[b];
                M_[a * n + b] -= beta * Me[a] * Ce[b];
            }
        }
    }

    /// sum_b c_b sigma f_b.
    [[nodiscard]] std::vector<double> expand(std::span<const double> c, std::size_t size) const {
        std::vector<double> out(size, 0.0);
        for (std::size_t b = 0; b < c.size(); ++b) {
            for (std::size_t i = 0; i < size && c[b] != 0.0; ++i) {
                out[i] += c[b] * directions_[b].sigma_g[i];
            }
        }
        return out;
    }

    std::vector<Direction> directions_;
    std::vector<double> floor_;
    std::vector<double> s_;
    std::vector<double> C_;
    std::vector<double> M_;
    std::vector<double> move_;
    std::vector<std::vector<double>> factors_;
};

}  // namespace surelearn
