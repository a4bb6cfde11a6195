// Rooms 3 and 6, many columns in one round: each column of diagonal weights is a problem of its
// own, and a row moves all of them while its features are at hand. Knows neither rules nor codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// What becomes of every column in a round; a column with alpha and gain zero stays as it is.
struct ColumnSteps {
    std::vector<double> s;      ///< mean score of every label or problem
    std::vector<double> v;      ///< its variance, in the places of the quads
    std::vector<double> alpha;  ///< with the sign of g in that column; as all that follow
    std::vector<double> gain;
    std::vector<Quad> moving;

    void resize(std::size_t n_columns, std::size_t n_quads) {
        s.resize(n_columns);
        for (auto* part : {&v, &alpha, &gain}) part->resize(4 * n_quads);
    }
};

template <class T>
class ColumnUpdates {
public:
    /// mu_b += alpha_b sigma_b x and sigma_b^-1 += gain_b x x', less what the projection drops, for
    /// all columns b. If a variance would become zero or any number not finite, nothing changes and
    /// the answer is false.
    template <class R>
    [[nodiscard]] bool update(Diagonal<T>& weights, const R& row, const ColumnSteps& steps,
                              Projection projection) {
        const std::size_t count =
            4 * kept(weights.shape()) * steps.moving.size() * (row.size() + 1);
        if (old_.size() < count) old_.resize(count);
        const bool precision = projection == Projection::precision;
        const bool sound = !weights.shape().second_order ? move<Kind::means>(weights, row, steps)
                           : precision ? move<Kind::precision>(weights, row, steps)
                                       : move<Kind::covariance>(weights, row, steps);
        if (!sound || !averaged(weights, row, steps.moving)) {
            put_back(weights, row, steps.moving);
            return false;
        }
        return true;
    }

private:
    enum class Kind { means, precision, covariance };

    /// Numbers of a weight that are kept in an update: the mean, the variance where there is one.
    [[nodiscard]] static std::size_t kept(const Shape& shape) noexcept {
        return shape.second_order ? 2 : 1;
    }

    /// All columns that move, of all features, and what they were into `old_` in the order they are
    /// moved. All in one function, so that every line of it is compiled for the wider processor.
    template <Kind kind, class R>
    SURELEARN_WIDEN [[nodiscard]] bool move(Diagonal<T>& weights, const R& row,
                                            const ColumnSteps& steps) {
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
            const auto move_four = [&](const auto& b, const Run& i) __attribute__((always_inline)) {
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
    }

    template <class Positions>
    [[gnu::always_inline]] static T* keep(const T* at, const Positions& positions,
                                          T* old) noexcept {
        for (std::size_t i = 0; i < 4; ++i) old[i] = at[positions[i]];
        return old + 4;
    }

    /// f(feature, column, place of what it was) in the order of `move`, each column once.
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

    /// The sums for averaging: first look, then write. Apart from `move`: gcc 12
    /// takes a number that was rounded to T and read again for the one before rounding.
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

    std::vector<T> old_;  ///< what the last update has overwritten
};

}  // namespace surelearn
