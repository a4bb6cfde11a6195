// Reads scores of rows from the means of diagonal weights, for decoders of structures. Knows no
// structure. `FlatWeights` in cells.hpp reads those of batch losses in the same way.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/structured.hpp"

namespace surelearn {

/// The present means, or the averaged ones.
template <class T>
class MeanReader {
public:
    using Number = T;

    explicit MeanReader(const Diagonal<T>& weights) : weights_(weights) {}

    [[nodiscard]] std::size_t n_columns() const noexcept { return weights_.shape().n_columns; }
    void use(Means means) noexcept {
        averaged_ = means == Means::predicting && weights_.shape().averaged;
    }

    /// s[k] = sum_j mean[j, k] x_j of a feature row; prefetches the weights of another. With q the
    /// sums for averaging and c the rounds, sum (mu - q / c) x is computed as sum mu x - (sum q x)
    /// / c: one division per label instead of one per weight.
    template <class M>
    void sum(const M& matrix, const RowPlace& place, std::span<double> s) const {
        const Shifted row{matrix.stored(place.row), place.first};
        const Shifted ahead{matrix.stored(place.ahead), place.first};
        fetch(ahead, 0);
        if (averaged_) fetch(ahead, weights_.average_at());
        sum_part(weights_, row, 0, s);
        if (!averaged_) return;
        sums_.resize(s.size());
        sum_part(weights_, row, weights_.average_at(), sums_);
        const double c = rounds();
        for (std::size_t k = 0; k < s.size(); ++k) s[k] -= sums_[k] / c;
    }

    /// s[k] += the mean of feature j and column k, times x.
    void add(std::size_t j, double x, std::span<double> s) const noexcept {
        const T* const at = weights_.cell(j);
        if (!averaged_) {
            for (std::size_t k = 0; k < s.size(); ++k) s[k] += at[k] * x;
            return;
        }
        const T* const q = at + weights_.average_at();
        const double c = rounds();
        for (std::size_t k = 0; k < s.size(); ++k) s[k] += average_of(at[k], q[k], c) * x;
    }

private:
    /// Prefetches only the part that is read: most rows need nothing else.
    template <class R>
    [[gnu::always_inline]] void fetch(const R& row, std::size_t part) const noexcept {
        constexpr std::size_t line = 64 / sizeof(T);
        for (std::size_t p = 0; p < row.size(); ++p) {
            const T* const at = weights_.cell(row.feature(p)) + part;
            for (std::size_t k = 0; k < n_columns(); k += line) __builtin_prefetch(at + k, 0, 2);
            __builtin_prefetch(at + n_columns() - 1, 0, 2);
        }
    }

    [[nodiscard]] double rounds() const noexcept {
        return static_cast<double>(weights_.rounds() + 1);
    }

    const Diagonal<T>& weights_;
    bool averaged_ = false;
    mutable std::vector<double> sums_;
};

}  // namespace surelearn
