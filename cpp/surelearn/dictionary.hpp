// Dictionaries: number strings, or pairs of numbers, in order of arrival. Knows no text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surelearn/table.hpp"

namespace surelearn {

/// Strings stored one after the other in one buffer.
class Strings {
public:
    void add(std::string_view text) {
        bytes_.append(text);
        ends_.push_back(static_cast<std::int64_t>(bytes_.size()));
    }

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
        const auto begin = static_cast<std::size_t>(i == 0 ? 0 : ends_[i - 1]);
        return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i]) - begin};
    }
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
    [[nodiscard]] const std::vector<std::int64_t>& ends() const noexcept { return ends_; }

private:
    std::string bytes_;
    std::vector<std::int64_t> ends_;
};

/// A mixed hash of x: every input bit affects every output bit.
[[nodiscard]] inline std::uint64_t stirred(std::uint64_t x) noexcept {
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15;
    return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
}

/// The hash of a string. It is never stored on disk, so it may differ between machines.
[[nodiscard]] inline std::uint32_t key_of(std::string_view text) noexcept {
    std::uint64_t key = text.size();
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        key = stirred(key ^ word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data() + at, text.size() - at);
    key = stirred(key ^ rest);
    return static_cast<std::uint32_t>(key >> 32);
}

inline constexpr std::int32_t no_number = -1;

/// A hash table with all entries free.
template <class Entry>
[[nodiscard]] Table<Entry> filled(std::size_t size) {
    Table<Entry> table(size);
    std::uninitialized_fill_n(table.data(), size, Entry{});
    return table;
}

/// Maps strings to numbers: the first string is 0, the next new one is 1, and so on.
class Dictionary {
public:
    Dictionary() : table_(filled<Entry>(least)) {}

    /// The number of a string, or `no_number`.
    [[nodiscard]] std::int32_t find(std::string_view name) const noexcept {
        return find(name, key_of(name));
    }
    [[nodiscard]] std::int32_t find(std::string_view name, std::uint32_t key) const noexcept {
        return table_.data()[place_of(name, key)].number;
    }

    /// The address of a key's entry, for prefetching.
    [[nodiscard]] const void* where(std::uint32_t key) const noexcept {
        return &table_.data()[key & (table_.size() - 1)];
    }

    /// The number of a string; a new string is added.
    std::int32_t add(std::string_view name) { return add(name, key_of(name)); }
    std::int32_t add(std::string_view name, std::uint32_t key) {
        std::size_t place = place_of(name, key);
        if (table_.data()[place].number != no_number) return table_.data()[place].number;
        if (2 * size() >= table_.size()) {
            grow();
            place = free_place(key);
        }
        table_.data()[place] = {key, next()};
        names_.add(name);
        return table_.data()[place].number;
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] const Strings& names() const noexcept { return names_; }

private:
    static constexpr std::size_t least = 64;

    struct Entry {
        std::uint32_t key = 0;  ///< hash; most other strings differ in it
        std::int32_t number = no_number;
    };

    [[nodiscard]] std::int32_t next() const {
        if (size() >= std::numeric_limits<std::int32_t>::max()) {
            throw std::length_error("a dictionary holds 2^31 - 1 names");
        }
        return static_cast<std::int32_t>(size());
    }

    /// The slot of a string, or the free slot where it belongs.
    [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t key) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = key & mask;
        for (; table_.data()[i].number != no_number; i = (i + 1) & mask) {
            if (table_.data()[i].key == key &&
                names_[static_cast<std::size_t>(table_.data()[i].number)] == name)
                break;
        }
        return i;
    }

    [[nodiscard]] std::size_t free_place(std::uint32_t key) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = key & mask;
        while (table_.data()[i].number != no_number) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        const auto old = std::exchange(table_, filled<Entry>(2 * table_.size()));
        for (const Entry& entry : std::span(old.data(), old.size())) {
            if (entry.number != no_number) table_.data()[free_place(entry.key)] = entry;
        }
    }

    Table<Entry> table_;  ///< open addressing, a power of two in size, at most half full
    Strings names_;
};

/// Maps pairs (a, b) to numbers, with a < `n_a` and b < `n_b`.
class PairDictionary {
public:
    /// Uses a dense table if there are at most `dense` possible pairs.
    PairDictionary(std::uint64_t n_a, std::uint64_t n_b, std::uint64_t dense)
        : stride_(n_b), is_dense_(n_a * n_b <= dense) {
        if (is_dense_) {
            cells_.assign(n_a * n_b, no_number);
        } else {
            table_ = filled<Entry>(least);
        }
    }

    /// Replaces each a by the number of its pair (a, b); new pairs are added.
    void add(std::span<std::uint32_t> a, std::span<const std::uint32_t> b) {
        if (is_dense_) {
            for (std::size_t i = 0; i < a.size(); ++i) {
                std::int32_t& cell = cells_[a[i] * stride_ + b[i]];
                if (cell == no_number) cell = static_cast<std::int32_t>(size_++);
                a[i] = static_cast<std::uint32_t>(cell);
            }
            return;
        }
        // Prefetch all first: memory serves many requests in the time of one.
        for (std::size_t i = 0; i < a.size(); ++i) {
            __builtin_prefetch(&table_.data()[first_place(pair_of(a[i], b[i]))]);
        }
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = add_to_table(pair_of(a[i], b[i]));
    }

private:
    static constexpr std::size_t least = 64;

    struct Entry {
        std::uint64_t pair = 0;
        std::int32_t number = no_number;
    };

    [[nodiscard]] static std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) noexcept {
        return std::uint64_t{a} << 32 | b;
    }

    [[nodiscard]] std::size_t first_place(std::uint64_t pair) const noexcept {
        return (stirred(pair) >> 32) & (table_.size() - 1);
    }

    std::uint32_t add_to_table(std::uint64_t pair) {
        Entry* entry = &table_.data()[place_of(pair)];
        if (entry->number != no_number) return static_cast<std::uint32_t>(entry->number);
        if (2 * std::size_t{size_} >= table_.size()) {
            grow();
            entry = &table_.data()[place_of(pair)];
        }
        *entry = {pair, static_cast<std::int32_t>(size_)};
        return size_++;
    }

    [[nodiscard]] std::size_t place_of(std::uint64_t pair) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = first_place(pair);
        while (table_.data()[i].number != no_number && table_.data()[i].pair != pair)
            i = (i + 1) & mask;
        return i;
    }

    void grow() {
        const auto old = std::exchange(table_, filled<Entry>(4 * table_.size()));
        for (const Entry& entry : std::span(old.data(), old.size())) {
            if (entry.number != no_number) table_.data()[place_of(entry.pair)] = entry;
        }
    }

    std::uint64_t stride_;
    bool is_dense_;
    std::vector<std::int32_t> cells_;
    Table<Entry> table_;
    std::uint32_t size_ = 0;
};

}  // namespace surelearn
