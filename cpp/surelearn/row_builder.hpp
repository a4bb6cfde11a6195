// Row builder: from the hashes of one text to a sparse row with ascending features. Knows
// no text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/hash.hpp"
#include "surelearn/normal.hpp"

namespace surelearn {

/// How to turn the counts of a text into values.
struct Counting {
    enum class Norm : std::uint8_t { none, l1, l2 };

    std::uint32_t n_features = 1U << 20;
    bool signs = true;         ///< a negative hash counts -1
    bool binary = false;       ///< 1 for every feature that occurs
    bool logarithmic = false;  ///< 1 + log |count|, with its sign
    Norm norm = Norm::l2;
};

/// Leaves new numbers unwritten: they are about to be written, perhaps by another thread.
template <class T>
struct UnwrittenAllocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = UnwrittenAllocator<U>;
    };

    template <class U>
    void construct(U*) noexcept {}
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        std::construct_at(at, std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using UnwrittenVector = std::vector<T, UnwrittenAllocator<T>>;

/// Rows of counts, one after the other.
template <class T>
struct CountRows {
    UnwrittenVector<std::int64_t> ends;  ///< end of each row in the other two arrays
    UnwrittenVector<std::int32_t> features;
    UnwrittenVector<T> values;

    void clear() noexcept {
        ends.clear();
        features.clear();
        values.clear();
    }
};

/// Brings a row to length 1, as scikit-learn's `normalize`: sums in double, products and quotients
/// in T.
template <class T>
void normalise(std::span<T> row, Counting::Norm norm) noexcept {
    double sum = 0.0;
    switch (norm) {
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

/// A feature in the upper half, the index of its hash in the lower half.
using HashKey = std::uint64_t;

/// A stable sort by feature. Keeps its buffers.
class KeySort {
public:
    explicit KeySort(std::uint32_t n_features)
        : bits_(static_cast<unsigned>(std::bit_width(n_features - 1))) {}

    void operator()(std::vector<HashKey>& keys) {
        if (keys.size() > many) {
            by_all_digits(keys);
            return;
        }
        // The first digit has about as many values as the text has keys: after sorting by it,
        // hardly any keys are out of order.
        const auto size = static_cast<unsigned>(std::bit_width(keys.size()));
        if (keys.size() > few) by_digit(keys, bits_ - std::min(bits_, size), size);
        insert(keys);
    }

private:
    static constexpr std::size_t few = 6;
    static constexpr unsigned largest = 11;  ///< bits of a digit
    static constexpr std::size_t many = (std::size_t{1} << largest) - 1;

    void by_all_digits(std::vector<HashKey>& keys) {
        for (unsigned from = 0; from < bits_; from += largest) by_digit(keys, from, largest);
    }

    void by_digit(std::vector<HashKey>& keys, unsigned from, unsigned size) {
        std::array<std::uint32_t, (std::size_t{1} << largest) + 1> place;
        const unsigned shift = 32 + from;
        const HashKey mask = (HashKey{1} << size) - 1;
        std::fill_n(place.begin(), mask + 2, 0U);
        for (const HashKey key : keys) ++place[(key >> shift & mask) + 1];
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i <= mask; ++i) {
            sum += place[i];
            place[i] = sum;
        }
        other_.resize(keys.size());
        for (const HashKey key : keys) other_[place[key >> shift & mask]++] = key;
        keys.swap(other_);
    }

    static void insert(std::span<HashKey> keys) noexcept {
        for (std::size_t i = 1; i < keys.size(); ++i) {
            const HashKey key = keys[i];
            std::size_t at = i;
            for (; at > 0 && keys[at - 1] >> 32 > key >> 32; --at) keys[at] = keys[at - 1];
            keys[at] = key;
        }
    }

    unsigned bits_;
    std::vector<HashKey> other_;
};

/// Counts the hashes of a text into a row.
template <class T>
class RowBuilder {
public:
    explicit RowBuilder(const Counting& how) : how_(how), sort_(how.n_features) {}

    /// Adds the row of these hashes.
    void add(std::span<const std::int32_t> hashes, CountRows<T>& rows) {
        keys_.resize(hashes.size());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            keys_[i] = HashKey{bucket(hashes[i], how_.n_features)} << 32 | i;
        }
        sort_(keys_);
        const std::size_t first = rows.values.size();
        rows.features.resize(first + hashes.size());
        const std::size_t n = sum_up(hashes, rows.features.data() + first);
        rows.features.resize(first + n);
        rows.values.resize(first + n);
        for (std::size_t i = 0; i < n; ++i) rows.values[first + i] = value_of(counts_[i]);
        normalise(std::span(rows.values).subspan(first), how_.norm);
        rows.ends.push_back(static_cast<std::int64_t>(rows.values.size()));
    }

    /// The keys of the last row, sorted by feature; keys of one feature keep their order.
    [[nodiscard]] std::span<const HashKey> keys() const noexcept { return keys_; }

private:
    /// Sums each feature without a branch at its end; returns the number of features.
    [[nodiscard]] std::size_t sum_up(std::span<const std::int32_t> hashes, std::int32_t* features) {
        const std::size_t size = keys_.size();
        counts_.resize(size);
        keys_.push_back(~HashKey{0});  // a sentinel that ends the last feature
        const std::uint32_t sign = how_.signs ? 2 : 0;
        std::size_t n = 0;
        std::int32_t count = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto h = static_cast<std::uint32_t>(hashes[static_cast<std::uint32_t>(keys_[i])]);
            count += 1 - static_cast<std::int32_t>((h >> 30) & sign);
            features[n] = static_cast<std::int32_t>(keys_[i] >> 32);
            counts_[n] = count;
            const auto ends = static_cast<std::int32_t>((keys_[i] ^ keys_[i + 1]) >> 32 != 0);
            n += static_cast<std::size_t>(ends);
            count &= ends - 1;  // back to 0 where the feature ends
        }
        keys_.pop_back();
        return n;
    }

    [[nodiscard]] T value_of(std::int32_t count) const noexcept {
        if (how_.binary) return T{1};
        if (!how_.logarithmic || count == 0) return static_cast<T>(count);
        const std::uint32_t size =
            count < 0 ? 0U - static_cast<std::uint32_t>(count) : static_cast<std::uint32_t>(count);
        // Nearly all counts are small, and a logarithm would take longer than all the rest.
        const double value = size < logs_.size() ? logs_[size] : 1.0 + detail::log(size);
        return static_cast<T>(count < 0 ? -value : value);
    }

    [[nodiscard]] static std::array<double, 64> small_logs() noexcept {
        std::array<double, 64> logs{};
        for (std::size_t i = 1; i < logs.size(); ++i) {
            logs[i] = 1.0 + detail::log(static_cast<double>(i));
        }
        return logs;
    }

    Counting how_;
    KeySort sort_;
    std::array<double, 64> logs_ = small_logs();  ///< 1 + log c
    std::vector<HashKey> keys_;
    std::vector<std::int32_t> counts_;
};

}  // namespace surelearn
