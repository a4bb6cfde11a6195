// Room 1, crossed rows: the products of the features of two rows, such as those of a text and those
// of a label. Knows neither texts nor labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/types.hpp"

namespace surelearn {

/// The place of a pair of features.
struct PairPlaces {
    std::uint64_t n_features;  ///< of the crossed rows
    std::uint64_t n_right;     ///< of the right rows
    bool hashed;

    /// All pairs in order, or a hash of them: two odd multipliers and the finaliser of SplitMix64.
    [[nodiscard]] std::uint64_t operator()(std::uint64_t i, std::uint64_t j) const noexcept {
        if (!hashed) return i * n_right + j;
        std::uint64_t h = i * 0x9e3779b97f4a7c15U + j * 0xd1b54a32d192ed03U;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
        return (h ^ (h >> 31)) % n_features;
    }
};

/// The row of all products x_i z_j, features ascending; products in one place are summed in order
/// of (i, j).
class CrossedRow {
public:
    struct Entry {
        std::uint64_t feature;
        double value;
    };

    template <class R, class Q>
    [[nodiscard]] std::span<const Entry> cross(const R& left, const Q& right,
                                               const PairPlaces& place) {
        entries_.clear();
        for (std::size_t p = 0; p < left.size(); ++p) {
            for (std::size_t q = 0; q < right.size(); ++q) {
                entries_.push_back(
                    {place(left.feature(p), right.feature(q)), left.x(p) * right.x(q)});
            }
        }
        if (place.hashed) sum_up();
        return entries_;
    }

private:
    void sum_up() {
        std::ranges::stable_sort(entries_, std::less{}, &Entry::feature);
        std::size_t kept = 0;
        for (std::size_t p = 0; p < entries_.size();) {
            Entry sum = entries_[p];
            for (++p; p < entries_.size() && entries_[p].feature == sum.feature; ++p) {
                sum.value += entries_[p].value;
            }
            entries_[kept++] = sum;
        }
        entries_.resize(kept);
    }

    std::vector<Entry> entries_;
};

}  // namespace surelearn
