// Room 1, from texts to rows: n-grams, their hashes, their counts. Combines the other headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "surelearn/hash.hpp"
#include "surelearn/names.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/row_builder.hpp"
#include "surelearn/text.hpp"

namespace surelearn {

/// No text: all can be encoded.
inline constexpr std::size_t no_text = std::numeric_limits<std::size_t>::max();

/// Reserves memory for as many features as texts of this length commonly have. Unused pages cost
/// nothing, while growing would copy everything.
template <class T>
void reserve(std::span<const Text> texts, const Analysis& analysis, CountRows<T>& rows) {
    std::size_t size = 0;
    for (const Text& text : texts) size += text.size;
    const std::size_t sizes = std::min<std::size_t>(analysis.most - analysis.least + 1, 4);
    rows.ends.reserve(texts.size() + 1);
    rows.features.reserve(sizes * size / 6);
    rows.values.reserve(sizes * size / 6);
}

/// The rows of some texts, in order. Stops at a text that cannot be encoded, and returns its index.
template <class T>
[[nodiscard]] std::size_t hash_texts(std::span<const Text> texts, const Analysis& analysis,
                                     const Counting& counting, CountRows<T>& rows, Names* names) {
    Grams grams(analysis);
    RowBuilder<T> builder(counting);
    std::vector<std::int32_t> hashes;
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        hashes.clear();
        words.clear();
        const bool encoded = grams.each(texts[i], [&](const char* bytes, std::size_t size) {
            hashes.push_back(murmur3(bytes, size));
            if (names == nullptr) return;
            words.emplace_back(bytes, size);
            names->expect(bucket(hashes.back(), counting.n_features));
        });
        if (!encoded) return i;
        builder.add(hashes, rows);
        if (names != nullptr) names->meet(builder.keys(), hashes, words);
    }
    return no_text;
}

/// A part of the texts and its rows.
template <class T>
struct HashedPart {
    std::size_t begin = 0;
    CountRows<T> rows;
    std::size_t failed = no_text;
};

/// The rows of all texts from several threads, as parts in the order of the texts. A part has the
/// index of its first text that cannot be encoded.
template <class T>
[[nodiscard]] std::vector<HashedPart<T>> hash_in_parts(std::span<const Text> texts,
                                                       const Analysis& analysis,
                                                       const Counting& counting,
                                                       std::size_t threads, Names* names) {
    const std::size_t n = std::max<std::size_t>(1, std::min(threads, texts.size()));
    std::vector<HashedPart<T>> parts(n);
    // Names are absorbed only if every text could be read. Words always can.
    const bool at_once = analysis.unit == Analysis::Unit::word;
    std::vector<Names> met;
    for (std::size_t p = 0; names != nullptr && p < n; ++p) met.emplace_back(names->known());
    for (std::size_t p = 0; p < n; ++p) parts[p].begin = texts.size() * p / n;
    parallel_for(n, n, [&](std::size_t first, std::size_t last) {
        for (std::size_t p = first; p < last; ++p) {
            const std::size_t end = p + 1 < n ? parts[p + 1].begin : texts.size();
            Names* const own = names == nullptr || (p == 0 && at_once) ? names : &met[p];
            const auto part = texts.subspan(parts[p].begin, end - parts[p].begin);
            // The other parts will be appended to the first.
            reserve(p == 0 ? texts : part, analysis, parts[p].rows);
            parts[p].failed = hash_texts(part, analysis, counting, parts[p].rows, own);
        }
    });
    const auto sound = [](const HashedPart<T>& part) { return part.failed == no_text; };
    if (std::ranges::all_of(parts, sound)) {
        for (const Names& later : met) names->absorb(later);
    }
    return parts;
}

}  // namespace surelearn
