// The weights of batch losses: one vector w of doubles, with a place for each cell (row of the
// table, column) that has a weight. Knows neither losses nor structures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "surelearn/column_sums.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

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

/// The entries of feature rows, as places in a layout of cells.
struct PackedRow {
    std::span<const std::uint32_t> place;
    const std::uint16_t* column;  ///< of narrow cells
    const float* value;           ///< null if all values are 1

    [[nodiscard]] std::size_t size() const noexcept { return place.size(); }
    [[nodiscard]] double x(std::size_t p) const noexcept {
        return value == nullptr ? 1.0 : static_cast<double>(value[p]);
    }
};

namespace detail {

/// sums[place + k] += coefficients[k] f(x) for every entry of a row.
template <class F>
void add_rows(const PackedRow& row, const F& f, std::span<const double> coefficients,
              double* sums) noexcept {
    widen([=, &row, &f]() SURELEARN_INLINED {
        const std::size_t n = coefficients.size();
        const double* const from = coefficients.data();
        for (std::size_t p = 0; p < row.size(); ++p) {
            double* const to = sums + row.place[p];
            const double x = f(row.x(p));
            std::size_t k = 0;
            for (; k + 4 <= n; k += 4) {
                Four sum, c;
                load(to, Run{k}, sum);
                load(from, Run{k}, c);
                sum += c * x;
                store(sum, Run{k}, to);
            }
            for (; k < n; ++k) to[k] += from[k] * x;
        }
    });
}

}  // namespace detail

/// Listed cells and the feature rows that touch them, in a layout for many evaluations. A table row
/// with many cells is stored with all columns ("wide"), since whole vectors are faster than single
/// numbers. Of the others a feature row lists every cell.
class PackedCells {
public:
    /// Feature 0 of the matrix is row `first` of the table.
    template <class M>
    PackedCells(const Cells& cells, const M& matrix, std::size_t first)
        : cells_(cells), start_(cells.n_rows + 1, 0) {
        std::size_t at = 0;
        for (std::size_t j = 0; j < cells.n_rows; ++j) {
            const std::size_t count = cells.end(j) - cells.begin(j);
            const bool wide = count * 4 >= cells.n_columns && count > 1;
            start_[j] = 2 * at + (wide ? 1 : 0);
            at += wide ? cells.n_columns : count;
        }
        start_.back() = 2 * at;
        if (at > std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("a loss with listed cells has fewer than 2^32 weights");
        }
        w_.resize(at);
        column_.resize(at);
        each([&](std::size_t e, std::size_t place) { column_[place] = cells.columns[e]; });
        read(matrix, first);
    }

    [[nodiscard]] std::size_t size() const noexcept { return w_.size(); }
    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns; }

    void load(std::span<const double> w) {
        each([&](std::size_t e, std::size_t place) { w_[place] = w[e]; });
    }
    /// The numbers of the cells, from sums in this layout.
    void unload(std::span<const double> sums, std::span<double> out) const {
        each([&](std::size_t e, std::size_t place) { out[e] = sums[place]; });
    }

    /// s[k] = sum_j w[j, k] x_j of feature row r.
    void sum_row(std::size_t r, std::span<double> s) const noexcept {
        const PackedRow wide = wide_.row(r);
        sum_columns([&](std::size_t p) { return w_.data() + wide.place[p]; }, wide, s);
        const PackedRow narrow = narrow_.row(r);
        for (std::size_t p = 0; p < narrow.size(); ++p) {
            s[narrow.column[p]] += w_[narrow.place[p]] * narrow.x(p);
        }
    }
    void fetch_row(std::size_t r) const noexcept {
        for (const std::uint32_t place : narrow_.row(r).place) {
            __builtin_prefetch(w_.data() + place, 0, 2);
        }
    }

    /// sums[j, k] += coefficients[k] f(x_j) for the features of row r.
    template <class F>
    void scatter_row(std::size_t r, std::span<const double> coefficients, const F& f,
                     std::span<double> sums) const noexcept {
        detail::add_rows(wide_.row(r), f, coefficients, sums.data());
        const PackedRow narrow = narrow_.row(r);
        for (std::size_t p = 0; p < narrow.size(); ++p) {
            sums[narrow.place[p]] += coefficients[narrow.column[p]] * f(narrow.x(p));
        }
    }

    /// s[k] += w[j, k] x of table row j.
    void add(std::size_t j, double x, std::span<double> s) const noexcept {
        each_of(j, [&](std::size_t place, std::size_t k) { s[k] += w_[place] * x; });
    }
    /// sums[j, k] += coefficients[k].
    void scatter(std::size_t j, std::span<const double> coefficients,
                 std::span<double> sums) const noexcept {
        each_of(j, [&](std::size_t place, std::size_t k) { sums[place] += coefficients[k]; });
    }

private:
    /// Entries of all feature rows, row after row.
    struct Entries {
        std::vector<std::size_t> start{0};
        std::vector<std::uint32_t> place;
        std::vector<std::uint16_t> column;
        std::vector<float> value;

        [[nodiscard]] PackedRow row(std::size_t r) const noexcept {
            const std::size_t count = start[r + 1] - start[r];
            return {std::span(place).subspan(start[r], count),
                    column.empty() ? nullptr : column.data() + start[r],
                    value.empty() ? nullptr : value.data() + start[r]};
        }
        void add(std::size_t at, double x, bool ones) {
            place.push_back(static_cast<std::uint32_t>(at));
            if (!ones) value.push_back(static_cast<float>(x));
        }
    };

    [[nodiscard]] bool is_wide(std::size_t j) const noexcept { return (start_[j] & 1) != 0; }
    [[nodiscard]] std::size_t at(std::size_t j) const noexcept { return start_[j] >> 1; }
    [[nodiscard]] std::size_t column(std::size_t place) const noexcept {
        return static_cast<std::size_t>(column_[place]);
    }

    template <class M>
    void read(const M& matrix, std::size_t first) {
        bool ones = true;
        for (std::size_t r = 0; r < matrix.size(); ++r) {
            const auto row = matrix.stored(r);
            for (std::size_t p = 0; p < row.size(); ++p) ones = ones && row.x(p) == 1.0;
        }
        for (std::size_t r = 0; r < matrix.size(); ++r) {
            const auto row = matrix.stored(r);
            for (std::size_t p = 0; p < row.size(); ++p) {
                const std::size_t j = first + row.feature(p);
                if (is_wide(j)) {
                    wide_.add(at(j), row.x(p), ones);
                } else {
                    for (std::size_t e = at(j); e < at(j + 1); ++e) {
                        narrow_.add(e, row.x(p), ones);
                        narrow_.column.push_back(static_cast<std::uint16_t>(column_[e]));
                    }
                }
            }
            wide_.start.push_back(wide_.place.size());
            narrow_.start.push_back(narrow_.place.size());
        }
    }

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
    /// f(place in the layout, column) of the cells of table row j.
    template <class F>
    void each_of(std::size_t j, const F& f) const {
        for (std::size_t e = at(j); e < at(j + 1); ++e) f(e, is_wide(j) ? e - at(j) : column(e));
    }

    Cells cells_;
    std::vector<std::size_t> start_;  ///< twice the place of each table row, plus 1 if it is wide
    std::vector<std::int32_t> column_;
    std::vector<double> w_;
    Entries wide_;
    Entries narrow_;
};

/// Reads scores from packed cells.
class PackedReader {
public:
    using Number = double;

    explicit PackedReader(const PackedCells& cells) : cells_(cells) {}

    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns(); }

    template <class M>
    void sum(const M&, const RowPlace& at, std::span<double> s) const noexcept {
        cells_.fetch_row(at.ahead);
        cells_.sum_row(at.row, s);
    }
    void add(std::size_t j, double x, std::span<double> s) const noexcept { cells_.add(j, x, s); }

private:
    const PackedCells& cells_;
};

/// Reads scores from a vector w, times `scale`.
class FlatWeights {
public:
    using Number = double;

    FlatWeights(const Cells& cells, std::span<const double> w) : cells_(cells), w_(w) {}

    [[nodiscard]] std::size_t n_columns() const noexcept { return cells_.n_columns; }
    void set_scale(double scale) noexcept { scale_ = scale; }

    /// s[k] = sum_j w[j, k] x_j of a feature row; prefetches the weights of another.
    template <class M>
    void sum(const M& matrix, const RowPlace& place, std::span<double> s) const noexcept {
        const Shifted row{matrix.stored(place.row), place.first};
        const Shifted ahead{matrix.stored(place.ahead), place.first};
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
