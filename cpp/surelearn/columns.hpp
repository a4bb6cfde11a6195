// Rooms 3 and 6, many columns in one round: each column of diagonal weights is a problem of its
// own, and a row moves all of them while its features are at hand. Knows neither rules nor codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/lanes.hpp"
#include "surelearn/table.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// What becomes of every column in a round; a column with alpha and gain zero stays as it is.
struct Turns {
    std::vector<double> s;      ///< mean score
    std::vector<double> v;      ///< its variance
    std::vector<double> alpha;  ///< with the sign of g in that column
    std::vector<double> gain;
    std::vector<Stretch> moving;  ///< every column that moves lies in one of them

    void resize(std::size_t n_columns) {
        for (auto* part : {&s, &v, &alpha, &gain}) part->resize(n_columns);
    }
};

template <class T>
class Columns {
public:
    /// mu_b += alpha_b sigma_b x and sigma_b^-1 += gain_b x x', less what the projection drops, for
    /// all columns b. If a variance would become zero or any number not finite, nothing changes and
    /// the answer is false.
    template <class R>
    [[nodiscard]] bool update(Diagonal<T>& weights, const R& row, const Turns& turns,
                              Projection projection) {
        std::size_t width = 0;
        for (const auto [begin, end] : turns.moving) width += end - begin;
        const std::size_t count = (row.size() + 1) * width * kept(weights.shape());
        if (old_.size() < count) old_.resize(count);
        const bool precision = projection == Projection::precision;
        const bool sound = !weights.shape().second_order ? move<Kind::means>(weights, row, turns)
                           : precision ? move<Kind::precision>(weights, row, turns)
                                       : move<Kind::covariance>(weights, row, turns);
        if (!sound || !averaged(weights, row, turns.moving)) {
            put_back(weights, row, turns.moving);
            return false;
        }
        return true;
    }

private:
    enum class Kind { means, precision, covariance };

    /// Are all numbers so far positive where they must be, and finite once rounded to T?
    struct Sound {
        int one = 1;
        std::int64_t four __attribute__((vector_size(32), aligned(16))) = {-1, -1, -1, -1};

        [[gnu::always_inline]] void mean(double mu) noexcept {
            one &= (mu < least_lost<T>)&(mu > -least_lost<T>);
        }
        [[gnu::always_inline]] void mean(const Four& mu) noexcept {
            four &= (mu < least_lost<T>)&(mu > -least_lost<T>);
        }
        [[gnu::always_inline]] void variance(double sigma) noexcept {
            one &= sigma > least_kept<T>;
        }
        [[gnu::always_inline]] void variance(const Four& sigma) noexcept {
            four &= sigma > least_kept<T>;
        }
        [[nodiscard]] bool all() const noexcept {
            return (four[0] & four[1] & four[2] & four[3] & one) != 0;
        }
    };

    /// Numbers of a weight that are kept in an update: the mean, the variance where there is one.
    [[nodiscard]] static std::size_t kept(const Shape& shape) noexcept {
        return shape.second_order ? 2 : 1;
    }

    /// All columns that move, of all features, and what they were into `old_` in the order they are
    /// moved. All in one function, so that every line of it is compiled for the wider processor.
    template <Kind kind, class R>
    SURELEARN_WIDEN [[nodiscard]] bool move(Diagonal<T>& weights, const R& row,
                                            const Turns& turns) {
        const Shape& shape = weights.shape();
        const std::size_t n = shape.n_columns;
        const std::size_t count = row.size() + (shape.intercept ? 1 : 0);
        const double* const alphas = turns.alpha.data();
        const double* const gains = turns.gain.data();
        const double* const vs = turns.v.data();
        Sound sound;
        T* old = old_.data();
        for (std::size_t p = 0; p < count; ++p) {
            const bool entry = p < row.size();
            const double x = entry ? row.x(p) : 1.0;
            T* const at = weights.cell(entry ? row.feature(p) : shape.n_features);
            const auto move_some = [&]<class L>(L, std::size_t b) __attribute__((always_inline)) {
                typename L::Number mu, alpha, s, gain, v, sigma;
                L::load(at + b, mu);
                L::load(alphas + b, alpha);
                old = std::copy_n(at + b, L::lanes, old);
                if constexpr (kind == Kind::means) {
                    mu += alpha * x;
                } else {
                    L::load(at + n + b, s);
                    L::load(gains + b, gain);
                    old = std::copy_n(at + n + b, L::lanes, old);
                    mu += alpha * s * x;
                    if constexpr (kind == Kind::precision) {
                        sigma = s / (1.0 + gain * (s * (x * x)));
                    } else {
                        L::load(vs + b, v);
                        sigma = s * ((1.0 + gain * (v - s * (x * x))) / (1.0 + gain * v));
                    }
                    sound.variance(sigma);
                    L::store(sigma, at + n + b);
                }
                sound.mean(mu);
                L::store(mu, at + b);
            };
            for (const auto [begin, end] : turns.moving) by_lanes(begin, end, move_some);
        }
        return sound.all();
    }

    /// f(the feature's run, column, place in `old_`, how many columns) in the order of `move`.
    template <class R, class F>
    void each(const Shape& shape, const R& row, std::span<const Stretch> moving, const F& f) const {
        const T* old = old_.data();
        shape.each_feature(row, [&](std::size_t j, double) {
            const auto some = [&]<class L>(L, std::size_t b) {
                f(j, b, old, L::lanes);
                old += kept(shape) * L::lanes;
            };
            for (const auto [begin, end] : moving) by_lanes(begin, end, some);
        });
    }

    /// Freund & Schapire 1999, as for one column: first look, then write. Apart from `move`: gcc 12
    /// takes a number that was rounded to T and read again for the one before rounding.
    template <class R>
    [[nodiscard]] bool averaged(Diagonal<T>& weights, const R& row,
                                std::span<const Stretch> moving) const {
        if (!weights.shape().averaged) return true;
        const auto c = static_cast<double>(weights.rounds() + 1);
        const auto sums = [&](const auto& take) {
            each(weights.shape(), row, moving,
                 [&](std::size_t j, std::size_t b, const T* old, std::size_t lanes) {
                     for (std::size_t i = b; i < b + lanes; ++i) {
                         const double change = static_cast<double>(weights.cell(j)[i]) - *old++;
                         T& q = weights.cell(j)[weights.average_at() + i];
                         take(q, q + c * change);
                     }
                 });
        };
        Sound sound;
        sums([&](T&, double sum) { sound.mean(sum); });
        if (sound.all()) sums([](T& q, double sum) { q = static_cast<T>(sum); });
        return sound.all();
    }

    template <class R>
    void put_back(Diagonal<T>& weights, const R& row, std::span<const Stretch> moving) const {
        const Shape& shape = weights.shape();
        each(shape, row, moving,
             [&](std::size_t j, std::size_t b, const T* old, std::size_t lanes) {
                 for (std::size_t part = 0; part < kept(shape); ++part, old += lanes) {
                     std::copy_n(old, lanes, weights.cell(j) + part * shape.n_columns + b);
                 }
             });
    }

    std::vector<T> old_;  ///< what the last update has overwritten
};

}  // namespace surelearn
