// Room 1, names: which word a hashed feature stands for. Knows no text.
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

/// Which words are known already, as far as room goes: most that are met are, and this is quick to
/// say so. Other threads may ask while one adds; what they are told may be old news, and then a
/// word is looked up once more than needed.
class KnownWords {
public:
    [[nodiscard]] bool has(std::uint32_t feature, std::int32_t hash) const noexcept {
        const auto known = hashes_[feature % size].load(std::memory_order_relaxed);
        return (known == hash && hash != 0) || is_shared(feature);
    }

    /// Asks memory for what is known of a feature.
    void expect(std::uint32_t feature) const noexcept {
        __builtin_prefetch(&hashes_[feature % size]);
    }

    /// A feature whose first word has this hash; or one with others, of which none is news.
    void add(std::uint32_t feature, std::int32_t hash, bool shared) noexcept {
        // A hash tells the feature, too; whether that has other words needs a place of its own.
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

/// The first word met in each feature, and the features in which another one was met after it.
/// Takes memory for what was met, however many features there are.
class Names {
public:
    Names()
        : known_(std::make_unique<KnownWords>()),
          asked_(known_.get()),
          table_(least),
          name_(least) {}

    /// Names that others will absorb: what those know is not met again.
    explicit Names(const KnownWords& others) : asked_(&others), table_(least), name_(least) {}

    /// What other names need not meet again.
    [[nodiscard]] const KnownWords& known() const noexcept { return *asked_; }

    /// Asks memory for what is known of a feature, which `meet` will want to know soon.
    void expect(std::uint32_t feature) const noexcept { asked_->expect(feature); }

    /// The words of one text, with their hashes and the keys of both, by feature.
    void meet(std::span<const HashKey> keys, std::span<const std::int32_t> hashes,
              std::span<const std::string_view> words) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto place = static_cast<std::uint32_t>(keys[i]);
            const auto feature = static_cast<std::uint32_t>(keys[i] >> 32);
            if (asked_->has(feature, hashes[place])) continue;
            tell(add({feature, hashes[place]}, [&] { return words[place]; }));
        }
    }

    /// What was met elsewhere, after all that was met here.
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

    /// The i-th of the features in the order they were met, its word, and whether it has others.
    [[nodiscard]] std::uint32_t feature(std::size_t i) const noexcept { return features_[i]; }
    [[nodiscard]] bool shared(std::size_t i) const { return shared_[i]; }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
        return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

    /// The word of a feature; empty where none was met, as no word is.
    [[nodiscard]] std::string_view word_of(std::uint32_t feature) const noexcept {
        const std::size_t i = find(feature);
        return table_[i].feature == none ? std::string_view{} : word(name_[i]);
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::size_t least = 1024;

    struct Entry {
        std::uint32_t feature = none;
        std::int32_t hash = 0;  ///< of the first word; tells it from others as far as 32 bits can
    };

    /// The place of a feature in the table, or the free one where it belongs.
    [[nodiscard]] std::size_t find(std::uint32_t feature) const noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = feature & mask;  // features of a text ascend, and so does memory
        while (table_[i].feature != feature && table_[i].feature != none) i = (i + 1) & mask;
        return i;
    }

    /// Meets a word; gives the place of its feature in the table.
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

    /// Lets the word of an entry be known.
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

    std::unique_ptr<KnownWords> known_;  ///< none where others will absorb the names
    const KnownWords* asked_;            ///< these, or the others'
    std::vector<Entry> table_;  ///< open addressing, a power of two in size, at most half full
    std::vector<std::uint32_t> name_;      ///< of each entry of the table its place below
    std::vector<std::uint32_t> features_;  ///< in the order they were met
    std::vector<bool> shared_;
    std::vector<std::uint64_t> ends_;  ///< of their words
    std::string bytes_;
    std::uint64_t clashes_ = 0;
};

/// Names kept elsewhere, in the order of their features.
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

/// The names of both. Of two words of a feature the smaller by its bytes stays, which does not
/// depend on who met which first.
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
