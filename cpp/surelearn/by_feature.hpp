// A matrix by features: for each feature the rows that have it. Knows no algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "surelearn/rows.hpp"

namespace surelearn {

class ByFeature {
public:
    /// The rows and values of one feature.
    struct Column {
        const std::uint32_t* row;
        const double* value;  ///< null if all values are 1
        std::size_t count;

        [[nodiscard]] std::size_t size() const noexcept { return count; }
        [[nodiscard]] double x(std::size_t p) const noexcept {
            return value == nullptr ? 1.0 : value[p];
        }
    };

    template <class Index, class Value>
    explicit ByFeature(const Matrix<Index, Value>& matrix) : start_(matrix.n_features() + 1, 0) {
        bool ones = true;
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            const auto row = matrix.stored(i);
            for (std::size_t p = 0; p < row.size(); ++p) {
                ++start_[row.feature(p) + 1];
                ones = ones && row.x(p) == 1.0;
            }
        }
        for (std::size_t j = 0; j + 1 < start_.size(); ++j) start_[j + 1] += start_[j];
        row_.resize(start_.back());
        if (!ones) value_.resize(start_.back());
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            const auto row = matrix.stored(i);
            for (std::size_t p = 0; p < row.size(); ++p) {
                const std::size_t at = next[row.feature(p)]++;
                row_[at] = static_cast<std::uint32_t>(i);
                if (!ones) value_[at] = row.x(p);
            }
        }
    }

    [[nodiscard]] std::size_t n_features() const noexcept { return start_.size() - 1; }
    /// The first feature of part s, where n parts have about the same number of entries.
    [[nodiscard]] std::size_t cut(std::size_t s, std::size_t n) const noexcept {
        if (s == n) return n_features();
        const auto at = std::ranges::lower_bound(start_, row_.size() * s / n);
        return std::min(n_features(), static_cast<std::size_t>(at - start_.begin()));
    }
    [[nodiscard]] Column column(std::size_t j) const noexcept {
        return {row_.data() + start_[j], value_.empty() ? nullptr : value_.data() + start_[j],
                start_[j + 1] - start_[j]};
    }

private:
    std::vector<std::size_t> start_;
    std::vector<std::uint32_t> row_;
    std::vector<double> value_;
};

}  // namespace surelearn
