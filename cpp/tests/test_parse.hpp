// parse.hpp, svmlight.hpp, vw.hpp: numbers to the last bit, no byte read beyond a block, no memory
// taken for a line. What the readers make of a line is tested from Python, and by fuzz_parse.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "surelearn/jsonl.hpp"
#include "surelearn/svmlight.hpp"
#include "surelearn/vw.hpp"

namespace surelearn::tests::parse {

/// Whether a text is read as the C library reads it, bit for bit and to its end.
[[nodiscard]] inline bool agrees(const std::string& text) {
    const std::string line = text + '\n';
    double got = 0.0;
    const char* const end = read_number(line.data(), line.data() + line.size(), got);
    const double want = std::strtod(text.c_str(), nullptr);
    return end == line.data() + text.size() &&
           std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(want);
}

inline void numbers_are_the_nearest() {
    // Halfway cases, ends of the range, and where the quick way ends: 2^53 and 10^22.
    constexpr std::array texts{"0",
                               "-0",
                               "+1",
                               ".5",
                               "5.",
                               "1e0",
                               "1E+2",
                               "1e-2",
                               "9007199254740992",
                               "9007199254740993",
                               "9007199254740993e22",
                               "9007199254740992e22",
                               "9007199254740992e23",
                               "1e22",
                               "1e23",
                               "1e-22",
                               "1e-23",
                               "5e-324",
                               "2.4703282292062327e-324",
                               "2.4703282292062328e-324",
                               "1e-400",
                               "1e400",
                               "-1e400",
                               "0e99999999999",
                               "1e99999999999",
                               "1e-99999999999",
                               "1.7976931348623157e308",
                               "1.7976931348623159e308",
                               "2.2250738585072011e-308",
                               "18446744073709551616",
                               "00000000000000000000000000000001.5",
                               "0.00000000000000000000000000000000000015e37",
                               "0.1000000000000000055511151231257827",
                               "123456789012345678901234567890"};
    for (const char* const text : texts) CHECK(agrees(text));
    // Sizes that only digits and exponent together tell.
    const std::string zeros(500, '0');
    for (const std::string& text : {"1." + zeros + "e400", "1" + zeros + "e-900", "1" + zeros,
                                    "0." + zeros + "1", "0." + zeros + "1e500", "." + zeros + "1e9",
                                    "1" + zeros + ".5e-300", "1" + zeros + "e-490"}) {
        CHECK(agrees(text));
    }
    std::mt19937_64 random(1);
    std::array<char, 64> text{};
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!std::isfinite(value)) continue;
        const int digits = 1 + static_cast<int>(random() % 20);
        std::snprintf(text.data(), text.size(), "%.*e", digits, value);
        CHECK(agrees(text.data()));
        const double small = static_cast<double>(random() % 2'000'000) / 1000.0 - 1000.0;
        std::snprintf(text.data(), text.size(), "%.*g", digits, small);
        CHECK(agrees(text.data()));
    }
}

inline void what_is_no_number_is_refused() {
    for (const char* const text : {"\n", "-\n", ".\n", "e5\n", "1e\n", "1e+\n", "inf\n", "nan\n",
                                   "-.e1\n", "+-1\n", "x1\n"}) {
        double value = 0.0;
        CHECK(read_number(text, text + std::strlen(text), value) == nullptr);
    }
    double value = 0.0;
    const std::string_view hexadecimal = "0x10\n";
    CHECK(read_number(hexadecimal.data(), hexadecimal.end(), value) == hexadecimal.data() + 1);
    const std::string longer = '1' + std::string(longest_number, '0') + '\n';
    CHECK(read_number(longer.data(), longer.data() + longer.size(), value) == nullptr);
    CHECK(says_infinite("-Infinity") && says_infinite("NaN") && says_infinite("INF"));
    CHECK(!says_infinite("info") && !says_infinite("") && !says_infinite("in"));
}

inline constexpr std::string_view svmlight_text =
    "+1 1:0.5 7:1 # words\n\n-1 qid:2 3:1e-3 4:12345678901234567890 3:1\r\n2 9:0.25";
inline constexpr std::string_view candidates_text =
    "shared |s red\n1:0.5 |f a b:2\n2:1 'tag|f c\n\n\n3 |f d\nshared |s late\r\n \n|f e";
inline constexpr std::string_view vw_text =
    "1 2 'tag|f a b:2 city:paris\n\n|g:0.5 a_name_longer_than_sixteen_bytes c:1e-3 |f b:2\r\n-1 | "
    "x";

/// Every beginning and end of a text, in memory of just its size, for the sanitizer to watch.
template <class Read>
void read_pieces(std::string_view text, Read&& read) {
    for (std::size_t n = 0; n <= text.size(); ++n) {
        for (const std::string_view piece : {text.substr(0, n), text.substr(n)}) {
            const std::vector<char> own(piece.begin(), piece.end());
            read(std::string_view(own.data(), own.size()));
        }
    }
}

inline void no_byte_beyond_the_block_is_read() {
    std::size_t rows = 0;
    read_pieces(svmlight_text, [&](std::string_view text) {
        std::int64_t n_features = 0;
        rows += parse_svmlight<float>(text, false, false, true, n_features).n_rows;
        rows += parse_svmlight<float>(text, false, true, true, n_features).n_rows;
    });
    read_pieces(vw_text, [&](std::string_view text) {
        rows += parse_vw<WeightedRows<float>>(text, 1U << 20, true, true).n_rows;
    });
    read_pieces(candidates_text, [&](std::string_view text) {
        rows += parse_vw<CandidateRows<float>>(text, 1U << 20, true, true).n_rows;
    });
    CHECK(rows > 600);
}

[[nodiscard]] inline std::string repeated(std::string_view text, std::size_t n) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all.append(text).append("\n");
    return all;
}

/// How often memory is taken for n copies of a text.
[[nodiscard]] inline std::size_t taken_by_svmlight(std::size_t n) {
    const std::string block = repeated(svmlight_text, n);
    std::int64_t n_features = 0;
    const std::size_t before = allocations();
    const auto rows = parse_svmlight<double>(block, false, false, false, n_features);
    CHECK(rows.n_rows == 3 * n && rows.n_entries == 6 * n && n_features == 9);
    return allocations() - before;
}

[[nodiscard]] inline std::size_t taken_by_vw(std::size_t n) {
    const std::string block = repeated(vw_text, n);
    const std::size_t before = allocations();
    const auto rows = parse_vw<WeightedRows<double>>(block, 1U << 20, true, false);
    CHECK(rows.n_rows == 3 * n && rows.n_entries == 7 * n && rows.weighted);
    return allocations() - before;
}

[[nodiscard]] inline std::size_t taken_by_candidates(std::size_t n) {
    const std::string block = repeated("shared |s red\n1:0 |f a b:2\n\n", n);
    const std::size_t before = allocations();
    const auto rows = parse_vw<CandidateRows<float>>(block, 1U << 20, true, false);
    CHECK(rows.n_rows == 2 * n && rows.groups[2 * n - 1] == static_cast<std::int64_t>(n) - 1);
    return allocations() - before;
}

inline void no_memory_is_taken_for_a_line() {
    CHECK(taken_by_svmlight(2) == taken_by_svmlight(2000));
    CHECK(taken_by_vw(2) == taken_by_vw(2000));
    CHECK(taken_by_candidates(2) == taken_by_candidates(2000));
}

/// Every beginning of a block, in memory of just its size: sanitizers see a byte too far.
inline void lines_of_json_end_where_the_block_ends() {
    const std::string block =
        "{\"text\": \"caf\\u00e9 \\ud83d\\udc4d and sixteen bytes \\n\", \"label\" : -12, "
        "\"o\": [1.5e-3, {\"a\": null, \"b\": [true, false]}, \"\xc3\xa9\"]}\n";
    const JsonFields fields{"text", "label", JsonFields::Kind::whole_number};
    for (std::size_t n = 0; n <= block.size(); ++n) {
        const std::vector<char> part(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
        const auto records = parse_jsonl({part.data(), n}, fields);
        CHECK(records.has_value() == (n + 1 >= block.size()));
    }
    const auto twice = parse_jsonl(block + block, fields);
    CHECK(twice && twice->codes == std::vector<std::int32_t>(2, 0) && twice->labels[0] == "-12");
}

inline void bytes_are_counted() {
    const auto letter = [](char c) { return c == 'x'; };
    for (const std::size_t n : {0U, 1U, 254U, 255U, 256U, 511U, 10000U}) {
        CHECK(count_of(std::string(n, 'x') + 'y', letter) == n);
    }
}

}  // namespace surelearn::tests::parse

namespace surelearn::tests {

inline constexpr std::array parse_tests{
    Test{"numbers are the nearest", parse::numbers_are_the_nearest},
    Test{"what is no number is refused", parse::what_is_no_number_is_refused},
    Test{"no byte beyond the block is read", parse::no_byte_beyond_the_block_is_read},
    Test{"no memory is taken for a line", parse::no_memory_is_taken_for_a_line},
    Test{"bytes are counted", parse::bytes_are_counted},
    Test{"lines of json end where the block ends", parse::lines_of_json_end_where_the_block_ends},
};

}  // namespace surelearn::tests
