// Room 1, counting: the hashes of one text to a sparse row, features ascending. Knows no text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/hash.hpp"

namespace surelearn {

/// What becomes of the counts of a text.
struct Counting {
    enum class Norm : std::uint8_t { none, l1, l2 };

    std::uint32_t n_features = 1U << 20;
    bool signs = true;         ///< a hash below zero counts -1
    bool binary = false;       ///< 1 for every feature that is there
    bool logarithmic = false;  ///< 1 + log |count|, with its sign
    Norm norm = Norm::l2;
};

/// Rows of counts, one after the other.
template <class T>
struct CountRows {
    std::vector<std::int64_t> ends;  ///< of each row in the two others
    std::vector<std::int32_t> features;
    std::vector<T> values;
};

/// A feature in the upper half, the hash it comes from in the lower.
using HashKey = std::uint64_t;

/// Sorts by feature; keys of one feature stay in their order. Its buffers are kept.
class KeySort {
public:
    explicit KeySort(std::uint32_t n_features)
        : bits_(std::bit_width(n_features - 1)), digits_((bits_ + 7) / 8) {}

    void operator()(std::vector<HashKey>& keys) {
        if (keys.size() < few) {
            insert(keys);
            return;
        }
        const int digit = digits_ == 0 ? 0 : (bits_ + digits_ - 1) / digits_;
        other_.resize(keys.size());
        for (int d = 0; d < digits_; ++d) {
            scatter(keys, 32 + d * digit, (HashKey{1} << digit) - 1);
            keys.swap(other_);
        }
    }

private:
    static constexpr std::size_t few = 40;

    static void insert(std::span<HashKey> keys) noexcept {
        for (std::size_t i = 1; i < keys.size(); ++i) {
            const HashKey key = keys[i];
            std::size_t at = i;
            for (; at > 0 && keys[at - 1] >> 32 > key >> 32; --at) keys[at] = keys[at - 1];
            keys[at] = key;
        }
    }

    void scatter(std::span<const HashKey> keys, int shift, HashKey mask) noexcept {
        std::array<std::uint32_t, 257> place{};
        for (const HashKey key : keys) ++place[(key >> shift & mask) + 1];
        for (std::size_t i = 1; i <= mask; ++i) place[i] += place[i - 1];
        for (const HashKey key : keys) other_[place[key >> shift & mask]++] = key;
    }

    int bits_;
    int digits_;
    std::vector<HashKey> other_;
};

/// Turns the hashes of a text into a row.
template <class T>
class Counter {
public:
    explicit Counter(const Counting& how) : how_(how), sort_(how.n_features) {}

    /// Adds a row; `hashes` may be in any order. Calls met(feature, keys) for each feature.
    template <class Met>
    void add(std::span<const std::int32_t> hashes, CountRows<T>& rows, Met&& met) {
        keys_.resize(hashes.size());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const HashKey feature = bucket(hashes[i], how_.n_features);
            keys_[i] = feature << 32 | static_cast<std::uint32_t>(hashes[i]);
        }
        sort_(keys_);
        const std::size_t first = rows.values.size();
        for (std::size_t i = 0; i < keys_.size();) {
            const std::size_t begin = i;
            std::int64_t count = 0;
            for (; i < keys_.size() && keys_[i] >> 32 == keys_[begin] >> 32; ++i) {
                const bool negative = static_cast<std::int32_t>(keys_[i]) < 0;
                count += how_.signs && negative ? -1 : 1;
            }
            const auto feature = static_cast<std::uint32_t>(keys_[begin] >> 32);
            met(feature, std::span(keys_).subspan(begin, i - begin));
            rows.features.push_back(static_cast<std::int32_t>(feature));
            rows.values.push_back(value_of(count));
        }
        normalise(std::span(rows.values).subspan(first));
        rows.ends.push_back(static_cast<std::int64_t>(rows.values.size()));
    }

private:
    [[nodiscard]] T value_of(std::int64_t count) const noexcept {
        if (how_.binary) return T{1};
        const auto value = static_cast<double>(count);
        if (!how_.logarithmic || count == 0) return static_cast<T>(value);
        return static_cast<T>(std::copysign(1.0 + std::log(std::fabs(value)), value));
    }

    /// As scikit-learn's `normalize`: sums in double, products and quotients as T has them.
    void normalise(std::span<T> row) const noexcept {
        double sum = 0.0;
        switch (how_.norm) {
            case Counting::Norm::none:
                return;
            case Counting::Norm::l1:
                for (const T x : row) sum += static_cast<double>(std::fabs(x));
                break;
            case Counting::Norm::l2:
                for (const T x : row) sum += static_cast<double>(static_cast<T>(x * x));
                sum = std::sqrt(sum);
        }
        if (sum == 0.0) return;
        for (T& x : row) x = static_cast<T>(static_cast<double>(x) / sum);
    }

    Counting how_;
    KeySort sort_;
    std::vector<HashKey> keys_;
};

}  // namespace surelearn
