// UTF-8: code points to bytes, and whether bytes are sound. Knows no text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace surelearn {

/// Whether bytes are ASCII alone.
[[nodiscard]] inline bool is_ascii(std::string_view bytes) noexcept {
    unsigned char all = 0;
    for (const char c : bytes) all |= static_cast<unsigned char>(c);
    return all < 0x80;
}

[[nodiscard]] inline bool is_surrogate(std::uint32_t c) noexcept {
    return c >= 0xd800 && c < 0xe000;
}

/// A code point in UTF-8, which takes at most four bytes.
[[nodiscard]] inline std::size_t put_utf8(std::uint32_t c, char* to) noexcept {
    const auto byte = [](std::uint32_t x) { return static_cast<char>(x); };
    if (c < 0x80) {
        to[0] = byte(c);
        return 1;
    }
    const std::size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (std::size_t i = n; --i > 0; c >>= 6) to[i] = byte(0x80 | (c & 0x3f));
    to[0] = byte((0xf00U >> n & 0xf0U) | c);
    return n;
}

namespace detail {

/// The size of the first character, which is beyond ASCII; 0 if it is none.
[[nodiscard]] inline std::size_t size_of_utf8(std::string_view bytes) noexcept {
    const auto first = static_cast<unsigned char>(bytes[0]);
    const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || bytes.size() < n) return 0;
    std::uint32_t c = first & (0x7fU >> n);
    for (const char other : bytes.substr(1, n - 1)) {
        const auto next = static_cast<unsigned char>(other);
        if (next >> 6 != 2) return 0;
        c = c << 6 | (next & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    return c < least[n] || c > 0x10ffff || is_surrogate(c) ? 0 : n;
}

}  // namespace detail

/// Whether bytes are UTF-8, as Python decodes it: no surrogates, no form longer than needed.
[[nodiscard]] inline bool is_utf8(std::string_view bytes) noexcept {
    constexpr std::size_t block = 64;
    while (!bytes.empty()) {
        const std::string_view next = bytes.substr(0, block);
        if (is_ascii(next)) {
            bytes.remove_prefix(next.size());
            continue;
        }
        // Up to the end of these bytes; the last character may go beyond.
        std::size_t at = 0;
        while (at < next.size()) {
            const bool plain = static_cast<unsigned char>(bytes[at]) < 0x80;
            const std::size_t n = plain ? 1 : detail::size_of_utf8(bytes.substr(at));
            if (n == 0) return false;
            at += n;
        }
        bytes.remove_prefix(at);
    }
    return true;
}

/// How often a character of ASCII occurs.
[[nodiscard]] inline std::size_t count_of(std::string_view text, char c) noexcept {
    std::size_t found = 0;
    while (!text.empty()) {
        const std::string_view some = text.substr(0, 255);  // their number fits a byte
        std::uint8_t n = 0;
        for (const char x : some) n = static_cast<std::uint8_t>(n + (x == c ? 1 : 0));
        found += n;
        text.remove_prefix(some.size());
    }
    return found;
}

}  // namespace surelearn
