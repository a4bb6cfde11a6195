// Room 1, names: which word a hashed feature stands for. Knows no text.
#pragma once

#include <algorithm>
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
class Names {
public:
    explicit Names(std::uint32_t n_features) : first_(n_features, 0), shared_(n_features, false) {}

    /// The words of one text, with their hashes and the keys of both, by feature.
    void meet(std::span<const HashKey> keys, std::span<const std::int32_t> hashes,
              std::span<const std::string_view> words) {
        for (const HashKey key : keys) {
            const auto feature = static_cast<std::uint32_t>(key >> 32);
            const auto place = static_cast<std::uint32_t>(key);
            if (first_[feature] == 0) add(feature, mark(hashes[place]), words[place]);
            if (first_[feature] != mark(hashes[place])) clash(feature);
        }
    }

    /// What was met elsewhere, after all that was met here.
    void absorb(const Names& later) {
        for (std::size_t i = 0; i < later.features_.size(); ++i) {
            const std::uint32_t feature = later.features_[i];
            const std::uint32_t theirs = later.first_[feature];
            if (first_[feature] == 0) add(feature, theirs, later.word(i));
            if (first_[feature] != theirs || later.shared_[feature]) clash(feature);
        }
    }

    /// Adds a word of a saved state.
    void restore(std::uint32_t feature, std::string_view word, bool shared) {
        std::string padded(word);
        padded.append(hash_padding, '\0');
        add(feature, mark(murmur3(padded.data(), word.size())), word);
        if (shared) clash(feature);
    }

    [[nodiscard]] std::size_t size() const noexcept { return features_.size(); }
    [[nodiscard]] std::uint64_t clashes() const noexcept { return clashes_; }
    [[nodiscard]] std::uint32_t feature(std::size_t i) const noexcept { return features_[i]; }
    [[nodiscard]] bool shared(std::uint32_t feature) const { return shared_[feature]; }
    [[nodiscard]] std::uint32_t n_features() const noexcept {
        return static_cast<std::uint32_t>(first_.size());
    }

    /// The i-th word, in the order they were met.
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
        return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

private:
    /// A hash that is not zero, which stands for none. Words of one feature have different ones, as
    /// far as 32 bits can tell.
    [[nodiscard]] static std::uint32_t mark(std::int32_t h) noexcept {
        return std::max(static_cast<std::uint32_t>(h), 1U);
    }

    void add(std::uint32_t feature, std::uint32_t mark, std::string_view word) {
        first_[feature] = mark;
        features_.push_back(feature);
        bytes_.append(word);
        ends_.push_back(bytes_.size());
    }

    void clash(std::uint32_t feature) {
        if (shared_[feature]) return;
        shared_[feature] = true;
        ++clashes_;
    }

    std::vector<std::uint32_t> first_;  ///< mark of the first word of each feature
    std::vector<bool> shared_;
    std::vector<std::uint32_t> features_;  ///< in the order they were met
    std::vector<std::uint64_t> ends_;      ///< of their words
    std::string bytes_;
    std::uint64_t clashes_ = 0;
};

}  // namespace surelearn
