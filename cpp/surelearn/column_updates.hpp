// Many columns in one round: each column of diagonal weights is a separate binary
// problem, and a row updates all of them in one go. Knows neither rules nor codes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The steps of all columns in a round; a column whose alpha and gain are zero does not change.
struct ColumnSteps {
    std::vector<double> s;      ///< mean score of each label or problem
    std::vector<double> own;    ///< the same, in the order of the quads; as all that follow
    std::vector<double> v;      ///< its variance
    std::vector<double> alpha;  ///< with the sign of g in that column
    std::vector<double> gain;
    std::vector<Quad> moving;

    void resize(std::size_t n_columns, std::size_t n_quads) {
        s.resize(n_columns);
        for (auto* part : {&own, &v, &alpha, &gain}) part->resize(4 * n_quads);
    }
};

template <class T>
class ColumnUpdates {
public:
    /// mu_b += alpha_b sigma_b x and sigma_b^-1 += gain_b x x', without what the projection drops,
    /// for all columns b. If a variance would become zero or a number not finite, nothing changes
    /// and it returns false.
    template <class R>
    [[nodiscard]] bool update(Diagonal<T>& weights, const R& row, const ColumnSteps& steps,
                              Projection projection) {
        weights.forget_bounds();
        const std::size_t count =
            4 * kept(weights.shape()) * steps.moving.size() * (row.size() + 1);
        if (old_.size() < count) old_.resize(count);
        const bool precision = projection == Projection::precision;
        const bool sound = with_values(row, [&](const auto& entries) {
            return !weights.shape().second_order ? move<Kind::means>(weights, entries, steps)
                   : precision                   ? move<Kind::precision>(weights, entries, steps)
                                                 : move<Kind::covariance>(weights, entries, steps);
        });
        if (!sound || !averaged(weights, row, steps.moving)) {
            put_back(weights, row, steps.moving);
            return false;
        }
        return true;
    }

private:
    enum class Kind { means, precision, covariance };

    /// How many numbers of a weight an update saves: the mean, and the variance if there is one.
    [[nodiscard]] static std::size_t kept(const Shape& shape) noexcept {
        return shape.second_order ? 2 : 1;
    }

    /// Updates all columns that move, for all features, and saves the old numbers in `old_` in the
    /// same order. It is one function so that all of it is compiled for AVX2.
    template <Kind kind, class R>
    [[nodiscard]] bool move(Diagonal<T>& weights, const R& row, const ColumnSteps& steps) {
        return widen([=, this, &weights, &row, &steps]() SURELEARN_INLINED {
            const Shape& shape = weights.shape();
            const std::size_t n = weights.capacity();
            const std::size_t count = row.size() + (shape.intercept ? 1 : 0);
            const double* const alphas = steps.alpha.data();
            const double* const gains = steps.gain.data();
            const double* const vs = steps.v.data();
            FourMask sound{-1, -1, -1, -1};
            [[maybe_unused]] const Four one{1.0, 1.0, 1.0, 1.0};
            const Quads moving(steps.moving);
            T* old = old_.data();
            for (std::size_t p = 0; p < count; ++p) {
                const bool entry = p < row.size();
                const double x = entry ? row.x(p) : 1.0;
                const Four xs{x, x, x, x};
                T* const at = weights.cell(entry ? row.feature(p) : shape.n_features);
                const auto move_four = [&](const auto& b, const Run& i)
                                           __attribute__((always_inline)) {
                                               Four mu, alpha, sigma, gain, v;
                                               load(at, b, mu);
                                               load(alphas, i, alpha);
                                               old = keep(at, b, old);
                                               if constexpr (kind == Kind::means) {
                                                   move_mean<4>(mu, alpha, one, xs);
                                               } else {
                                                   load(at + n, b, sigma);
                                                   load(gains, i, gain);
                                                   old = keep(at + n, b, old);
                                                   move_mean<4>(mu, alpha, sigma, xs);
                                                   const Four a = sigma * (x * x);
                                                   if constexpr (kind == Kind::precision) {
                                                       shrink_precision<4>(sigma, a, gain);
                                                   } else {
                                                       load(vs, i, v);
                                                       shrink_covariance<4>(sigma, a, gain, v);
                                                   }
                                                   check_variance<T, 4>(sigma, sound);
                                                   store(sigma, b, at + n);
                                               }
                                               check_mean<T, 4>(mu, sound);
                                               store(mu, b, at);
                                           };
                moving.visit(move_four);
            }
            return (sound[0] & sound[1] & sound[2] & sound[3]) != 0;
        });
    }

    template <class Positions>
    [[gnu::always_inline]] static T* keep(const T* at, const Positions& positions,
                                          T* old) noexcept {
        for (std::size_t i = 0; i < 4; ++i) old[i] = at[positions[i]];
        return old + 4;
    }

    /// f(feature, column, position in `old_`) in the order of `move`, once per column.
    template <class R, class F>
    void each(const Shape& shape, const R& row, std::span<const Quad> moving, const F& f) const {
        const T* old = old_.data();
        shape.each_feature(row, [&](std::size_t j, double) {
            for (const Quad& quad : moving) {
                for (std::size_t i = 0; i < quad.count; ++i) f(j, quad.column[i], old + i);
                old += 4 * kept(shape);
            }
        });
    }

    /// The sums for averaging: check all, then write. Separate from `move`, since gcc 12 reuses a
    /// number from before it was rounded to T and stored.
    template <class R>
    [[nodiscard]] bool averaged(Diagonal<T>& weights, const R& row,
                                std::span<const Quad> moving) const {
        if (!weights.shape().averaged) return true;
        const auto c = static_cast<double>(weights.rounds() + 1);
        const auto sums = [&](const auto& take) {
            each(weights.shape(), row, moving, [&](std::size_t j, std::size_t b, const T* old) {
                T* const at = weights.cell(j);
                T& q = at[weights.average_at() + b];
                take(q, average_after(q, c, at[b], *old));
            });
        };
        bool sound = true;
        sums([&](T&, double sum) { check_mean<T>(sum, sound); });
        if (sound) sums([](T& q, double sum) { q = static_cast<T>(sum); });
        return sound;
    }

    template <class R>
    void put_back(Diagonal<T>& weights, const R& row, std::span<const Quad> moving) const {
        const std::size_t n = weights.capacity();
        each(weights.shape(), row, moving, [&](std::size_t j, std::size_t b, const T* old) {
            for (std::size_t part = 0; part < kept(weights.shape()); ++part) {
                weights.cell(j)[part * n + b] = old[4 * part];
            }
        });
    }

    std::vector<T> old_;  ///< the numbers that the last update has overwritten
};

}  // namespace surelearn
