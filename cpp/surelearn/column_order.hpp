// The mapping between labels and columns: columns are stored in order of arrival, labels are
// numbered in sorted order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace surelearn {

class ColumnOrder {
public:
    /// Label k is in column k.
    ColumnOrder() = default;

    /// Label k is in column columns[k]; `columns` is a permutation.
    explicit ColumnOrder(std::vector<std::uint32_t> columns) : columns_(std::move(columns)) {
        const std::size_t n = columns_.size();
        bool sorted = true;
        labels_.resize(n);
        swaps_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            labels_[columns_[k]] = static_cast<std::uint32_t>(k);
            // The column of label k may have been swapped away, each time to a later position.
            std::uint32_t from = columns_[k];
            while (from < k) from = swaps_[from];
            swaps_[k] = from;
            sorted = sorted && columns_[k] == k;
        }
        if (sorted) *this = {};
    }

    [[nodiscard]] bool is_sorted() const noexcept { return columns_.empty(); }

    [[nodiscard]] std::size_t column(std::size_t label) const noexcept {
        return is_sorted() ? label : columns_[label];
    }
    [[nodiscard]] std::size_t label(std::size_t column) const noexcept {
        return is_sorted() ? column : labels_[column];
    }

    /// Moves the numbers of all columns to the positions of their labels.
    void sort(std::span<double> numbers) const noexcept {
        for (std::size_t k = 0; k < swaps_.size(); ++k) std::swap(numbers[k], numbers[swaps_[k]]);
    }

private:
    std::vector<std::uint32_t> columns_;  ///< column of each label; empty: the identity
    std::vector<std::uint32_t> labels_;   ///< label of each column
    std::vector<std::uint32_t> swaps_;    ///< swaps that sort the columns, in order
};

}  // namespace surelearn
