// From lines of text to rows: parsing numbers and lines, and errors. Knows no format.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// libc++ reads no doubles, or only those of its newest versions do; then strtod_l has to.
#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif
#endif

namespace surelearn {

// ------------------------------------------------------------------ characters

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return static_cast<unsigned char>(c - '0') < 10;
}

/// Whether Python counts a byte as white space; this includes the newline.
[[nodiscard]] constexpr bool is_space(char c) noexcept {
    return c == ' ' || static_cast<unsigned char>(c - '\t') < 5;
}

// ------------------------------------------------------------------ numbers

/// Longer numbers are refused, so that arithmetic on exponents cannot overflow.
inline constexpr std::ptrdiff_t longest_number = 4096;

namespace parse {

// A product or quotient of two exact doubles is rounded only once if no wider type is used.
static_assert(FLT_EVAL_METHOD == 0);

inline constexpr std::array powers_of_ten{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Whether digits and power of ten are exact doubles: then one operation gives the nearest double
/// (Clinger 1990).
[[nodiscard]] inline bool is_quick(std::uint64_t digits, std::ptrdiff_t exponent) noexcept {
    constexpr std::uint64_t exact = std::uint64_t{1} << 53;
    constexpr std::ptrdiff_t most = powers_of_ten.size() - 1;
    return digits <= exact && -most <= exponent && exponent <= most;
}

[[nodiscard]] inline double quick(std::uint64_t digits, std::ptrdiff_t exponent) noexcept {
    const double power = powers_of_ten[static_cast<std::size_t>(std::abs(exponent))];
    const auto whole = static_cast<double>(digits);
    return exponent < 0 ? whole / power : whole * power;
}

/// The number of leading digits in eight characters, and their value. The end of a long number is
/// unpredictable, so this has no branch.
struct Eight {
    unsigned n_digits = 0;
    std::uint64_t number = 0;

    explicit Eight(const char* p) noexcept {
        static_assert(std::endian::native == std::endian::little);
        constexpr auto all = [](std::uint64_t byte) { return byte * 0x0101010101010101; };
        std::uint64_t x = 0;
        std::memcpy(&x, p, sizeof x);
        x ^= all('0');
        // Sets the high bit of bytes above 9. A carry affects only bytes after the first of them.
        const std::uint64_t others = ((x + all(0x80 - 10)) | x) & all(0x80);
        n_digits = static_cast<unsigned>(std::countr_zero(others)) / 8;
        // Shift out what follows the digits and put zeros before them. In two shifts, since all
        // eight bytes may have to go.
        const unsigned half = 4 * (8 - n_digits);
        x = x << half << half;
        x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ff;
        x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffff;
        number = (x * 10000 + (x >> 32)) & 0xffffffff;
    }
};

/// Appends the digits at p to `digits`; more than nineteen wrap around.
[[nodiscard]] inline const char* read_digits(const char* p, std::uint64_t& digits) noexcept {
    for (; is_digit(*p); ++p) digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
    return p;
}

/// The same for the many digits after a decimal point; bytes are readable up to `end`.
[[nodiscard]] inline const char* read_fraction(const char* p, const char* end,
                                               std::uint64_t& digits) noexcept {
    constexpr std::array<std::uint64_t, 9> powers{
        1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    while (end - p >= 8) {
        const Eight eight(p);
        digits = digits * powers[eight.n_digits] + eight.number;
        p += eight.n_digits;
        if (eight.n_digits < 8) return p;
    }
    return read_digits(p, digits);
}

/// The power of ten of the first non-zero digit, in a number with this exponent.
[[nodiscard]] inline std::ptrdiff_t magnitude(const char* p, std::ptrdiff_t exponent) noexcept {
    while (*p == '0') ++p;
    const char* const whole = p;
    while (is_digit(*p)) ++p;
    if (p != whole) return p - whole - 1 + exponent;
    const char* const point = p++;
    while (*p == '0') ++p;
    return point - p + exponent;
}

#if defined(__cpp_lib_to_chars)
/// The double nearest to the decimal in [begin, end), which has no sign and this exponent.
[[nodiscard, gnu::noinline]] inline double nearest(const char* begin, const char* end,
                                                   std::ptrdiff_t exponent) noexcept {
    double value = 0.0;
    if (std::from_chars(begin, end, value).ec != std::errc::result_out_of_range) return value;
    return magnitude(begin, exponent) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}
#else
/// The double nearest to the decimal that begins here, without a sign. It cannot be hexadecimal: a
/// zero before an x is a short number, which does not get here.
[[nodiscard, gnu::noinline]] inline double nearest(const char* begin, const char*,
                                                   std::ptrdiff_t) noexcept {
    // Under the user's locale, the point might be a comma.
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
    return strtod_l(begin, nullptr, plain);
}
#endif

/// Reads the exponent after an e; nullptr if there is none.
[[nodiscard]] inline const char* read_exponent(const char* p, std::ptrdiff_t& exponent) noexcept {
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    if (!is_digit(*p)) return nullptr;
    constexpr std::ptrdiff_t enough = 100'000;
    std::ptrdiff_t size = 0;
    for (; is_digit(*p); ++p) size = std::min(size * 10 + (*p - '0'), enough);
    exponent = negative ? -size : size;
    return p;
}

}  // namespace parse

/// Reads the decimal number at p as Python's float() does: the nearest double, or infinity beyond
/// the largest. Returns its end, or nullptr if there is none; inf and nan do not count. Bytes are
/// readable up to `end`, and some byte before it ends every number.
[[nodiscard]] inline const char* read_number(const char* p, const char* end,
                                             double& value) noexcept {
    const bool negative = *p == '-';
    p += static_cast<int>(negative) | static_cast<int>(*p == '+');
    const char* const begin = p;
    std::uint64_t digits = 0;
    p = parse::read_digits(p, digits);
    const std::ptrdiff_t n_whole = p - begin;
    std::ptrdiff_t n_fraction = 0;
    if (*p == '.') {
        const char* const point = ++p;
        p = parse::read_fraction(p, end, digits);
        n_fraction = p - point;
    }
    const std::ptrdiff_t n_digits = n_whole + n_fraction;
    if (n_digits == 0) return nullptr;
    std::ptrdiff_t written = 0;
    if (*p == 'e' || *p == 'E') {
        p = parse::read_exponent(p + 1, written);
        if (p == nullptr) return nullptr;
    }
    const std::ptrdiff_t exponent = written - n_fraction;
    constexpr std::array signs{1.0, -1.0};  // no branch: the sign is unpredictable
    double size = 0.0;
    if (n_digits <= 19 && parse::is_quick(digits, exponent)) {
        size = parse::quick(digits, exponent);
    } else {
        if (p - begin > longest_number) return nullptr;
        size = parse::nearest(begin, p, written);
    }
    value = size * signs[static_cast<std::size_t>(negative)];
    return p;
}

/// Whether a word is inf or nan in a spelling that Python accepts.
[[nodiscard]] inline bool says_infinite(std::string_view word) noexcept {
    if (!word.empty() && (word.front() == '+' || word.front() == '-')) word.remove_prefix(1);
    for (const std::string_view name : {"inf", "infinity", "nan"}) {
        const auto same = [](char a, char b) { return (a | 0x20) == b; };
        if (std::ranges::equal(word, name, same)) return true;
    }
    return false;
}

// ------------------------------------------------------------------ lines

/// What was expected in a line, and what was found.
struct Misread {
    std::string_view expected;
    const char* at = nullptr;
    const char* end = nullptr;
};

/// A line that could not be parsed. Positions are in bytes, from 0.
struct BadLine {
    std::size_t line = 0;    ///< in the block
    std::size_t column = 0;  ///< in the line
    std::size_t begin = 0;   ///< start of what was found, in the block
    std::size_t size = 0;
    std::string_view expected;
};

/// The rows of a block: starts and the last end, features, values, labels. The arrays are large
/// enough for any block of its size, and filled up to the counts.
template <class T>
struct ParsedRows {
    std::unique_ptr<std::int64_t[]> starts;
    std::unique_ptr<std::int32_t[]> features;
    std::unique_ptr<T[]> values;
    std::unique_ptr<double[]> labels;
    std::size_t n_rows = 0;
    std::size_t n_entries = 0;
    std::vector<BadLine> bad;

    ParsedRows(std::size_t most_rows, std::size_t most_entries)
        : starts(std::make_unique_for_overwrite<std::int64_t[]>(most_rows + 1)),
          features(std::make_unique_for_overwrite<std::int32_t[]>(most_entries)),
          values(std::make_unique_for_overwrite<T[]>(most_entries)),
          labels(std::make_unique_for_overwrite<double[]>(most_rows)) {
        starts[0] = 0;
    }

    /// Ends a row: the entries up to `n` belong to it.
    void end_row(std::size_t n, double label) noexcept {
        labels[n_rows++] = label;
        n_entries = n;
        starts[n_rows] = static_cast<std::int64_t>(n);
    }
};

/// Counts the bytes of a kind. It counts in runs short enough for one-byte counters, so that the
/// compiler can vectorise the loop.
template <class Kind>
[[nodiscard]] std::size_t count_of(std::string_view block, Kind&& kind) noexcept {
    std::size_t n = 0;
    while (!block.empty()) {
        const std::string_view run = block.substr(0, 255);
        std::uint8_t count = 0;
        for (const char c : run) count = static_cast<std::uint8_t>(count + (kind(c) ? 1 : 0));
        n += count;
        block.remove_prefix(run.size());
    }
    return n;
}

/// The largest possible number of rows in a block.
[[nodiscard]] inline std::size_t most_rows(std::string_view block) noexcept {
    return count_of(block, [](char c) { return c == '\n'; }) + 1;
}

/// Reads the lines of a block one by one. `line(p, end, misread)` reads the line at p and returns
/// the position after its newline, or nullptr and the reason. Bytes are readable up to `end`, and
/// the last one is a newline, so that a line needs no check for the end of the block. Stops at a
/// bad line, or skips it.
template <class Line>
void read_lines(std::string_view block, bool skip_bad, std::vector<BadLine>& bad, Line&& line) {
    std::size_t n_lines = 0;
    const auto read = [&](std::string_view text, std::size_t offset) {
        const char* const end = text.data() + text.size();
        for (const char* p = text.data(); p != end; ++n_lines) {
            Misread why;
            const char* const next = line(p, end, why);
            if (next != nullptr) {
                p = next;
                continue;
            }
            bad.push_back({n_lines, static_cast<std::size_t>(why.at - p),
                           offset + static_cast<std::size_t>(why.at - text.data()),
                           static_cast<std::size_t>(why.end - why.at), why.expected});
            if (!skip_bad) return false;
            const auto rest = static_cast<std::size_t>(end - why.at);
            p = static_cast<const char*>(std::memchr(why.at, '\n', rest)) + 1;
        }
        return true;
    };
    // npos + 1 is 0: without a newline, the whole block is its last line.
    const std::size_t whole = block.rfind('\n') + 1;
    if (!read(block.substr(0, whole), 0) || whole == block.size()) return;
    const std::string last = std::string(block.substr(whole)) + '\n';
    (void)read(last, whole);
}

}  // namespace surelearn
