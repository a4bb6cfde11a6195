// Rooms 3 and 6, many columns in one round: each column of diagonal weights is a problem of its
// own, and a row moves all of them while its features are at hand. Knows neither rules nor codes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
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

    void resize(std::size_t n_columns) {
        for (auto* part : {&s, &v, &alpha, &gain}) part->assign(n_columns, 0.0);
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
        keep(weights, row);
        bool sound = true;
        weights.shape().each_feature(row, [&](std::size_t j, double x) {
            T* const at = weights.cell(j);
            if (!weights.shape().second_order) {
                sound &= move_means(at, x, turns);
            } else if (projection == Projection::precision) {
                sound &= move_by_precision(at, x, turns);
            } else {
                sound &= move_by_covariance(at, x, turns);
            }
        });
        if (sound && weights.shape().averaged) sound = average(weights, row);
        if (!sound) put_back(weights, row);
        return sound;
    }

private:
    template <class R>
    void keep(const Diagonal<T>& weights, const R& row) {
        const std::size_t stride = weights.shape().stride();
        old_.clear();
        weights.shape().each_feature(row, [&](std::size_t j, double) {
            old_.insert(old_.end(), weights.cell(j), weights.cell(j) + stride);
        });
    }

    template <class R>
    void put_back(Diagonal<T>& weights, const R& row) const {
        const std::size_t stride = weights.shape().stride();
        const T* from = old_.data();
        weights.shape().each_feature(row, [&](std::size_t j, double) {
            std::copy_n(from, stride, weights.cell(j));
            from += stride;
        });
    }

    /// Freund & Schapire 1999, as for one column.
    template <class R>
    [[nodiscard]] bool average(Diagonal<T>& weights, const R& row) {
        const std::size_t stride = weights.shape().stride();
        const std::size_t q = weights.average_at();
        const auto c = static_cast<double>(weights.rounds() + 1);
        const T* from = old_.data();
        bool sound = true;
        weights.shape().each_feature(row, [&](std::size_t j, double) {
            T* const at = weights.cell(j);
            for (std::size_t b = 0; b < weights.shape().n_columns; ++b) {
                const double sum = at[q + b] + c * (static_cast<double>(at[b]) - from[b]);
                sound &= std::fabs(sum) < least_lost<T>;
                at[q + b] = static_cast<T>(sum);
            }
            from += stride;
        });
        return sound;
    }

    [[nodiscard]] static bool move_means(T* at, double x, const Turns& turns) noexcept {
        bool sound = true;
        for (std::size_t b = 0; b < turns.s.size(); ++b) {
            const double mu = at[b] + turns.alpha[b] * x;
            sound &= std::fabs(mu) < least_lost<T>;
            at[b] = static_cast<T>(mu);
        }
        return sound;
    }

    SURELEARN_WIDEN [[nodiscard]] static bool move_by_precision(T* at, double x,
                                                                const Turns& turns) noexcept {
        const std::size_t n = turns.s.size();
        const double* const alpha = turns.alpha.data();
        const double* const gain = turns.gain.data();
        unsigned odd = 0;
#pragma GCC ivdep
        for (std::size_t b = 0; b < n; ++b) {
            const double s = at[n + b];
            const double mu = at[b] + alpha[b] * s * x;
            const double sigma = s / (1.0 + gain[b] * (s * (x * x)));
            odd |= !(sigma > least_kept<T>) | !(std::fabs(mu) < least_lost<T>);
            at[b] = static_cast<T>(mu);
            at[n + b] = static_cast<T>(sigma);
        }
        return odd == 0;
    }

    SURELEARN_WIDEN [[nodiscard]] static bool move_by_covariance(T* at, double x,
                                                                 const Turns& turns) noexcept {
        const std::size_t n = turns.s.size();
        const double* const alpha = turns.alpha.data();
        const double* const gain = turns.gain.data();
        const double* const v = turns.v.data();
        unsigned odd = 0;
#pragma GCC ivdep
        for (std::size_t b = 0; b < n; ++b) {
            const double s = at[n + b];
            const double mu = at[b] + alpha[b] * s * x;
            const double rest = v[b] - s * (x * x);
            const double sigma = s * ((1.0 + gain[b] * rest) / (1.0 + gain[b] * v[b]));
            odd |= !(sigma > least_kept<T>) | !(std::fabs(mu) < least_lost<T>);
            at[b] = static_cast<T>(mu);
            at[n + b] = static_cast<T>(sigma);
        }
        return odd == 0;
    }

    std::vector<T> old_;
};

}  // namespace surelearn
