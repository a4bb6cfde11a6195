// Lines of JSON: the text and the label of each record, where every line is plain. Knows no
// file, and nothing of bad lines: another reader takes all blocks with a line that is not plain.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "surelearn/utf8.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace surelearn {

/// The fields that are read.
struct JsonFields {
    enum class Kind : std::uint8_t { text, whole_number, flag };

    std::string_view text;
    std::optional<std::string_view> label;
    Kind kind = Kind::text;  ///< of the label
};

/// The texts of a block, one after the other, and their labels.
struct JsonRecords {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::vector<std::int32_t> starts{0};  ///< of texts, and the end of the last
    std::vector<std::int32_t> codes;      ///< number of each label below
    std::vector<std::string> labels;      ///< in order of appearance; numbers as they are written
};

namespace json {

/// The contents of a string, between its quotes.
struct Quoted {
    std::string_view inside;
    bool escaped = false;
};

[[nodiscard]] inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] inline const char* skip_space(const char* p, const char* end) noexcept {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    return p;
}

[[nodiscard]] inline bool is_special(char c) noexcept {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

#if defined(__SSE2__)
/// Where sixteen characters have a quote, a backslash or a control character: a bit for each.
[[nodiscard]] inline unsigned special_in(const __m128i& v) noexcept {
    const __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    const __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
    const __m128i found = _mm_or_si128(_mm_or_si128(quote, escape), control);
    return static_cast<unsigned>(_mm_movemask_epi8(found));
}
#endif

/// The first quote, backslash or control character; `end` if there is none.
[[nodiscard]] inline const char* find_special(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
    for (; end - p >= 16; p += 16) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const unsigned found = special_in(v);
        if (found != 0) return p + std::countr_zero(found);
    }
#endif
    while (p < end && !is_special(*p)) ++p;
    return p;
}

/// So many bytes behind the characters that `copy_plain` has written may be overwritten.
inline constexpr std::size_t copy_padding = 16;

/// Copies characters up to the first quote, backslash or control character, and returns its place;
/// `end` if there is none. `to` moves behind the copy.
[[nodiscard]] inline const char* copy_plain(const char* p, const char* end, char*& to) noexcept {
#if defined(__SSE2__)
    for (; end - p >= 16; p += 16, to += 16) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
        const unsigned found = special_in(v);
        if (found == 0) continue;
        to += std::countr_zero(found);
        return p + std::countr_zero(found);
    }
#endif
    while (p < end && !is_special(*p)) *to++ = *p++;
    return p;
}

/// Reads four hexadecimal digits; nullptr if they are none.
[[nodiscard]] inline const char* read_hex(const char* p, const char* end, std::uint32_t& code) {
    if (end - p < 4) return nullptr;
    code = 0;
    for (const char* const last = p + 4; p < last; ++p) {
        const char small = static_cast<char>(*p | 0x20);
        const bool letter = small >= 'a' && small <= 'f';
        if (!is_digit(*p) && !letter) return nullptr;
        code = code << 4 | static_cast<std::uint32_t>(letter ? small - 'a' + 10 : *p - '0');
    }
    return p;
}

/// What a letter after a backslash means; 0: nothing.
inline constexpr auto short_escapes = [] {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    std::array<std::uint8_t, 256> table{};
    for (std::size_t i = 0; i < letters.size(); ++i) {
        table[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(meant[i]);
    }
    return table;
}();

/// Reads what follows a backslash: one character, perhaps of two surrogates. nullptr if there is
/// no such escape, or a surrogate alone.
[[nodiscard]] inline const char* read_escape(const char* p, const char* end, std::uint32_t& code) {
    if (p == end) return nullptr;
    if (*p != 'u') {
        code = short_escapes[static_cast<unsigned char>(*p)];
        return code == 0 ? nullptr : p + 1;
    }
    p = read_hex(p + 1, end, code);
    if (p == nullptr || !is_surrogate(code)) return p;
    std::uint32_t low = 0;
    if (code >= 0xdc00 || end - p < 6 || p[0] != '\\' || p[1] != 'u') return nullptr;
    p = read_hex(p + 2, end, low);
    if (p == nullptr || low < 0xdc00 || low >= 0xe000) return nullptr;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    return p;
}

/// Reads a string whose first quote is before p; returns what is behind it.
[[nodiscard]] inline const char* read_string(const char* p, const char* end, Quoted& found) {
    const char* const begin = p;
    found.escaped = false;
    for (p = find_special(p, end); p < end && *p == '\\'; p = find_special(p, end)) {
        std::uint32_t code = 0;
        found.escaped = true;
        p = read_escape(p + 1, end, code);
        if (p == nullptr) return nullptr;
    }
    if (p == end || *p != '"') return nullptr;
    found.inside = {begin, static_cast<std::size_t>(p - begin)};
    return p + 1;
}

/// Reads a string whose first quote is before p, and writes its characters, which are never more
/// bytes than it has; returns what is behind it. `to` moves behind the characters.
[[nodiscard]] inline const char* copy_string(const char* p, const char* end, char*& to) {
    for (p = copy_plain(p, end, to); p < end && *p == '\\'; p = copy_plain(p, end, to)) {
        std::uint32_t code = 0;
        p = read_escape(p + 1, end, code);
        if (p == nullptr) return nullptr;
        if (code < 0x80) {
            *to++ = static_cast<char>(code);
        } else {
            to += put_utf8(code, to);
        }
    }
    return p == end || *p != '"' ? nullptr : p + 1;
}

[[nodiscard]] inline const char* read_digits(const char* p, const char* end) noexcept {
    const char* const first = p;
    while (p < end && is_digit(*p)) ++p;
    return p == first ? nullptr : p;
}

/// Reads a whole number without a zero too many.
[[nodiscard]] inline const char* read_whole(const char* p, const char* end) noexcept {
    if (p < end && *p == '-') ++p;
    if (p < end && *p == '0') return p + 1;
    return read_digits(p, end);
}

[[nodiscard]] inline const char* read_number(const char* p, const char* end) noexcept {
    constexpr std::ptrdiff_t longest = 300;  // readers differ in what they do with longer ones
    const char* const first = p;
    p = read_whole(p, end);
    if (p != nullptr && p < end && *p == '.') p = read_digits(p + 1, end);
    if (p != nullptr && p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p < end && (*p == '+' || *p == '-')) ++p;
        p = read_digits(p, end);
    }
    return p == nullptr || p - first > longest ? nullptr : p;
}

[[nodiscard]] inline const char* read_word(const char* p, const char* end, std::string_view word) {
    return std::string_view(p, static_cast<std::size_t>(end - p)).starts_with(word)
               ? p + word.size()
               : nullptr;
}

[[nodiscard]] inline const char* read_colon(const char* p, const char* end) {
    p = skip_space(p, end);
    return p < end && *p == ':' ? skip_space(p + 1, end) : nullptr;
}

[[nodiscard]] inline const char* read_value(const char* p, const char* end, unsigned depth);

/// Reads elements or members, with the opening bracket before p.
[[nodiscard]] inline const char* read_nested(const char* p, const char* end, unsigned depth,
                                             bool named) {
    const char closing = named ? '}' : ']';
    p = skip_space(p, end);
    if (p < end && *p == closing) return p + 1;
    while (p < end) {
        if (named) {
            Quoted name;
            p = *p == '"' ? read_string(p + 1, end, name) : nullptr;
            if (p != nullptr) p = read_colon(p, end);
        }
        if (p != nullptr) p = read_value(p, end, depth);
        if (p == nullptr) return nullptr;
        p = skip_space(p, end);
        if (p == end || (*p != ',' && *p != closing)) return nullptr;
        if (*p++ == closing) return p;
        p = skip_space(p, end);
    }
    return nullptr;
}

/// Reads any value; returns what is behind it, or nullptr if it is none or nested too deep.
[[nodiscard]] inline const char* read_value(const char* p, const char* end, unsigned depth) {
    if (p == end || depth == 0) return nullptr;
    Quoted string;
    switch (*p) {
        case '"':
            return read_string(p + 1, end, string);
        case '{':
            return read_nested(p + 1, end, depth - 1, true);
        case '[':
            return read_nested(p + 1, end, depth - 1, false);
        case 't':
            return read_word(p, end, "true");
        case 'f':
            return read_word(p, end, "false");
        case 'n':
            return read_word(p, end, "null");
        default:
            return read_number(p, end);
    }
}

}  // namespace json

/// Reads lines of JSON; each must be an object with a text and, if one is asked for, a label of the
/// right kind, or blank. Python's reader and pyarrow's must read such a line in the same way: no
/// field twice, no escapes in names, no surrogates alone, nothing deep.
class JsonReader {
public:
    JsonReader(const JsonFields& fields, std::size_t size) : fields_(fields) {
        records_.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size + json::copy_padding);
        first_ = end_ = reinterpret_cast<char*>(records_.bytes.get());
    }

    /// Adds the record of a line; false if it is not plain, and then what was added is void.
    [[nodiscard]] bool operator()(const char* p, const char* end) {
        p = json::skip_space(p, end);
        if (p == end) return true;
        if (*p != '{') return false;
        has_text_ = false;
        has_label_ = !fields_.label;
        do {
            p = read_member(json::skip_space(p + 1, end), end);
            if (p == nullptr || p == end) return false;
        } while (*p == ',');
        return *p == '}' && json::skip_space(p + 1, end) == end && has_text_ && has_label_;
    }

    [[nodiscard]] JsonRecords take() { return std::move(records_); }

private:
    static constexpr unsigned deepest = 32;

    /// Reads a field and its value, and spaces behind it.
    [[nodiscard]] const char* read_member(const char* p, const char* end) {
        json::Quoted name;
        if (p == end || *p != '"') return nullptr;
        p = json::read_string(p + 1, end, name);
        if (p == nullptr || name.escaped) return nullptr;
        p = json::read_colon(p, end);
        if (p == nullptr || p == end) return nullptr;
        if (name.inside == fields_.text) {
            p = read_text(p, end);
        } else if (fields_.label && name.inside == *fields_.label) {
            p = read_label(p, end);
        } else {
            p = json::read_value(p, end, deepest);
        }
        return p == nullptr ? nullptr : json::skip_space(p, end);
    }

    [[nodiscard]] const char* read_text(const char* p, const char* end) {
        p = *p == '"' && !has_text_ ? json::copy_string(p + 1, end, end_) : nullptr;
        if (p == nullptr) return nullptr;
        has_text_ = true;
        records_.starts.push_back(static_cast<std::int32_t>(end_ - first_));
        return p;
    }

    [[nodiscard]] const char* read_label(const char* p, const char* end) {
        if (has_label_) return nullptr;
        has_label_ = true;
        switch (fields_.kind) {
            case JsonFields::Kind::text:
                return read_text_label(p, end);
            case JsonFields::Kind::flag:
                return add_label(p, json::read_word(p, end, *p == 't' ? "true" : "false"));
            default:
                return read_whole_label(p, end);
        }
    }

    [[nodiscard]] const char* read_text_label(const char* p, const char* end) {
        json::Quoted label;
        p = *p == '"' ? json::read_string(p + 1, end, label) : nullptr;
        if (p == nullptr) return nullptr;
        if (!label.escaped) {
            add_label(label.inside);
            return p;
        }
        scratch_.resize(label.inside.size() + json::copy_padding);
        char* last = scratch_.data();
        p = json::copy_string(label.inside.data(), end, last);
        add_label({scratch_.data(), static_cast<std::size_t>(last - scratch_.data())});
        return p;
    }

    /// A number that fits 64 bits, and is written in one way only.
    [[nodiscard]] const char* read_whole_label(const char* p, const char* end) {
        constexpr std::ptrdiff_t digits = 18;
        const char* const after = json::read_whole(p, end);
        if (after == nullptr || after - p > digits || (p[0] == '-' && p[1] == '0')) return nullptr;
        const bool goes_on = after < end && (*after == '.' || *after == 'e' || *after == 'E');
        return goes_on ? nullptr : add_label(p, after);
    }

    const char* add_label(const char* p, const char* after) {
        if (after != nullptr) add_label({p, static_cast<std::size_t>(after - p)});
        return after;
    }

    void add_label(std::string_view label) {
        auto found = numbers_.find(label);
        if (found == numbers_.end()) {
            const auto next = static_cast<std::int32_t>(numbers_.size());
            found = numbers_.emplace(label, next).first;
            records_.labels.emplace_back(label);
        }
        records_.codes.push_back(found->second);
    }

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;  // finds a label without making a string of it
    };

    JsonFields fields_;
    JsonRecords records_;
    char* first_;  ///< of the texts
    char* end_;    ///< of those so far
    bool has_text_ = false;
    bool has_label_ = false;
    std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;  ///< of labels
    std::string scratch_;
};

/// The records of a block of whole lines; none if a line is not plain, or all are blank.
[[nodiscard]] inline std::optional<JsonRecords> parse_jsonl(std::string_view block,
                                                            const JsonFields& fields) {
    if (block.size() > std::numeric_limits<std::int32_t>::max() || !is_utf8(block)) return {};
    JsonReader read(fields, block.size());
    while (!block.empty()) {
        const std::string_view line = block.substr(0, block.find('\n'));
        if (!read(line.data(), line.data() + line.size())) return {};
        block.remove_prefix(std::min(line.size() + 1, block.size()));
    }
    JsonRecords records = read.take();
    if (records.starts.size() == 1) return {};
    return records;
}

}  // namespace surelearn
