// The words shared by every room: a step of a rule, a view of one sparse row.
#pragma once

#include <cstddef>
#include <span>

namespace surelearn {

/// What a rule decides: mu += alpha sigma g, sigma^-1 += gain g g'.
struct Step {
    double alpha = 0.0;
    double gain = 0.0;

    [[nodiscard]] constexpr bool moves() const noexcept { return alpha != 0.0 || gain != 0.0; }
};

/// One row x: indices ascending and distinct, values finite and not zero.
template <class Index, class Value>
struct Row {
    std::span<const Index> index;
    std::span<const Value> value;

    [[nodiscard]] std::size_t size() const noexcept { return index.size(); }
    [[nodiscard]] std::size_t feature(std::size_t p) const noexcept {
        return static_cast<std::size_t>(index[p]);
    }
    [[nodiscard]] double x(std::size_t p) const noexcept { return static_cast<double>(value[p]); }
};

}  // namespace surelearn
