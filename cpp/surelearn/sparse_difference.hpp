// Diagonal weights: margin and update for a sparse g, given cell by cell, and sums
// over one part of the numbers. Knows neither rules nor where g comes from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "surelearn/column_sums.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// s[k] = sum_j x_j times number `part + k` of feature j.
template <class T, class R>
void sum_part(const Diagonal<T>& weights, const R& row, std::size_t part,
              std::span<double> s) noexcept {
    sum_columns([&](std::size_t p) { return weights.cell(row.feature(p)) + part; }, row, s);
}

/// A difference vector g as a list of cells, each a feature and a column of the table.
template <class T>
class SparseDifference {
public:
    void clear() noexcept { cells_.clear(); }

    void add(std::size_t feature, std::size_t column, double g) {
        cells_.push_back({static_cast<std::uint64_t>(feature), column, g});
    }

    /// Sums the parts of each cell and drops cells that cancel. The parts of a cell are sorted by
    /// size, so that the order of the sum is always the same.
    void settle() {
        const auto key = [](const Cell& a) { return std::tuple(a.feature, a.column, a.g); };
        std::ranges::sort(cells_, std::less{}, key);
        std::size_t kept = 0;
        for (std::size_t p = 0; p < cells_.size();) {
            Cell sum = cells_[p];
            for (++p; p < cells_.size() && cells_[p].same_as(sum); ++p) sum.g += cells_[p].g;
            if (sum.g != 0.0) cells_[kept++] = sum;
        }
        cells_.resize(kept);
    }

    /// m = mu.g and v = sum sigma g^2.
    [[nodiscard]] Moments moments(const Diagonal<T>& weights) const noexcept {
        Moments sum;
        for (const Cell& c : cells_) {
            sum.m += static_cast<double>(weights.cell(c.feature)[c.column]) * c.g;
            sum.v += weights.sigma(c.feature, c.column) * (c.g * c.g);
        }
        return sum;
    }

    /// The same with the averaged means, which predictions use.
    [[nodiscard]] Moments averaged_moments(const Diagonal<T>& weights) const noexcept {
        Moments sum = moments(weights);
        if (!weights.shape().averaged) return sum;
        sum.m = 0.0;
        for (const Cell& c : cells_) sum.m += weights.mean(c.feature, c.column) * c.g;
        return sum;
    }

    /// The contributions a_j = sigma_j g_j^2.
    [[nodiscard]] std::span<const double> shares(const Diagonal<T>& weights,
                                                 std::vector<double>& out) const {
        out.clear();
        for (const Cell& c : cells_) out.push_back(weights.sigma(c.feature, c.column) * c.g * c.g);
        return out;
    }

    /// As `Diagonal::update`: changes nothing if a variance would become zero or a number not
    /// finite. `take_back` undoes all updates since `forget`.
    [[nodiscard]] bool update(Diagonal<T>& weights, const Step& step, double v,
                              Projection projection) {
        const bool sound = with_shrink(projection, step.gain, v, [&](const auto& shrink) {
            return prepare(weights, step.alpha, shrink);
        });
        if (sound) write(weights);
        return sound;
    }

    void forget() noexcept { journal_.clear(); }

    void take_back(Diagonal<T>& weights) noexcept {
        for (; !journal_.empty(); journal_.pop_back()) {
            put(weights, journal_.back().cell, journal_.back().old);
        }
    }

private:
    struct Cell {
        std::uint64_t feature;
        std::size_t column;
        double g;

        [[nodiscard]] bool same_as(const Cell& other) const noexcept {
            return feature == other.feature && column == other.column;
        }
    };
    /// The numbers of one cell.
    struct Weight {
        T mu;
        T sigma;
        T q;
    };

    /// Computes the new numbers of all cells; false if one is not valid.
    template <class Shrink>
    [[nodiscard]] bool prepare(const Diagonal<T>& weights, double alpha, const Shrink& shrink) {
        const bool second_order = weights.shape().second_order;
        const bool averaged = weights.shape().averaged;
        const auto c = static_cast<double>(weights.rounds() + 1);
        bool sound = true;
        next_.clear();
        for (const Cell& cell : cells_) {
            const T* const at = weights.cell(cell.feature) + cell.column;
            double mu = at[0];
            double sigma = weights.sigma(cell.feature, cell.column);
            double q = 0.0;
            move_mean(mu, alpha, sigma, cell.g);
            if (second_order) shrink(sigma, sigma * (cell.g * cell.g));
            if (averaged) {
                q = average_after(at[weights.average_at()], c, static_cast<T>(mu), at[0]);
            }
            check_mean<T>(mu, sound);
            check_variance<T>(sigma, sound);
            check_mean<T>(q, sound);
            next_.push_back({static_cast<T>(mu), static_cast<T>(sigma), static_cast<T>(q)});
        }
        return sound;
    }

    void write(Diagonal<T>& weights) {
        const Shape& shape = weights.shape();
        for (std::size_t p = 0; p < cells_.size(); ++p) {
            const T* const at = weights.cell(cells_[p].feature) + cells_[p].column;
            journal_.push_back({cells_[p],
                                {at[0], shape.second_order ? at[weights.capacity()] : T{1},
                                 shape.averaged ? at[weights.average_at()] : T{0}}});
            put(weights, cells_[p], next_[p]);
        }
    }

    static void put(Diagonal<T>& weights, const Cell& cell, const Weight& weight) noexcept {
        const Shape& shape = weights.shape();
        weights.forget_bounds();
        T* const at = weights.cell(cell.feature) + cell.column;
        at[0] = weight.mu;
        if (shape.second_order) at[weights.capacity()] = weight.sigma;
        if (shape.averaged) at[weights.average_at()] = weight.q;
    }

    struct Past {
        Cell cell;
        Weight old;
    };
    std::vector<Past> journal_;
    std::vector<Cell> cells_;
    std::vector<Weight> next_;
};

}  // namespace surelearn
