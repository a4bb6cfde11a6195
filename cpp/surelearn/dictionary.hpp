// Room 1, dictionaries: strings, or pairs of numbers, to 0, 1, 2, ... as they arrive. Knows no
// text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surelearn {

/// Strings one after the other in one piece of memory.
class Strings {
public:
    void add(std::string_view text) {
        bytes_.append(text);
        ends_.push_back(static_cast<std::int64_t>(bytes_.size()));
    }

    void clear() noexcept {
        bytes_.clear();
        ends_.clear();
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

/// Every bit of x has a say in every bit of the result.
[[nodiscard]] inline std::uint64_t stirred(std::uint64_t x) noexcept {
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15;
    return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
}

/// What a string is found by. It is never stored on disk, so it may differ between machines.
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

/// Strings to numbers: the first that was added is 0, the next new one 1.
class Dictionary {
public:
    Dictionary() : table_(least) {}

    /// The number of a string, or `no_number`.
    [[nodiscard]] std::int32_t find(std::string_view name) const noexcept {
        return find(name, key_of(name));
    }
    [[nodiscard]] std::int32_t find(std::string_view name, std::uint32_t key) const noexcept {
        return table_[place_of(name, key)].number;
    }

    /// Where memory has what is known of a key, to be asked for it before it is needed.
    [[nodiscard]] const void* where(std::uint32_t key) const noexcept {
        return &table_[key & (table_.size() - 1)];
    }

    /// The number of a string, which is added where it is new.
    std::int32_t add(std::string_view name) { return add(name, key_of(name)); }
    std::int32_t add(std::string_view name, std::uint32_t key) {
        std::size_t place = place_of(name, key);
        if (table_[place].number != no_number) return table_[place].number;
        if (2 * size() >= table_.size()) {
            grow();
            place = free_place(key);
        }
        table_[place] = {key, next()};
        names_.add(name);
        return table_[place].number;
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] const Strings& names() const noexcept { return names_; }

private:
    static constexpr std::size_t least = 64;

    struct Entry {
        std::uint32_t key = 0;  ///< most others are told by it alone
        std::int32_t number = no_number;
    };

    [[nodiscard]] std::int32_t next() const {
        if (size() >= std::numeric_limits<std::int32_t>::max()) {
            throw std::length_error("a dictionary holds 2^31 - 1 names");
        }
        return static_cast<std::int32_t>(size());
    }

    /// The place of a string in the table, or the free one where it belongs.
    [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t key) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = key & mask;
        for (; table_[i].number != no_number; i = (i + 1) & mask) {
            if (table_[i].key == key && names_[static_cast<std::size_t>(table_[i].number)] == name)
                break;
        }
        return i;
    }

    [[nodiscard]] std::size_t free_place(std::uint32_t key) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = key & mask;
        while (table_[i].number != no_number) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        const auto old = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
        for (const Entry& entry : old) {
            if (entry.number != no_number) table_[free_place(entry.key)] = entry;
        }
    }

    std::vector<Entry> table_;  ///< open addressing, a power of two in size, at most half full
    Strings names_;
};

/// Pairs of numbers (a, b) to numbers, a < `n_a` and b < `n_b`.
class PairDictionary {
public:
    /// One cell for each pair there could be, if there are no more than `dense` of them.
    PairDictionary(std::uint64_t n_a, std::uint64_t n_b, std::uint64_t dense)
        : stride_(n_b), is_dense_(n_a * n_b <= dense) {
        if (is_dense_) {
            cells_.assign(n_a * n_b, no_number);
        } else {
            table_.resize(least);
        }
    }

    /// The numbers of pairs (a, b), the next ones where they are new, in place of a.
    void add(std::span<std::uint32_t> a, std::span<const std::uint32_t> b) {
        if (is_dense_) {
            for (std::size_t i = 0; i < a.size(); ++i) {
                std::int32_t& cell = cells_[a[i] * stride_ + b[i]];
                if (cell == no_number) cell = static_cast<std::int32_t>(size_++);
                a[i] = static_cast<std::uint32_t>(cell);
            }
            return;
        }
        // Memory is asked for all of them first: it answers many in the time of one.
        for (std::size_t i = 0; i < a.size(); ++i) {
            __builtin_prefetch(&table_[first_place(pair_of(a[i], b[i]))]);
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
        Entry* entry = &table_[place_of(pair)];
        if (entry->number != no_number) return static_cast<std::uint32_t>(entry->number);
        if (2 * std::size_t{size_} >= table_.size()) {
            grow();
            entry = &table_[place_of(pair)];
        }
        *entry = {pair, static_cast<std::int32_t>(size_)};
        return size_++;
    }

    [[nodiscard]] std::size_t place_of(std::uint64_t pair) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = first_place(pair);
        while (table_[i].number != no_number && table_[i].pair != pair) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        const auto old = std::exchange(table_, std::vector<Entry>(4 * table_.size()));
        for (const Entry& entry : old) {
            if (entry.number != no_number) table_[place_of(entry.pair)] = entry;
        }
    }

    std::uint64_t stride_;
    bool is_dense_;
    std::vector<std::int32_t> cells_;
    std::vector<Entry> table_;
    std::uint32_t size_ = 0;
};

}  // namespace surelearn
