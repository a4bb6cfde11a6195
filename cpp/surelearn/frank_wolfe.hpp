// The hinge loss of structures by block-coordinate Frank-Wolfe. Knows no kind of structure.
//
//     min_w  1/2 (w - w_0)' Sigma^-1 (w - w_0) + sum_i C_i max_z (Delta(y_i, z) - w . g_i(z))
//
// with g_i(z) = Psi(x_i, y_i) - Psi(x_i, z). Its dual has a distribution alpha_i over answers for
// each example, and w = w_0 + Sigma sum_i C_i sum_z alpha_i(z) g_i(z). A visit of example i moves
// probability to the answer that violates its margin most, by as much as increases the dual most
// (Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013). The probability comes from the active answer
// with the smallest margin violation ("pairwise" steps, Lacoste-Julien & Jaggi 2015), not from all
// answers in proportion: that takes far fewer passes to the same gap.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "surelearn/classes.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/mean_reader.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/structured.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The two sums of the objective that need all examples.
struct HingeSums {
    double hinge = 0.0;   ///< sum_i C_i hinge_i(w)
    double linear = 0.0;  ///< sum_i C_i sum_z alpha_i(z) Delta(y_i, z)
};

namespace detail {

/// Examples whose visits change nothing are visited less and less often, at least every 16 passes.
class Rests {
public:
    explicit Rests(std::size_t n) : left_(n, 0), length_(n, 0) {}

    [[nodiscard]] bool skip(std::size_t i) noexcept {
        if (left_[i] == 0) return false;
        --left_[i];
        return true;
    }
    void note(std::size_t i, bool moved) noexcept {
        length_[i] = moved ? 0 : static_cast<std::uint8_t>(std::min(15, 2 * length_[i] + 1));
        left_[i] = length_[i];
    }

private:
    std::vector<std::uint8_t> left_;
    std::vector<std::uint8_t> length_;
};

}  // namespace detail

/// Structures: the active answers of each example are kept, with their probabilities.
template <Decoder<double> D>
class FrankWolfe {
public:
    FrankWolfe(Diagonal<double>& weights, const typename D::Data& data,
               std::span<const double> bound)
        : weights_(weights),
          bound_(bound),
          decoder_(weights, data),
          active_(data.size()),
          rests_(data.size()) {}

    void visit(std::size_t i) {
        if (decoder_.empty(i) || rests_.skip(i)) return;
        rests_.note(i, step(i));
    }

    [[nodiscard]] HingeSums sums() {
        HingeSums sums;
        for (std::size_t i = 0; i < active_.size(); ++i) {
            if (decoder_.empty(i)) continue;
            const Truth y = decoder_.truth(i);
            decoder_.load(i, Means::present);
            const double own = decoder_.score(y);
            decoder_.augment_loss(y);
            decoder_.best(answer_);
            sums.hinge += bound_[i] * std::max(0.0, decoder_.score(answer_) - own);
            for (const Active& one : active_[i]) {
                sums.linear += bound_[i] * one.alpha * decoder_.distance(y, one.answer);
            }
        }
        return sums;
    }

private:
    using Answer = typename D::Answer;
    using Truth = typename D::Truth;
    struct Active {
        Answer answer;
        double alpha;
    };

    bool step(std::size_t i) {
        const Truth y = decoder_.truth(i);
        auto& active = active_[i];
        if (active.empty()) active.push_back({Answer(answer_of(y)), 1.0});
        decoder_.load(i, Means::present);
        decoder_.augment_loss(y);
        decoder_.best(answer_);
        const auto violation = [&](const Active& one) { return decoder_.score(one.answer); };
        const auto from = std::ranges::min_element(active, std::less{}, violation);
        const double gain = decoder_.score(answer_) - violation(*from);
        if (!(gain > 1e-12)) return false;
        decoder_.difference(from->answer, answer_, g_);
        const double v = g_.moments(weights_).v;
        const double most = v > 0.0 ? gain / (bound_[i] * v) : from->alpha;
        const double moved = std::min(from->alpha, most);
        g_.forget();
        if (!g_.update(weights_, {bound_[i] * moved, 0.0}, v, Projection::precision)) return false;
        from->alpha -= moved;
        if (from->alpha <= 0.0) active.erase(from);
        put(active, moved);
        return true;
    }

    /// Gives probability to the answer that was found.
    void put(std::vector<Active>& active, double alpha) {
        for (Active& one : active) {
            if (one.answer == answer_) {
                one.alpha += alpha;
                return;
            }
        }
        active.push_back({answer_, alpha});
    }

    [[nodiscard]] static Answer answer_of(const Truth& y) {
        if constexpr (std::convertible_to<Truth, Answer>) {
            return y;
        } else {
            return Answer(y.begin(), y.end());
        }
    }

    Diagonal<double>& weights_;
    std::span<const double> bound_;
    D decoder_;
    std::vector<std::vector<Active>> active_;
    detail::Rests rests_;
    Answer answer_{};
    SparseDifference<double> g_;
};

/// Rows: all answers of an example are known, so a visit finds the best distribution over them, not
/// just the best step. With beta = C alpha it solves
///
///     min 1/2 sum_k v_k (beta'_k - beta_k)^2 - sum_k (s_k + Delta(y, k)) beta'_k
///     over beta' >= 0 with sum beta' = C,   v_k = x' Sigma_k x,
///
/// whose solution is beta'_k = max(0, beta_k + (s_k + Delta(y, k) - theta) / v_k)
/// (Crammer & Singer 2001; Keerthi et al. 2008).
template <class Index, class Value>
class ClassFrankWolfe {
public:
    using Data = LabelledRows<Index, Value>;
    using Classes = ClassDecoder<MeanReader<double>, Index, Value>;

    ClassFrankWolfe(Diagonal<double>& weights, const Data& data, std::span<const double> bound)
        : weights_(weights),
          data_(data),
          bound_(bound),
          decoder_(weights, data),
          n_classes_(decoder_.n_classes()),
          beta_(data.size() * n_classes_, 0.0),
          rests_(data.size()),
          change_(n_classes_),
          v_(n_classes_) {
        for (std::size_t i = 0; i < data.size(); ++i) {
            beta_[i * n_classes_ + static_cast<std::size_t>(data.y[i])] = bound[i];
        }
    }

    void visit(std::size_t i) {
        if (rests_.skip(i)) return;
        decoder_.load(i, Means::present);
        decoder_.augment_loss(decoder_.truth(i));
        measure(i);
        const bool moved = solve(i);
        if (moved) move(i);
        rests_.note(i, moved);
    }

    [[nodiscard]] HingeSums sums() {
        HingeSums sums;
        for (std::size_t i = 0; i < data_.size(); ++i) {
            const std::int32_t y = decoder_.truth(i);
            decoder_.load(i, Means::present);
            const double own = decoder_.score(y);
            decoder_.augment_loss(y);
            const double most = *std::ranges::max_element(decoder_.scores());
            sums.hinge += bound_[i] * std::max(0.0, most - own);
            for (std::size_t k = 0; k < n_classes_; ++k) {
                sums.linear +=
                    beta_[i * n_classes_ + k] * decoder_.distance(y, static_cast<std::int32_t>(k));
            }
        }
        return sums;
    }

private:
    [[nodiscard]] bool is_margin() const noexcept { return weights_.shape().n_columns == 1; }

    /// v_k; the first of two classes has no weights.
    void measure(std::size_t i) {
        const auto row = data_.matrix.stored(i);
        const bool second_order = weights_.shape().second_order;
        const auto v = std::span(v_).subspan(is_margin() ? 1 : 0);
        std::ranges::fill(v_, 0.0);
        const auto add = [&](std::size_t j, double x) {
            const double* const sigma = weights_.cell(j) + weights_.capacity();
            for (std::size_t k = 0; k < v.size(); ++k) v[k] += sigma[k] * (x * x);
        };
        if (second_order) {
            for (std::size_t p = 0; p < row.size(); ++p) add(row.feature(p), row.x(p));
            if (data_.intercept) add(data_.matrix.n_features(), 1.0);
            return;
        }
        double square = data_.intercept ? 1.0 : 0.0;
        for (std::size_t p = 0; p < row.size(); ++p) square += row.x(p) * row.x(p);
        std::ranges::fill(v, square);
    }

    /// The change of beta; false if there is none.
    [[nodiscard]] bool solve(std::size_t i) {
        const auto s = decoder_.scores();
        const auto beta = std::span(beta_).subspan(i * n_classes_, n_classes_);
        if (!(v_.back() > 0.0)) return move_all(i, s, beta);
        if (is_margin()) {
            const double to = std::clamp(beta[1] + (s[1] - s[0]) / v_[1], 0.0, bound_[i]);
            change_ = {beta[1] - to, to - beta[1]};
        } else {
            const double theta = threshold(s, beta, bound_[i]);
            for (std::size_t k = 0; k < n_classes_; ++k) {
                change_[k] = std::max(0.0, beta[k] + (s[k] - theta) / v_[k]) - beta[k];
            }
        }
        return take(i, beta);
    }

    /// A row without features: all of beta goes to the class with the largest cost.
    [[nodiscard]] bool move_all(std::size_t i, std::span<const double> s, std::span<double> beta) {
        const auto worst = static_cast<std::size_t>(std::ranges::max_element(s) - s.begin());
        for (std::size_t k = 0; k < n_classes_; ++k) {
            change_[k] = (k == worst ? bound_[i] : 0.0) - beta[k];
        }
        return take(i, beta);
    }

    [[nodiscard]] bool take(std::size_t i, std::span<double> beta) {
        double most = 0.0;
        for (const double d : change_) most = std::max(most, std::abs(d));
        if (!(most > 1e-15 * bound_[i])) return false;
        for (std::size_t k = 0; k < n_classes_; ++k) beta[k] += change_[k];
        return true;
    }

    /// The theta at which the new beta sum to C: from that of all classes, without those that it
    /// makes negative, until none is. Dropping classes only raises theta, so none comes back.
    [[nodiscard]] double threshold(std::span<const double> s, std::span<const double> beta,
                                   double bound) {
        active_.resize(n_classes_);
        for (std::size_t k = 0; k < n_classes_; ++k) active_[k] = k;
        while (true) {
            double sum = -bound;
            double rate = 0.0;
            for (const std::size_t k : active_) {
                sum += beta[k] + s[k] / v_[k];
                rate += 1.0 / v_[k];
            }
            const double theta = sum / rate;
            const std::size_t before = active_.size();
            std::erase_if(active_,
                          [&](std::size_t k) { return !(beta[k] + (s[k] - theta) / v_[k] > 0.0); });
            if (active_.size() == before || active_.empty()) return theta;
        }
    }

    /// mu_k -= change_k Sigma_k x.
    void move(std::size_t i) {
        const auto row = data_.matrix.stored(i);
        const auto d = std::span(change_).subspan(is_margin() ? 1 : 0);
        const bool second_order = weights_.shape().second_order;
        weights_.forget_bounds();
        const auto add = [&](std::size_t j, double x) {
            double* const mu = weights_.cell(j);
            const double* const sigma = mu + weights_.capacity();
            for (std::size_t k = 0; k < d.size(); ++k) {
                mu[k] -= d[k] * (second_order ? sigma[k] * x : x);
            }
        };
        for (std::size_t p = 0; p < row.size(); ++p) add(row.feature(p), row.x(p));
        if (data_.intercept) add(data_.matrix.n_features(), 1.0);
    }

    Diagonal<double>& weights_;
    const Data& data_;
    std::span<const double> bound_;
    Classes decoder_;
    std::size_t n_classes_;
    std::vector<double> beta_;
    detail::Rests rests_;
    std::vector<double> change_;
    std::vector<double> v_;
    std::vector<std::size_t> active_;
};

}  // namespace surelearn
