// What wrong labels of tokens and nodes cost. Knows no structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace surelearn {

/// In C order: [right, wrong] label; empty: 1 if wrong.
struct LabelCosts {
    std::span<const double> cost;
    std::size_t n_labels;

    [[nodiscard]] double of(std::int32_t y, std::size_t j) const noexcept {
        const auto right = static_cast<std::size_t>(y);
        if (cost.empty()) return right == j ? 0.0 : 1.0;
        return cost[right * n_labels + j];
    }

    /// s[j] += the cost of label j where y is right.
    void add(std::int32_t y, std::span<double> s) const noexcept {
        for (std::size_t j = 0; j < s.size(); ++j) s[j] += of(y, j);
    }

    /// The sum of the costs of all labels of an answer.
    [[nodiscard]] double between(std::span<const std::int32_t> y,
                                 std::span<const std::int32_t> answer) const noexcept {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) {
            sum += of(y[t], static_cast<std::size_t>(answer[t]));
        }
        return sum;
    }
};

}  // namespace surelearn
