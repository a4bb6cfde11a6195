// Crossed rows: the products of the features of two rows, such as those of a text and those
// of a label. Knows neither texts nor labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/row_builder.hpp"

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
/// of (i, j). There may be fewer than 2^32 products, and if they are hashed as many features.
class CrossedRow {
public:
    struct Entry {
        std::uint64_t feature;
        double value;
    };

    explicit CrossedRow(const PairPlaces& place)
        : place_(place), sort_(static_cast<std::uint32_t>(place.n_features)) {}

    template <class R, class Q>
    [[nodiscard]] std::span<const Entry> cross(const R& left, const Q& right) {
        entries_.clear();
        for (std::size_t p = 0; p < left.size(); ++p) {
            for (std::size_t q = 0; q < right.size(); ++q) {
                entries_.push_back(
                    {place_(left.feature(p), right.feature(q)), left.x(p) * right.x(q)});
            }
        }
        return place_.hashed ? summed() : std::span<const Entry>(entries_);
    }

private:
    [[nodiscard]] std::span<const Entry> summed() {
        keys_.resize(entries_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = entries_[i].feature << 32 | i;
        sort_(keys_);
        sums_.clear();
        for (const HashKey key : keys_) {
            const Entry& entry = entries_[static_cast<std::uint32_t>(key)];
            if (!sums_.empty() && sums_.back().feature == entry.feature) {
                sums_.back().value += entry.value;
            } else {
                sums_.push_back(entry);
            }
        }
        return sums_;
    }

    PairPlaces place_;
    KeySort sort_;
    std::vector<Entry> entries_;
    std::vector<HashKey> keys_;
    std::vector<Entry> sums_;
};

}  // namespace surelearn
