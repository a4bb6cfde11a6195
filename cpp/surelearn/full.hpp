// Full weights: one mean for each weight and a covariance for each pair of them.
// Knows rows and steps; knows neither rules nor right labels.
//
// The weights of all classes are one vector, one block per class, with the intercept last in each
// block. All arithmetic is in double; T is the storage type.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/covariance.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/table.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

/// A change of the weights: mu += move, sigma -= sum_i factor_i factor_i'. Vectors over all
/// weights.
struct Change {
    std::vector<double> move;
    std::vector<std::vector<double>> factors;
};

/// A sparse vector g over all weights, and sigma g.
struct Direction {
    std::vector<detail::VectorEntry> g;
    std::vector<double> sigma_g;  ///< empty until needed
};

template <class T>
class Full {
public:
    using Number = T;
    using SomeRow = Row<std::int32_t, float>;
    struct Work {
        Direction direction;
        Change change;
    };
    static constexpr bool fetches_ahead = false;
    static constexpr bool holds_classes = true;
    static constexpr bool holds_coded_problems = false;
    static constexpr bool bounds_variance = false;
    static constexpr bool touches_all_weights = true;
    /// A step on one constraint is the exact projection: nothing is dropped.
    static constexpr bool meets_one_constraint = true;

    explicit Full(const Shape& shape)
        : shape_(shape),
          size_(product(shape.n_rows(), shape.n_columns)),
          means_(product(size_, shape.averaged ? 2 : 1)),
          sigma_(size_) {
        std::fill_n(means_.data(), means_.size(), T{0});
        for (std::size_t i = 0; i < size_; ++i) sigma_.set(i, i, static_cast<T>(shape.prior));
        look_up_variances();
    }

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] double prior() const noexcept { return shape_.prior; }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
    void set_rounds(std::uint64_t rounds) noexcept { rounds_ = rounds; }
    /// How many threads a large update may use; the result does not depend on it.
    void set_threads(std::size_t threads) noexcept { sigma_.set_threads(threads); }
    [[nodiscard]] std::size_t bytes() const noexcept { return sigma_.bytes(); }

    /// Number of weights: features with intercept, times columns.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* means() noexcept { return means_.data(); }
    [[nodiscard]] const T* means() const noexcept { return means_.data(); }
    [[nodiscard]] std::size_t weight(std::size_t j, std::size_t k) const noexcept {
        return k * shape_.n_rows() + j;
    }

    /// The covariance of weights i and j.
    [[nodiscard]] T sigma(std::size_t i, std::size_t j) const noexcept { return sigma_(i, j); }
    /// The whole covariance, row after row; valid until the next update.
    [[nodiscard]] const T* square() { return sigma_.square(); }
    /// The same as a copy, for readers that share the weights.
    void copy_square(T* to) const { sigma_.copy_square(to); }
    void set_square(const T* from) {
        sigma_.assign_square(from);
        look_up_variances();
    }
    /// Does what updates have put off. Call it before others may read the weights.
    void settle() { sigma_.settle(); }

    /// Mean and variance of the margin of g = sign x.
    template <class R>
    [[nodiscard]] Moments moments(const R& row, const std::array<Side, 1>& g, const R&,
                                  Work& work) const {
        double m = 0.0;
        shape_.each_feature(row, [&](std::size_t j, double x) { m += means()[j] * x; });
        return {g[0].sign * m, variance(row, g, work)};
    }

    /// The mean score of each column into `s`.
    template <class R>
    void scores(const R& row, std::span<double> s, const R& = {}) const noexcept {
        for (std::size_t k = 0; k < s.size(); ++k) {
            s[k] = 0.0;
            const T* const mu = means() + weight(0, k);
            shape_.each_feature(row, [&](std::size_t j, double x) { s[k] += mu[j] * x; });
        }
    }

    /// The mean score of every column with the averaged means.
    template <class R>
    void averaged_scores(const R& row, std::span<double> s) const noexcept {
        for (std::size_t k = 0; k < s.size(); ++k) {
            s[k] = 0.0;
            shape_.each_feature(row, [&](std::size_t j, double x) { s[k] += mean(j, k) * x; });
        }
    }

    /// g' sigma g, but not below its rounding error; `work` keeps g for `update`.
    template <std::size_t N, class R>
    [[nodiscard]] double variance(const R& row, const std::array<Side, N>& sides,
                                  Work& work) const {
        Direction& direction = work.direction;
        lay_out(row, sides, direction);
        // A row with many features: the update reads every line anyway. The test ignores the number
        // of classes: a later class must not change the order of these sums.
        if (row.size() * 4 >= shape_.n_features) transform(direction);
        return std::max(raw_variance(direction), floor(direction));
    }

    /// The variance of every column's score.
    template <class R>
    void variances(const R& row, std::span<double> v) const {
        Direction direction;
        for (std::size_t k = 0; k < v.size(); ++k) {
            lay_out(row, std::array{Side{k, 1.0}}, direction);
            v[k] = std::max(raw_variance(direction), 0.0);
        }
    }

    /// The covariance of every two columns' scores; `c` is a square.
    template <class R>
    void covariances(const R& row, std::span<double> c) const {
        const std::size_t K = shape_.n_columns;
        std::vector<Direction> f(K);
        for (std::size_t a = 0; a < K; ++a) lay_out(row, std::array{Side{a, 1.0}}, f[a]);
        for (std::size_t a = 0; a < K; ++a) {
            for (std::size_t b = 0; b <= a; ++b) c[a * K + b] = c[b * K + a] = inner(f[a], f[b]);
        }
    }

    /// The contributions to v that a rule may ask for; nothing is dropped, so there is only one.
    template <std::size_t N, class R>
    [[nodiscard]] std::span<const double> shares(const R&, const std::array<Side, N>&, double v,
                                                 std::vector<double>& out) const {
        out.assign(1, v);
        return out;
    }

    /// mu += alpha sigma g, sigma -= beta (sigma g)(sigma g)', beta = gain / (1 + gain v), for the
    /// g that `variance` has prepared. If a variance would become zero or a number not finite, or
    /// if v is lost in rounding, nothing changes and it returns false.
    template <std::size_t N, class R>
    [[nodiscard]] bool update(const R&, const std::array<Side, N>&, const Step& step, double v,
                              Projection, Work& work) {
        transform(work.direction);
        if (!(raw_variance(work.direction) > floor(work.direction))) return false;
        const auto& sigma_g = work.direction.sigma_g;
        // Each factor gets the root of beta: c_i c_j = c_j c_i keeps sigma symmetric to the bit.
        const double root = std::sqrt(beta_of(step.gain, v));
        work.change.move.assign(size_, 0.0);
        work.change.factors.resize(1);
        work.change.factors[0].assign(size_, 0.0);
        for (std::size_t i = 0; i < size_; ++i) {
            work.change.move[i] = step.alpha * sigma_g[i];
            work.change.factors[0][i] = root * sigma_g[i];
        }
        return apply(work.change);
    }

    /// Applies a change; if a variance would become zero or a number infinite, changes nothing and
    /// returns false.
    [[nodiscard]] bool apply(const Change& change) {
        if (!is_valid(change)) return false;
        for (std::size_t i = 0; i < size_; ++i) {
            move_mean(i, change.move[i]);
            variances_[i] = static_cast<T>(variances_[i] - lost(change, i));
        }
        sigma_.subtract(change.factors);
        return true;
    }

    void end_round() noexcept { ++rounds_; }

    /// For scale-free rules: as for diagonal weights.
    void keep_in_range(std::span<const std::uint8_t> known = {}) {
        constexpr double least = sizeof(T) == 4 ? 1e-15 : 1e-100;
        for (; witness_ < size_; ++witness_) {
            const bool counts = known.empty() || known[witness_ / shape_.n_rows()] != 0;
            if (counts && variances_[witness_] >= least) return;
        }
        witness_ = 0;
        if (size_ > 0) rescale(known);
    }

    void look_again() noexcept { witness_ = 0; }

    /// Mean of one weight; with averaging, the average over all rounds.
    [[nodiscard]] double mean(std::size_t j, std::size_t k) const noexcept {
        const T mu = means()[weight(j, k)];
        if (!shape_.averaged) return mu;
        return average_of(mu, means()[size_ + weight(j, k)], static_cast<double>(rounds_ + 1));
    }

    /// The same weights with other columns, as for diagonal weights; a new class has no covariance
    /// with the others.
    [[nodiscard]] Full with_columns(std::span<const std::int64_t> from) const {
        Shape shape = shape_;
        shape.n_columns = from.size();
        Full result(shape);
        result.rounds_ = rounds_;
        result.set_threads(sigma_.threads());
        for (std::size_t a = 0; a < from.size(); ++a) {
            for (std::size_t b = 0; b < from.size(); ++b) {
                if (from[a] < 0 || from[b] < 0) continue;
                copy_block(static_cast<std::size_t>(from[a]), static_cast<std::size_t>(from[b]),
                           result, a, b);
            }
        }
        result.look_up_variances();
        return result;
    }

    /// The one vector of two classes as two blocks: means -mu/2 and +mu/2, covariance sigma/2 each
    /// and none between them. The margin and its variance do not change.
    [[nodiscard]] Full split() const {
        Shape shape = shape_;
        shape.n_columns = 2;
        shape.prior *= 0.5;
        Full result(shape);
        result.rounds_ = rounds_;
        result.set_threads(sigma_.threads());
        copy_block(0, 0, result, 0, 0, T{-0.5});
        copy_block(0, 0, result, 1, 1, T{0.5});
        result.look_up_variances();
        return result;
    }

    /// sigma g; each number is summed in the order of g's entries.
    void transform(Direction& direction) const {
        if (!direction.sigma_g.empty()) return;
        direction.sigma_g.resize(size_);
        sigma_.multiply(direction.g, direction.sigma_g.data());
    }

    /// The entries of g: sign x in the column of each side.
    template <std::size_t N, class R>
    void lay_out(const R& row, const std::array<Side, N>& sides, Direction& direction) const {
        direction.g.clear();
        direction.sigma_g.clear();
        for (const Side& side : sides) {
            shape_.each_feature(row, [&](std::size_t j, double x) {
                direction.g.push_back({weight(j, side.column), side.sign * x});
            });
        }
    }

    /// g' sigma g from the stored numbers; rounding may make it negative.
    [[nodiscard]] double raw_variance(const Direction& direction) const noexcept {
        double v = 0.0;
        if (!direction.sigma_g.empty()) {
            for (const auto& [i, x] : direction.g) v += x * direction.sigma_g[i];
            return v;
        }
        for (std::size_t p = 0; p < direction.g.size(); ++p) {
            const auto& [i, x] = direction.g[p];
            double half = 0.0;
            for (std::size_t q = 0; q < p; ++q) {
                half += sigma(i, direction.g[q].index) * direction.g[q].value;
            }
            v += x * (sigma(i, i) * x + 2.0 * half);
        }
        return v;
    }

    /// The rounding error of g' sigma g: a smaller value says nothing about the variance.
    [[nodiscard]] double floor(const Direction& direction) const noexcept {
        double sum = 0.0;
        for (const auto& [i, x] : direction.g) sum += variances_[i] * (x * x);
        return std::numeric_limits<T>::epsilon() * sum;
    }

private:
    [[nodiscard]] double inner(const Direction& f, const Direction& g) const noexcept {
        double sum = 0.0;
        for (const auto& [i, x] : f.g) {
            double part = 0.0;
            for (const auto& [j, y] : g.g) part += sigma(i, j) * y;
            sum += x * part;
        }
        return sum;
    }

    void look_up_variances() {
        variances_.resize(size_);
        for (std::size_t i = 0; i < size_; ++i) variances_[i] = sigma(i, i);
    }

    /// The decrease of the variance of weight i, with the same bits as in the covariance.
    [[nodiscard]] static double lost(const Change& change, std::size_t i) noexcept {
        double sum = 0.0;
        for (const auto& factor : change.factors) sum += factor[i] * factor[i];
        return sum;
    }

    /// Whether every mean is finite and every variance positive after rounding to T.
    [[nodiscard]] bool is_valid(const Change& change) const noexcept {
        bool sound = true;
        for (std::size_t i = 0; i < size_; ++i) {
            check_variance<T>(variances_[i] - lost(change, i), sound);
            check_mean<T>(means()[i] + change.move[i], sound);
            if (shape_.averaged) check_mean<T>(sum_after(i, change.move[i]), sound);
        }
        return sound;
    }

    /// The new sum for averaging.
    [[nodiscard]] double sum_after(std::size_t i, double move) const noexcept {
        const double mu = means()[i];
        const auto c = static_cast<double>(rounds_ + 1);
        return average_after(means()[size_ + i], c, static_cast<T>(mu + move), mu);
    }

    void move_mean(std::size_t i, double move) noexcept {
        if (shape_.averaged) means()[size_ + i] = static_cast<T>(sum_after(i, move));
        means()[i] = static_cast<T>(means()[i] + move);
    }

    /// Copies block (a, b) of the covariance and, on the diagonal, the means of a. `share`
    /// multiplies the means, |share| the covariance.
    void copy_block(std::size_t a, std::size_t b, Full& to, std::size_t to_a, std::size_t to_b,
                    T share = T{1}) const {
        const std::size_t n = shape_.n_rows();
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = to_a * n + i;
            for (std::size_t j = 0; j < n; ++j) {
                to.sigma_.set(at, to_b * n + j, sigma(a * n + i, b * n + j) * std::fabs(share));
            }
            if (a != b) continue;
            // Half of the smallest number rounds to zero, which a variance must not be.
            to.sigma_.set(at, at, std::max(to.sigma(at, at), std::numeric_limits<T>::denorm_min()));
            for (std::size_t part = 0; part < (shape_.averaged ? 2 : 1); ++part) {
                const T mu = means()[part * size_ + a * n + i] * share;
                to.means()[part * to.size_ + to_a * n + i] = mu + T{0};  // no zero with a sign
            }
        }
    }

    void rescale(std::span<const std::uint8_t> known) {
        const auto counts = [&](std::size_t i) {
            return known.empty() || known[i / shape_.n_rows()] != 0;
        };
        double largest_mu = 0.0;
        double largest_sigma = 0.0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (!counts(i)) continue;
            largest_sigma = std::max(largest_sigma, static_cast<double>(variances_[i]));
            for (std::size_t at = i; at < means_.size(); at += size_) {
                largest_mu = std::max(largest_mu, std::fabs(static_cast<double>(means()[at])));
            }
        }
        const int power = -std::ilogb(largest_sigma) / 2;
        constexpr double room = 1e-3 * static_cast<double>(std::numeric_limits<T>::max());
        if (std::ldexp(largest_mu, power) > room) return;  // see diagonal weights
        shape_.prior = std::min(std::ldexp(shape_.prior, 2 * power), room);
        for (std::size_t at = 0; at < means_.size(); ++at) {
            means()[at] = std::ldexp(means()[at], power);
        }
        sigma_.replace([power](T a) { return std::ldexp(a, 2 * power); });
        for (std::size_t i = 0; i < size_; ++i) {
            if (!counts(i)) sigma_.set(i, i, static_cast<T>(shape_.prior));
        }
        look_up_variances();
    }

    Shape shape_;
    std::size_t size_;
    Table<T> means_;  ///< means, then the sums for averaging
    Covariance<T> sigma_;
    std::vector<T> variances_;  ///< a contiguous copy of the diagonal of sigma
    std::uint64_t rounds_ = 0;
    std::size_t witness_ = 0;
};

static_assert(Weights<Full<float>> && Weights<Full<double>>);

}  // namespace surelearn
