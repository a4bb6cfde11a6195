// Text: a text to tokens or characters, and those to n-grams. Knows no features.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "surelearn/hash.hpp"
#include "surelearn/hash_many.hpp"
#include "surelearn/utf8.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace surelearn {

/// One text as the interpreter keeps it: code points of one, two or four bytes.
struct Text {
    const void* data = nullptr;
    std::size_t size = 0;  ///< in code points
    unsigned width = 1;
    bool ascii = true;
    bool lower = false;  ///< capitals are to be made small; ASCII only

    [[nodiscard]] std::uint32_t at(std::size_t i) const noexcept {
        switch (width) {
            case 1:
                return static_cast<const std::uint8_t*>(data)[i];
            case 2:
                return static_cast<const std::uint16_t*>(data)[i];
            default:
                return static_cast<const std::uint32_t*>(data)[i];
        }
    }
};

/// A set of code points.
class Alphabet {
public:
    /// The points of [starts[i], ends[i]) for all i.
    Alphabet(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends)
        : bits_((n_points + 63) / 64) {
        for (std::size_t i = 0; i < starts.size(); ++i) {
            for (auto c = static_cast<std::size_t>(starts[i]);
                 c < static_cast<std::size_t>(ends[i]); ++c) {
                bits_[c / 64] |= std::uint64_t{1} << (c % 64);
            }
        }
    }

    [[nodiscard]] bool has(std::uint32_t c) const noexcept {
        return (bits_[c / 64] >> (c % 64) & 1) != 0;
    }

private:
    static constexpr std::size_t n_points = 0x110000;
    std::vector<std::uint64_t> bits_;
};

/// Finds a word without making a string of it.
struct WordHash : std::hash<std::string_view> {
    using is_transparent = void;
};

/// What a text is cut into.
struct Analysis {
    enum class Unit : std::uint8_t { word, character, within_words };

    Unit unit = Unit::word;
    std::size_t least = 1;  ///< units in an n-gram, from here
    std::size_t most = 1;   ///< to here
    const Alphabet* words = nullptr;
    const Alphabet* spaces = nullptr;
    /// Words that are left out, in UTF-8.
    std::unordered_set<std::string, WordHash, std::equal_to<>> stop{};
};

namespace detail {

inline constexpr std::size_t block = 64;

/// Copies 64 ASCII bytes, capitals made small if asked, and tells which are of a word.
[[nodiscard]] inline std::uint64_t copy_block(const char* from, char* to, bool lower) noexcept {
#if defined(__SSE2__)
    const auto all = [](char c) { return _mm_set1_epi8(c); };
    const auto within = [&](__m128i v, char first, char last) {
        return _mm_and_si128(_mm_cmpgt_epi8(v, all(static_cast<char>(first - 1))),
                             _mm_cmplt_epi8(v, all(static_cast<char>(last + 1))));
    };
    const __m128i small = lower ? all(0x20) : _mm_setzero_si128();
    std::uint64_t mask = 0;
    for (unsigned at = 0; at < block; at += 16) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
        const __m128i capital = within(v, 'A', 'Z');
        const __m128i kept = _mm_or_si128(v, _mm_and_si128(capital, small));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), kept);
        const __m128i letter = _mm_or_si128(within(v, 'a', 'z'), capital);
        const __m128i other = _mm_or_si128(within(v, '0', '9'), _mm_cmpeq_epi8(v, all('_')));
        const int bits = _mm_movemask_epi8(_mm_or_si128(letter, other));
        mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits)) << at;
    }
    return mask;
#else
    std::uint64_t mask = 0;
    for (unsigned at = 0; at < block; ++at) {
        const char c = from[at];
        const bool capital = c >= 'A' && c <= 'Z';
        const bool word = capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        to[at] = static_cast<char>(capital && lower ? c | 0x20 : c);
        mask |= static_cast<std::uint64_t>(word) << at;
    }
    return mask;
#endif
}

}  // namespace detail

/// The n-grams of texts, one text at a time, in UTF-8 as they would be encoded. Its buffers are
/// kept from text to text.
class Grams {
public:
    explicit Grams(const Analysis& how) : how_(how) {}

    /// The n-grams of a text as spans of `bytes`, with `hash_padding` readable bytes behind
    /// each, until the next text. None if one of them has a lone surrogate and so no UTF-8.
    [[nodiscard]] std::optional<std::span<const ByteSpan>> of(const Text& text) {
        if (how_.unit == Analysis::Unit::word) {
            find_words(text);
            if (!how_.stop.empty()) drop_stop_words();
            if (how_.most == 1) return tokens();
            grams_.clear();
            add_of_words();
            return grams_;
        }
        grams_.clear();
        if (how_.unit == Analysis::Unit::character) {
            const bool sound = spell(text);
            const auto n = static_cast<std::uint32_t>(ends_.size() - 1);
            if (!sound && n >= how_.least) return {};  // one that is in no n-gram does no harm
            add_of_characters({0, n});
            return grams_;
        }
        if (!spell_words(text)) return {};
        add_within_words();
        return grams_;
    }

    [[nodiscard]] const char* bytes() const noexcept { return bytes_.data(); }

private:
    [[nodiscard]] std::span<ByteSpan> tokens() noexcept {
        return std::span(tokens_).first(n_tokens_);
    }

    /// Tokens as runs of at least two characters of words.
    void find_words(const Text& text) {
        if (text.ascii) {
            find_ascii_words(text);
            if (how_.most > 1) close_up();
        } else {
            find_other_words(text);
        }
    }

    /// Masks of 64 bytes, and a token between every two places where they change.
    void find_ascii_words(const Text& text) {
        using detail::block;
        const auto* const from = static_cast<const char*>(text.data);
        const std::size_t n_blocks = text.size / block + 1;  // the last ends outside of words
        grow(n_blocks * block);
        n_tokens_ = 0;
        if (tokens_.size() <= text.size / 3) tokens_.resize(text.size / 3 + 1);
        std::uint64_t inside = 0;  // whether the byte before is of a word
        std::uint32_t begin = 0;
        for (std::size_t b = 0; b < n_blocks; ++b) {
            char* const to = bytes_.data() + b * block;
            const std::uint64_t mask = b + 1 < n_blocks
                                           ? detail::copy_block(from + b * block, to, text.lower)
                                           : last_block(text, to);
            std::uint64_t change = mask ^ (mask << 1 | inside);
            for (; change != 0; change &= change - 1) {  // without its lowest bit
                const auto at = static_cast<std::uint32_t>(b * block) +
                                static_cast<std::uint32_t>(std::countr_zero(change));
                const bool starts = (mask >> (at % block) & 1) != 0;
                if (starts) {
                    begin = at;
                } else {
                    tokens_[n_tokens_] = {begin, at};
                    n_tokens_ += at - begin >= 2 ? 1 : 0;
                }
            }
            inside = mask >> 63;
        }
    }

    [[nodiscard]] static std::uint64_t last_block(const Text& text, char* to) noexcept {
        char rest[detail::block] = {};
        const std::size_t n = text.size % detail::block;
        if (n > 0) {
            std::memcpy(rest, static_cast<const char*>(text.data) + text.size - n, n);
        }
        return detail::copy_block(rest, to, text.lower);
    }

    /// Tokens one blank apart, so that an n-gram is a stretch too.
    void close_up() {
        std::uint32_t end = 0;
        for (ByteSpan& token : tokens()) {
            const std::uint32_t size = token.size();
            std::memmove(bytes_.data() + end, bytes_.data() + token.begin, size);
            token = {end, end + size};
            end += size;
            bytes_[end++] = ' ';
        }
    }

    void find_other_words(const Text& text) {
        grow(4 * text.size + 1);
        if (tokens_.size() <= text.size / 3) tokens_.resize(text.size / 3 + 1);
        n_tokens_ = 0;
        std::uint32_t end = 0;
        for (std::size_t i = 0; i < text.size;) {
            const std::uint32_t begin = end;
            const std::size_t first = i;
            for (; i < text.size && how_.words->has(text.at(i)); ++i) {
                end += static_cast<std::uint32_t>(put_utf8(text.at(i), &bytes_[end]));
            }
            if (i - first >= 2) {
                tokens_[n_tokens_++] = {begin, end};
                bytes_[end++] = ' ';
            } else {
                end = begin;
            }
            while (i < text.size && !how_.words->has(text.at(i))) ++i;
        }
    }

    void drop_stop_words() {
        const auto dropped = std::ranges::remove_if(tokens(), [&](const ByteSpan& token) {
            return how_.stop.contains(std::string_view(bytes() + token.begin, token.size()));
        });
        n_tokens_ -= dropped.size();
        if (how_.most > 1) close_up();
    }

    void add_of_words() {
        const std::size_t n = n_tokens_;
        for (std::size_t size = how_.least; size <= how_.most && size <= n; ++size) {
            for (std::size_t i = 0; i + size <= n; ++i) {
                grams_.push_back({tokens_[i].begin, tokens_[i + size - 1].end});
            }
        }
    }

    /// The whole text in UTF-8 with the end of every character; two or more spaces are one blank.
    [[nodiscard]] bool spell(const Text& text) {
        grow(4 * text.size);
        ends_.assign(1, 0);
        bool sound = true;
        for (std::size_t i = 0; i < text.size; ++i) {
            std::uint32_t c = text.at(i);
            if (how_.spaces->has(c)) {
                const std::size_t first = i;
                while (i + 1 < text.size && how_.spaces->has(text.at(i + 1))) ++i;
                if (i > first) c = ' ';
            }
            sound = put(c, text.lower) && sound;
        }
        return sound;
    }

    /// Each word with a blank on either side, as tokens of characters.
    [[nodiscard]] bool spell_words(const Text& text) {
        grow(6 * text.size + 2);
        if (tokens_.size() <= text.size) tokens_.resize(text.size + 1);
        n_tokens_ = 0;
        ends_.assign(1, 0);
        for (std::size_t i = 0; i < text.size;) {
            if (how_.spaces->has(text.at(i))) {
                ++i;
                continue;
            }
            const auto first = static_cast<std::uint32_t>(ends_.size() - 1);
            bool sound = put(' ', false);
            for (; i < text.size && !how_.spaces->has(text.at(i)); ++i) {
                sound = put(text.at(i), text.lower) && sound;
            }
            sound = put(' ', false) && sound;
            if (!sound) return false;
            tokens_[n_tokens_++] = {first, static_cast<std::uint32_t>(ends_.size() - 1)};
        }
        return true;
    }

    /// Spells one more character; false for a surrogate, which cannot be spelled.
    [[nodiscard]] bool put(std::uint32_t c, bool lower) {
        if (lower && c >= 'A' && c <= 'Z') c |= 0x20;
        const std::uint32_t end = ends_.back();
        ends_.push_back(end + static_cast<std::uint32_t>(put_utf8(c, &bytes_[end])));
        return !is_surrogate(c);
    }

    /// N-grams of a run of characters.
    void add_of_characters(ByteSpan run) {
        const std::size_t most = std::min<std::size_t>(how_.most, run.size());
        for (std::size_t size = how_.least; size <= most; ++size) {
            for (std::size_t i = run.begin; i + size <= run.end; ++i) {
                grams_.push_back({ends_[i], ends_[i + size]});
            }
        }
    }

    /// N-grams of each word within its blanks; of one that is too short itself, once.
    void add_within_words() {
        for (const ByteSpan& word : tokens()) {
            add_of_characters(word);
            if (how_.least > word.size()) grams_.push_back({ends_[word.begin], ends_[word.end]});
        }
    }

    void grow(std::size_t size) {
        if (bytes_.size() < size + hash_padding) bytes_.resize(size + hash_padding);
    }

    const Analysis& how_;
    std::vector<char> bytes_;
    std::vector<ByteSpan> tokens_;  ///< the first n_tokens_ are those of the text
    std::size_t n_tokens_ = 0;
    std::vector<std::uint32_t> ends_;  ///< of characters
    std::vector<ByteSpan> grams_;      ///< if they are not the tokens
};

}  // namespace surelearn
