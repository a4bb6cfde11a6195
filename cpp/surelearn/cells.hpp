// The weights of batch losses: one vector w of doubles, with a place for each cell (row of the
// table, column) that has a weight. Knows neither losses nor structures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/sparse_difference.hpp"

namespace surelearn {

/// Which cells of a table of rows and columns have a weight: all, or those that are listed. A
/// tagger with all cells would have ten times as many weights as occur in its training data.
struct Cells {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::span<const std::int64_t> offsets{};  ///< row j has places [offsets[j], offsets[j + 1])
    std::span<const std::int32_t> columns{};  ///< column of each place, ascending in a row

    [[nodiscard]] bool all() const noexcept { return offsets.empty(); }
    [[nodiscard]] std::size_t size() const noexcept {
        return all() ? n_rows * n_columns : columns.size();
    }
    [[nodiscard]] std::size_t begin(std::size_t j) const noexcept {
        return all() ? j * n_columns : static_cast<std::size_t>(offsets[j]);
    }
    [[nodiscard]] std::size_t end(std::size_t j) const noexcept { return begin(j + 1); }
    [[nodiscard]] std::size_t column(std::size_t place) const noexcept {
        return all() ? place % n_columns : static_cast<std::size_t>(columns[place]);
    }
};

/// A set of columns for each row of a table.
class LabelSets {
public:
    LabelSets(std::size_t n_rows, std::size_t n_columns)
        : n_rows_(n_rows), words_((n_columns + 63) / 64), bits_(n_rows * words_, 0) {}

    void add(std::size_t row, std::int32_t column) noexcept {
        const auto k = static_cast<std::size_t>(column);
        bits_[row * words_ + k / 64] |= std::uint64_t{1} << (k % 64);
    }

    /// As the offsets and columns of `Cells`.
    void list(std::vector<std::int64_t>& offsets, std::vector<std::int32_t>& columns) const {
        offsets.assign(1, 0);
        columns.clear();
        for (std::size_t row = 0; row < n_rows_; ++row) {
            for (std::size_t word = 0; word < words_; ++word) {
                for (std::uint64_t left = bits_[row * words_ + word]; left != 0; left &= left - 1) {
                    const std::size_t bit = static_cast<std::size_t>(std::countr_zero(left));
                    columns.push_back(static_cast<std::int32_t>(word * 64 + bit));
                }
            }
            offsets.push_back(static_cast<std::int64_t>(columns.size()));
        }
    }

private:
    std::size_t n_rows_;
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// The numbers of listed cells in a layout for reading and summing. A row with many cells is stored
/// with all columns, since whole vectors are faster than single numbers.
class PackedCells {
public:
    explicit PackedCells(const Cells& cells) : cells_(cells), start_(cells.n_rows + 1, 0) {
        std::size_t at = 0;
        for (std::size_t j = 0; j < cells.n_rows; ++j) {
            const std::size_t count = cells.end(j) - cells.begin(j);
            const bool wide = count * 4 >= cells.n_columns && count > 1;
            start_[j] = 2 * at + (wide ? 1 : 0);
            at += wide ? cells.n_columns : count;
        }
        start_.back() = 2 * at;
        columns_.resize(at);
        each([&](std::size_t e, std::size_t place) { columns_[place] = cells.columns[e]; });
        w_.resize(at);
    }

    [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }

    void load(std::span<const double> w) {
        each([&](std::size_t e, std::size_t place) { w_[place] = w[e]; });
    }
    /// The numbers of the cells, from such a layout.
    void unload(std::span<const double> packed, std::span<double> out) const {
        each([&](std::size_t e, std::size_t place) { out[e] = packed[place]; });
    }

    /// s[k] += w[j, k] x.
    void add(std::size_t j, double x, std::span<double> s) const noexcept {
        if (!is_wide(j)) return add_narrow(j, x, s);
        for (std::size_t k = 0; k < s.size(); ++k) s[k] += w_[at(j) + k] * x;
    }

    /// sums[j, k] += coefficients[k] x, in this layout.
    void scatter(std::size_t j, double x, std::span<const double> coefficients,
                 std::span<double> sums) const noexcept {
        double* const to = sums.data() + at(j);
        if (is_wide(j)) {
            add_products<double, 1>({coefficients.data()}, {x}, to, coefficients.size());
            return;
        }
        const std::size_t count = at(j + 1) - at(j);
        const std::int32_t* const column = columns_.data() + at(j);
        for (std::size_t c = 0; c < count; ++c) {
            to[c] += coefficients[static_cast<std::size_t>(column[c])] * x;
        }
    }

    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns; }
    [[nodiscard]] bool is_wide(std::size_t j) const noexcept { return (start_[j] & 1) != 0; }
    [[nodiscard]] std::size_t at(std::size_t j) const noexcept { return start_[j] >> 1; }
    [[nodiscard]] const double* weights(std::size_t j) const noexcept { return w_.data() + at(j); }

private:
    /// f(place among the cells, place in the layout) of every cell.
    template <class F>
    void each(const F& f) const {
        for (std::size_t j = 0; j < cells_.n_rows; ++j) {
            const std::size_t begin = cells_.begin(j);
            for (std::size_t e = begin; e < cells_.end(j); ++e) {
                f(e, at(j) + (is_wide(j) ? cells_.column(e) : e - begin));
            }
        }
    }

    void add_narrow(std::size_t j, double x, std::span<double> s) const noexcept {
        for (std::size_t e = at(j); e < at(j + 1); ++e) {
            s[static_cast<std::size_t>(columns_[e])] += w_[e] * x;
        }
    }

    Cells cells_;
    std::vector<std::size_t> start_;  ///< twice the place of each row, plus 1 if it is wide
    std::vector<std::int32_t> columns_;
    std::vector<double> w_;
};

/// Reads scores from packed cells.
class PackedReader {
public:
    using Number = double;

    explicit PackedReader(const PackedCells& cells) : cells_(cells) {}

    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns(); }

    /// s[k] = sum_j w[j, k] x_j: first the wide rows, then the others; prefetches the weights of
    /// the row `ahead`.
    template <class R>
    void sum(const R& row, const R& ahead, std::span<double> s) {
        wide_.clear();
        for (std::size_t p = 0; p < row.size(); ++p) {
            if (cells_.is_wide(row.feature(p))) wide_.add(cells_.weights(row.feature(p)), row.x(p));
        }
        sum_columns([&](std::size_t p) { return wide_.at[p]; }, wide_, s);
        for (std::size_t p = 0; p < row.size(); ++p) {
            if (!cells_.is_wide(row.feature(p))) cells_.add(row.feature(p), row.x(p), s);
        }
        for (std::size_t p = 0; p < ahead.size(); ++p) {
            __builtin_prefetch(cells_.weights(ahead.feature(p)), 0, 2);
        }
    }
    void add(std::size_t j, double x, std::span<double> s) const noexcept { cells_.add(j, x, s); }

private:
    /// The wide rows of one sum.
    struct Wide {
        std::vector<const double*> at;
        std::vector<double> value;

        void clear() noexcept {
            at.clear();
            value.clear();
        }
        void add(const double* weights, double x) {
            at.push_back(weights);
            value.push_back(x);
        }
        [[nodiscard]] std::size_t size() const noexcept { return at.size(); }
        [[nodiscard]] double x(std::size_t p) const noexcept { return value[p]; }
    };

    const PackedCells& cells_;
    Wide wide_;
};

/// Reads scores from a vector w, times `scale`.
class FlatWeights {
public:
    using Number = double;

    FlatWeights(const Cells& cells, std::span<const double> w) : cells_(cells), w_(w) {}

    [[nodiscard]] const Cells& cells() const noexcept { return cells_; }
    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns; }
    void set_scale(double scale) noexcept { scale_ = scale; }

    /// s[k] = sum_j w[j, k] x_j; prefetches the weights of the row `ahead`.
    template <class R>
    void sum(const R& row, const R& ahead, std::span<double> s) const noexcept {
        for (std::size_t p = 0; p < ahead.size(); ++p) {
            __builtin_prefetch(w_.data() + cells_.begin(ahead.feature(p)), 0, 2);
        }
        if (cells_.all()) {
            sum_columns([&](std::size_t p) { return at(row.feature(p)); }, row, s);
        } else {
            std::ranges::fill(s, 0.0);
            for (std::size_t p = 0; p < row.size(); ++p) add_listed(row.feature(p), row.x(p), s);
        }
        if (scale_ != 1.0) {
            for (double& x : s) x *= scale_;
        }
    }

    /// s[k] += w[j, k] x.
    void add(std::size_t j, double x, std::span<double> s) const noexcept {
        const double scaled = x * scale_;
        if (!cells_.all()) return add_listed(j, scaled, s);
        for (std::size_t k = 0; k < s.size(); ++k) s[k] += at(j)[k] * scaled;
    }

private:
    [[nodiscard]] const double* at(std::size_t j) const noexcept {
        return w_.data() + j * cells_.n_columns;
    }
    void add_listed(std::size_t j, double x, std::span<double> s) const noexcept {
        for (std::size_t e = cells_.begin(j); e < cells_.end(j); ++e) {
            s[static_cast<std::size_t>(cells_.columns[e])] += w_[e] * x;
        }
    }

    Cells cells_;
    std::span<const double> w_;
    double scale_ = 1.0;
};

}  // namespace surelearn
