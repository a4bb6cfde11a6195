// Room 1, names: which word a hashed feature stands for. Knows no text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surelearn/counts.hpp"
#include "surelearn/hash.hpp"

namespace surelearn {

/// The first word met in each feature, and the features in which another one was met after it.
/// Takes memory for what was met, however many features there are.
class Names {
public:
    Names() : table_(least) {}

    /// The words of one text, with their hashes and the keys of both, by feature.
    void meet(std::span<const HashKey> keys, std::span<const std::int32_t> hashes,
              std::span<const std::string_view> words) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto place = static_cast<std::uint32_t>(keys[i]);
            const bool again = i > 0 && keys[i] >> 32 == keys[i - 1] >> 32 &&
                               hashes[place] == hashes[static_cast<std::uint32_t>(keys[i - 1])];
            if (again) continue;  // a word that is there more than once
            const Entry& entry = at(static_cast<std::uint32_t>(keys[i] >> 32), hashes[place],
                                    [&] { return words[place]; });
            if (entry.hash != hashes[place]) clash(entry.name);
        }
    }

    /// What was met elsewhere, after all that was met here.
    void absorb(const Names& later) {
        for (std::size_t i = 0; i < later.size(); ++i) {
            const Entry& theirs = *later.find(later.feature(i));
            const Entry& entry = at(theirs.feature, theirs.hash, [&] { return later.word(i); });
            if (entry.hash != theirs.hash || later.shared(i)) clash(entry.name);
        }
    }

    /// Adds a word of a saved state.
    void restore(std::uint32_t feature, std::string_view word, bool shared) {
        std::string padded(word);
        padded.append(hash_padding, '\0');
        const Entry& entry = at(feature, murmur3(padded.data(), word.size()), [&] { return word; });
        if (shared) clash(entry.name);
    }

    [[nodiscard]] std::size_t size() const noexcept { return features_.size(); }
    [[nodiscard]] std::uint64_t clashes() const noexcept { return clashes_; }

    /// The i-th of the features in the order they were met, its word, and whether it has others.
    [[nodiscard]] std::uint32_t feature(std::size_t i) const noexcept { return features_[i]; }
    [[nodiscard]] bool shared(std::size_t i) const { return shared_[i]; }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
        return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

    /// The word of a feature; empty where none was met, as no word is.
    [[nodiscard]] std::string_view word_of(std::uint32_t feature) const noexcept {
        const Entry* const entry = find(feature);
        return entry->name == none ? std::string_view{} : word(entry->name);
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::size_t least = 1024;

    struct Entry {
        std::uint32_t feature = 0;
        std::int32_t hash = 0;  ///< of the first word; tells it from others as far as 32 bits can
        std::uint32_t name = none;  ///< its place among the names
    };

    /// The entry of a feature, or the free one where it belongs.
    [[nodiscard]] const Entry* find(std::uint32_t feature) const noexcept {
        const std::size_t mask = table_.size() - 1;
        // Features of one text come in order: spread by their low bits they lie near each other.
        std::size_t i = feature & mask;
        while (table_[i].name != none && table_[i].feature != feature) i = (i + 1) & mask;
        return &table_[i];
    }

    /// The entry of a feature, made with its first word where there is none.
    template <class Word>
    const Entry& at(std::uint32_t feature, std::int32_t hash, Word&& word) {
        const Entry* entry = find(feature);
        if (entry->name != none) return *entry;
        if (2 * size() >= table_.size()) {
            grow();
            entry = find(feature);
        }
        Entry& free = table_[static_cast<std::size_t>(entry - table_.data())];
        free = {feature, hash, static_cast<std::uint32_t>(size())};
        features_.push_back(feature);
        bytes_.append(word());
        ends_.push_back(bytes_.size());
        shared_.push_back(false);
        return free;
    }

    void grow() {
        std::vector<Entry> old(2 * table_.size());
        old.swap(table_);
        for (const Entry& entry : old) {
            if (entry.name != none) {
                table_[static_cast<std::size_t>(find(entry.feature) - table_.data())] = entry;
            }
        }
    }

    void clash(std::uint32_t name) {
        if (shared_[name]) return;
        shared_[name] = true;
        ++clashes_;
    }

    std::vector<Entry> table_;  ///< open addressing, a power of two in size, at most half full
    std::vector<std::uint32_t> features_;  ///< in the order they were met
    std::vector<bool> shared_;
    std::vector<std::uint64_t> ends_;  ///< of their words
    std::string bytes_;
    std::uint64_t clashes_ = 0;
};

}  // namespace surelearn
