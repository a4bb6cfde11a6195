// Columns in units of their own spread, and the moments that these are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace surelearn {

/// ColumnUnits of the first columns: a value x is learnt as z = (x - centre) * factor.
struct ColumnUnits {
    std::vector<double> centre;
    std::vector<double> factor;
    bool whole = false;  ///< whether entries that are not stored are zeros to be centred

    [[nodiscard]] double of(double x, std::size_t j) const noexcept {
        return (x - centre[j]) * factor[j];
    }
};

/// Number, mean and sum of squares about the mean of the entries of each of the first columns,
/// taken in one by one (Welford 1962). Uncentred, the mean stays 0.
struct ColumnMoments {
    std::span<double> n;
    std::span<double> mean;
    std::span<double> square;
    bool centred = true;

    static constexpr double largest = 1e150;  ///< squares of larger values may have no room

    void add(std::size_t j, double x) const noexcept {
        x = std::clamp(x, -largest, largest);
        n[j] += 1.0;
        const double before = x - mean[j];
        if (centred) mean[j] += before / n[j];
        square[j] += before * (x - mean[j]);
    }

    /// Rows [begin, end): all entries of dense rows, those that are stored of others.
    template <class Rows>
    void add_rows(const Rows& rows, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (rows.dense()) {
                const auto values = rows.values(i);
                for (std::size_t j = 0; j < n.size(); ++j) add(j, values[j]);
                continue;
            }
            const auto row = rows.stored(i);
            for (std::size_t p = 0; p < row.size(); ++p) {
                const std::size_t j = row.feature(p);
                if (j < n.size()) add(j, static_cast<double>(row.value[p]));
            }
        }
    }
};

}  // namespace surelearn
