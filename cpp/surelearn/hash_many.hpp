// Hashes of many spans of bytes, eight at a time. Knows no text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "surelearn/hash.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

/// A stretch of bytes in a buffer.
struct ByteSpan {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
};

namespace detail {

using FourWords = std::uint32_t __attribute__((vector_size(16)));
/// Eight words: one instruction with AVX2, two without. Pass them by reference, as `Four`.
using EightWords = std::uint32_t __attribute__((vector_size(32), aligned(16)));
using EightInts = std::int32_t __attribute__((vector_size(32), aligned(16)));

/// The first four words of four spans: words[k] has word k of each.
[[gnu::always_inline]] inline void load_words(const char* bytes, const ByteSpan* at,
                                              std::array<FourWords, 4>& words) noexcept {
    std::array<FourWords, 4> of;
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&of[i], bytes + at[i].begin, sizeof of[i]);
    const FourWords a = __builtin_shufflevector(of[0], of[1], 0, 4, 1, 5);
    const FourWords b = __builtin_shufflevector(of[2], of[3], 0, 4, 1, 5);
    const FourWords c = __builtin_shufflevector(of[0], of[1], 2, 6, 3, 7);
    const FourWords d = __builtin_shufflevector(of[2], of[3], 2, 6, 3, 7);
    words[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    words[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    words[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    words[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

[[gnu::always_inline]] inline void load_sizes(const ByteSpan* at, FourWords& sizes) noexcept {
    FourWords a;
    FourWords b;
    std::memcpy(&a, at, sizeof a);
    std::memcpy(&b, at + 2, sizeof b);
    sizes = __builtin_shufflevector(a, b, 1, 3, 5, 7) - __builtin_shufflevector(a, b, 0, 2, 4, 6);
}

[[gnu::always_inline]] inline void join(const FourWords& a, const FourWords& b,
                                        EightWords& x) noexcept {
    x = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

[[gnu::always_inline]] inline void rotate(EightWords& x, int bits) noexcept {
    x = x << bits | x >> (32 - bits);
}

/// `murmur3` of eight spans. False if one has sixteen bytes or more; its hash is void.
[[nodiscard, gnu::always_inline]] inline bool hash_eight(const char* bytes, const ByteSpan* at,
                                                         std::int32_t* hashes) noexcept {
    std::array<FourWords, 4> low;
    std::array<FourWords, 4> high;
    load_words(bytes, at, low);
    load_words(bytes, at + 4, high);
    FourWords first;
    FourWords second;
    load_sizes(at, first);
    load_sizes(at + 4, second);
    EightWords n;
    join(first, second, n);
    const EightWords whole = n >> 2;                    // words
    const EightWords kept = (1U << (8 * (n & 3))) - 1;  // of the last, incomplete word
    EightWords h{};
    for (unsigned k = 0; k < 4; ++k) {
        // Sizes are small, and signed numbers are compared in one instruction.
        const auto full = (EightWords)((EightInts)whole > static_cast<int>(k));
        const auto last = (EightWords)(whole == k);
        EightWords word;
        join(low[k], high[k], word);
        word = (word & (full | (last & kept))) * 0xcc9e2d51;
        rotate(word, 15);
        word *= 0x1b873593;
        EightWords next = h ^ word;
        rotate(next, 13);
        next = next * 5 + 0xe6546b64;
        h ^= ((h ^ next) & full) | (word & last);
    }
    h ^= n;
    h = (h ^ (h >> 16)) * 0x85ebca6b;
    h = (h ^ (h >> 13)) * 0xc2b2ae35;
    h ^= h >> 16;
    std::memcpy(hashes, &h, sizeof h);
    const FourWords sizes = first | second;
    return (sizes[0] | sizes[1] | sizes[2] | sizes[3]) < 16;
}

}  // namespace detail

/// `murmur3` of all spans, each with `hash_padding` readable bytes behind it. One hash is a
/// chain of multiplications that wait for each other; eight are computed in the time of one.
inline void murmur3_all(const char* bytes, std::span<const ByteSpan> spans,
                        std::int32_t* hashes) noexcept {
    widen([=]() SURELEARN_INLINED {
        const auto one_by_one = [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                hashes[i] = murmur3(bytes + spans[i].begin, spans[i].size());
            }
        };
        constexpr std::size_t together = 8;
        std::size_t i = 0;
        for (; i + together <= spans.size(); i += together) {
            if (!detail::hash_eight(bytes, &spans[i], hashes + i)) one_by_one(i, i + together);
        }
        if (i == spans.size()) return;
        std::array<ByteSpan, together> rest{};
        std::array<std::int32_t, together> found;
        std::ranges::copy(spans.subspan(i), rest.begin());
        if (detail::hash_eight(bytes, rest.data(), found.data())) {
            std::copy_n(found.begin(), spans.size() - i, hashes + i);
        } else {
            one_by_one(i, spans.size());
        }
    });
}

}  // namespace surelearn
