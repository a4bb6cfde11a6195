// Names: the words of hashed features. Knows no text.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surelearn/hash.hpp"
#include "surelearn/row_builder.hpp"

namespace surelearn {

/// A small, fast cache of known words: most words in a text are known already. Other threads may
/// read while one adds. They may read an old entry; then a word is looked up once more than needed.
class KnownWords {
public:
    [[nodiscard]] bool has(std::uint32_t feature, std::int32_t hash) const noexcept {
        const auto known = hashes_[feature % size].load(std::memory_order_relaxed);
        return (known == hash && hash != 0) || is_shared(feature);
    }

    /// Prefetches the entry of a feature.
    void expect(std::uint32_t feature) const noexcept {
        __builtin_prefetch(&hashes_[feature % size]);
    }

    /// Adds a feature whose first word has this hash; `shared` if it already has several words.
    void add(std::uint32_t feature, std::int32_t hash, bool shared) noexcept {
        // The hash identifies the feature as well; the shared flag needs a separate table.
        hashes_[feature % size].store(hash, std::memory_order_relaxed);
        if (shared && feature < size) shared_[feature].store(true, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t size = std::size_t{1} << 18;

    [[nodiscard]] bool is_shared(std::uint32_t feature) const noexcept {
        return feature < size && shared_[feature].load(std::memory_order_relaxed);
    }

    std::vector<std::atomic<std::int32_t>> hashes_ = std::vector<std::atomic<std::int32_t>>(size);
    std::vector<std::atomic<bool>> shared_ = std::vector<std::atomic<bool>>(size);
};

/// The first word of each feature, and which features have several words. Memory grows with the
/// words met, not with the number of features.
class Names {
public:
    Names()
        : known_(std::make_unique<KnownWords>()),
          asked_(known_.get()),
          table_(least),
          name_(least) {}

    /// Names that `others` will absorb: words that those know are skipped.
    explicit Names(const KnownWords& others) : asked_(&others), table_(least), name_(least) {}

    /// Words that other names may skip.
    [[nodiscard]] const KnownWords& known() const noexcept { return *asked_; }

    /// Prefetches the entry of a feature before `meet` needs it.
    void expect(std::uint32_t feature) const noexcept { asked_->expect(feature); }

    /// Adds the words of one text, word(i) for the i-th hash, with keys sorted by feature.
    template <class Word>
    void meet(std::span<const HashKey> keys, std::span<const std::int32_t> hashes, Word&& word) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto place = static_cast<std::uint32_t>(keys[i]);
            const auto feature = static_cast<std::uint32_t>(keys[i] >> 32);
            if (asked_->has(feature, hashes[place])) continue;
            tell(add({feature, hashes[place]}, [&] { return word(place); }));
        }
    }

    /// Adds names met elsewhere, as if they came after those met here.
    void absorb(const Names& later) {
        for (std::size_t i = 0; i < later.size(); ++i) {
            const Entry& entry = later.table_[later.find(later.feature(i))];
            const std::size_t own = add(entry, [&] { return later.word(i); });
            if (later.shared(i)) clash(own);
            tell(own);
        }
    }

    /// Adds a word of a saved state.
    void restore(std::uint32_t feature, std::string_view word, bool shared) {
        std::string padded(word);
        padded.append(hash_padding, '\0');
        const Entry entry{feature, murmur3(padded.data(), word.size())};
        const std::size_t own = add(entry, [&] { return word; });
        if (shared) clash(own);
    }

    [[nodiscard]] std::size_t size() const noexcept { return features_.size(); }
    [[nodiscard]] std::uint64_t clashes() const noexcept { return clashes_; }

    /// The i-th feature in order of arrival, its word, and whether it has others.
    [[nodiscard]] std::uint32_t feature(std::size_t i) const noexcept { return features_[i]; }
    [[nodiscard]] bool shared(std::size_t i) const { return shared_[i]; }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
        return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

    /// The word of a feature; empty if it has none (no word is empty).
    [[nodiscard]] std::string_view word_of(std::uint32_t feature) const noexcept {
        const std::size_t i = find(feature);
        return table_[i].feature == none ? std::string_view{} : word(name_[i]);
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::size_t least = 1024;

    struct Entry {
        std::uint32_t feature = none;
        std::int32_t hash = 0;  ///< hash of the first word, to tell it from others
    };

    /// The slot of a feature, or the free slot where it belongs.
    [[nodiscard]] std::size_t find(std::uint32_t feature) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = feature & mask;  // unmixed: a text's features ascend, and so do addresses
        while (table_[i].feature != feature && table_[i].feature != none) i = (i + 1) & mask;
        return i;
    }

    /// Adds a word; returns the slot of its feature.
    template <class Word>
    std::size_t add(const Entry& entry, Word&& word) {
        std::size_t i = find(entry.feature);
        if (table_[i].feature != none) {
            if (table_[i].hash != entry.hash) clash(i);
            return i;
        }
        if (2 * size() >= table_.size()) {
            grow();
            i = find(entry.feature);
        }
        table_[i] = entry;
        name_[i] = static_cast<std::uint32_t>(size());
        features_.push_back(entry.feature);
        bytes_.append(word());
        ends_.push_back(bytes_.size());
        shared_.push_back(false);
        return i;
    }

    /// Adds the word of an entry to the cache.
    void tell(std::size_t i) noexcept {
        if (known_) known_->add(table_[i].feature, table_[i].hash, shared_[name_[i]]);
    }

    void grow() {
        const std::size_t size = 2 * table_.size();
        const auto old = std::exchange(table_, std::vector<Entry>(size));
        const auto names = std::exchange(name_, std::vector<std::uint32_t>(size));
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (old[i].feature == none) continue;
            const std::size_t at = find(old[i].feature);
            table_[at] = old[i];
            name_[at] = names[i];
        }
    }

    void clash(std::size_t i) {
        if (shared_[name_[i]]) return;
        shared_[name_[i]] = true;
        ++clashes_;
    }

    std::unique_ptr<KnownWords> known_;  ///< null if others will absorb the names
    const KnownWords* asked_;            ///< the cache in use: ours or the others'
    std::vector<Entry> table_;  ///< open addressing, a power of two in size, at most half full
    std::vector<std::uint32_t> name_;      ///< for each table entry, its index below
    std::vector<std::uint32_t> features_;  ///< in order of arrival
    std::vector<bool> shared_;
    std::vector<std::uint64_t> ends_;  ///< of their words
    std::string bytes_;
    std::uint64_t clashes_ = 0;
};

/// A view of names stored elsewhere, sorted by feature.
struct NameView {
    std::span<const std::int64_t> features;
    std::span<const std::int64_t> ends;  ///< of their words
    std::string_view bytes;
    std::span<const std::uint8_t> shared;

    [[nodiscard]] std::string_view word(std::size_t i) const {
        const auto begin = static_cast<std::size_t>(i == 0 ? 0 : ends[i - 1]);
        return bytes.substr(begin, static_cast<std::size_t>(ends[i]) - begin);
    }
};

struct NameList {
    std::vector<std::int64_t> features;
    std::vector<std::int64_t> ends;
    std::string bytes;
    std::vector<std::uint8_t> shared;

    void add(std::int64_t feature, std::string_view word, bool others) {
        features.push_back(feature);
        bytes.append(word);
        ends.push_back(static_cast<std::int64_t>(bytes.size()));
        shared.push_back(others ? 1 : 0);
    }
};

/// The union of names. If a feature has two words, the bytewise smaller one stays, so that the
/// result does not depend on the order of merging.
[[nodiscard]] inline NameList unite(const NameView& a, const NameView& b) {
    NameList both;
    std::size_t i = 0;
    std::size_t k = 0;
    while (i < a.features.size() || k < b.features.size()) {
        const bool from_a =
            k == b.features.size() || (i < a.features.size() && a.features[i] <= b.features[k]);
        const bool from_b =
            i == a.features.size() || (k < b.features.size() && b.features[k] <= a.features[i]);
        if (from_a && from_b) {
            const bool others = a.shared[i] != 0 || b.shared[k] != 0 || a.word(i) != b.word(k);
            both.add(a.features[i], std::min(a.word(i), b.word(k)), others);
        } else if (from_a) {
            both.add(a.features[i], a.word(i), a.shared[i] != 0);
        } else {
            both.add(b.features[k], b.word(k), b.shared[k] != 0);
        }
        i += from_a ? 1 : 0;
        k += from_b ? 1 : 0;
    }
    return both;
}

}  // namespace surelearn
