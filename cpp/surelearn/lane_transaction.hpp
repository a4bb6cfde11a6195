// A transaction of up to four columns, side by side in one vector, for steps one after the other:
// the same bits as `Transaction` gives, with fewer passes over the weights of a row. Knows neither
// rules nor schemes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

template <class T>
class LaneTransaction {
public:
    /// Whether it has room for so many columns of these weights.
    [[nodiscard]] static bool takes(const Diagonal<T>& weights, std::size_t n_columns) noexcept {
        const Shape& shape = weights.shape();
        return shape.second_order && !shape.averaged && 1 < n_columns && n_columns <= width;
    }

    /// Copies the weights that `row` touches in the columns of `sides`; the first is the right
    /// label.
    template <class R>
    void load(const Diagonal<T>& weights, const R& row, std::span<const Side> sides) {
        n_columns_ = sides.size();
        variances_at_ = weights.capacity();
        largest_ = row.largest;
        total_ = {};
        moved_ = {};
        features_.resize(row.size() + 1);
        x_.resize(row.size() + 1);
        lanes_.resize(row.size() + 1);
        std::size_t n = 0;
        with_values(row, [&](const auto& entries) {
            weights.shape().each_feature(entries, [&](std::size_t j, double x) {
                features_[n] = j;
                x_[n++] = x;
            });
        });
        size_ = n;
        for (std::size_t b = 0; b < width; ++b) {  // lanes that are left over repeat the first
            columns_[b] = weights.column(sides[b < n_columns_ ? b : 0].column);
        }
        gather(weights);
    }

    /// Number of constraints.
    [[nodiscard]] std::size_t size() const noexcept { return n_columns_ - 1; }

    /// Current mean and variance of margin r.
    [[nodiscard]] Moments margin(std::size_t r) const noexcept {
        return {sums_.mu[0] - sums_.mu[r + 1], sums_.sigma[0] + sums_.sigma[r + 1]};
    }

    /// The contributions a_j = sigma_j g_j^2 to margin r.
    [[nodiscard]] std::span<const double> shares(std::size_t r, std::vector<double>& out) const {
        out.clear();
        for (std::size_t p = 0; p < size_; ++p) {
            for (const std::size_t b : {std::size_t{0}, r + 1}) {
                out.push_back(lanes_[p].sigma[b] * (x_[p] * x_[p]));
            }
        }
        return out;
    }

    /// A step on margin r from the current state. After one on the last margin, none is asked for.
    [[nodiscard]] bool apply(std::size_t r, const Step& step, Projection projection) {
        total_.alpha += step.alpha;
        total_.gain += step.gain;
        moved_[0] = moved_[r + 1] = true;
        with_shrink(projection, step.gain, margin(r).v, [&](const auto& shrink) {
            if (r + 1 == size()) {
                move<false>(r + 1, step.alpha, shrink);
            } else {
                move<true>(r + 1, step.alpha, shrink);
            }
        });
        return true;
    }

    /// Writes back the weights; if a variance would become zero or a number not finite, writes
    /// nothing and returns false.
    [[nodiscard]] bool commit(Diagonal<T>& weights) const {
        const bool safe = weights.grow_safely(total_, largest_);
        for (std::size_t b = 0; b < n_columns_ && !safe; ++b) {
            if (moved_[b] && !is_valid(b)) return false;
        }
        // Where all have moved, as they mostly have, the loop over them is unrolled.
        std::array<std::size_t, width> lanes{0, 1, 2, 3};
        const auto end = std::ranges::remove_if(lanes, [&](std::size_t b) { return !moved_[b]; });
        const auto n = static_cast<std::size_t>(end.begin() - lanes.begin());
        if (n == width) {
            write(weights, std::span<const std::size_t, width>(lanes));
        } else {
            write(weights, std::span<const std::size_t>(lanes).first(n));
        }
        return true;
    }

private:
    static constexpr std::size_t width = 4;

    /// Means and variances of four weights, or of four scores.
    struct Lanes {
        Four mu{};
        Four sigma{};

        [[gnu::always_inline]] void add(const Lanes& weight, double x) noexcept {
            mu += weight.mu * x;
            sigma += weight.sigma * (x * x);
        }
    };

    void gather(const Diagonal<T>& weights) {
        widen([=, this, &weights]() SURELEARN_INLINED {
            const auto [a, b, c, d] = columns_;
            const std::size_t n = size_;
            const double* const x = x_.data();
            Lanes* const lanes = lanes_.data();
            Lanes sums;
            for (std::size_t p = 0; p < n; ++p) {
                const T* const mu = weights.cell(features_[p]);
                const T* const sigma = mu + variances_at_;
                lanes[p].mu = Four{mu[a], mu[b], mu[c], mu[d]};
                lanes[p].sigma = Four{sigma[a], sigma[b], sigma[c], sigma[d]};
                sums.add(lanes[p], x[p]);
            }
            sums_ = sums;
        });
    }

    /// Moves the first lane up and a rival's down, and may sum what all have then. The other lanes
    /// keep their bits.
    template <bool sums_up, class Shrink>
    void move(std::size_t rival, double alpha, const Shrink& shrink) {
        FourMask moves{-1, 0, 0, 0};
        moves[rival] = -1;
        Four signed_alpha{alpha, 0.0, 0.0, 0.0};
        signed_alpha[rival] = -alpha;
        widen([=, this, &moves, &signed_alpha]() SURELEARN_INLINED {
            const FourMask chosen = moves;
            const Four alphas = signed_alpha;
            const std::size_t n = size_;
            const double* const x = x_.data();
            Lanes* const lanes = lanes_.data();
            Lanes sums;
            for (std::size_t p = 0; p < n; ++p) {
                const Four each{x[p], x[p], x[p], x[p]};
                Lanes to = lanes[p];
                move_mean<4>(to.mu, alphas, to.sigma, each);
                shrink(to.sigma, Four(to.sigma * (each * each)));
                lanes[p].mu = chosen ? to.mu : lanes[p].mu;
                lanes[p].sigma = chosen ? to.sigma : lanes[p].sigma;
                if constexpr (sums_up) sums.add(lanes[p], x[p]);
            }
            sums_ = sums;
        });
    }

    template <std::size_t N>
    void write(Diagonal<T>& weights, std::span<const std::size_t, N> lanes) const noexcept {
        for (std::size_t p = 0; p < size_; ++p) {
            T* const means = weights.cell(features_[p]);
            T* const variances = means + variances_at_;
            for (const std::size_t b : lanes) {
                means[columns_[b]] = static_cast<T>(lanes_[p].mu[b]);
                variances[columns_[b]] = static_cast<T>(lanes_[p].sigma[b]);
            }
        }
    }

    [[nodiscard]] bool is_valid(std::size_t b) const noexcept {
        bool sound = true;
        for (std::size_t p = 0; p < size_; ++p) {
            check_mean<T>(lanes_[p].mu[b], sound);
            check_variance<T>(lanes_[p].sigma[b], sound);
        }
        return sound;
    }

    std::size_t n_columns_ = 0;
    std::size_t size_ = 0;          ///< features, with the intercept
    std::size_t variances_at_ = 0;  ///< from the means of a cell
    Step total_;                    ///< the sum of all steps
    double largest_ = 0.0;          ///< no |x| is above it
    std::array<bool, width> moved_{};
    std::array<std::size_t, width> columns_{};  ///< of the table
    std::vector<std::size_t> features_;
    std::vector<double> x_;
    std::vector<Lanes> lanes_;
    Lanes sums_;
};

}  // namespace surelearn
