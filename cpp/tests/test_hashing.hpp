// hash_many.hpp, hashing.hpp: eight hashes at a time as one, and threads that write into the same
// arrays. What is hashed is tested from Python, beside scikit-learn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "check.hpp"
#include "surelearn/hash_many.hpp"
#include "surelearn/hashing.hpp"

namespace surelearn::tests {

namespace hashing {

/// Whether all spans have the hash that each has alone, and nothing else was written.
[[nodiscard]] inline bool agrees(const std::vector<char>& bytes, std::span<const ByteSpan> some) {
    std::vector<std::int32_t> hashes(some.size() + 1, 42);
    murmur3_all(bytes.data(), some, hashes.data());
    bool same = hashes.back() == 42;
    for (std::size_t i = 0; i < some.size(); ++i) {
        same = same && hashes[i] == murmur3(bytes.data() + some[i].begin, some[i].size());
    }
    return same;
}

inline void many_hashes_are_those_of_each_alone() {
    std::mt19937 random(0);
    constexpr std::uint32_t size = 5000;
    std::vector<char> bytes(size + hash_padding);  // no byte more, so that one too far is seen
    for (char& c : bytes) c = static_cast<char>(random());
    std::vector<ByteSpan> spans;
    for (std::uint32_t n = 0; n <= 40; ++n) spans.push_back({size - n, size});
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const auto begin = static_cast<std::uint32_t>(random() % (size - 40));
        const auto n = static_cast<std::uint32_t>(random() % (i % 8 == 0 ? 40 : 16));
        spans.push_back({begin, begin + n});
    }
    CHECK(agrees(bytes, spans));
    for (std::size_t n = 0; n < 40; ++n) {
        CHECK(agrees(bytes, std::span(spans).first(n)));
        CHECK(agrees(bytes, std::span(spans).subspan(500, n)));
    }
}

struct Hashed {
    CountRows<float> rows;
    Names names;
    std::size_t failed = 0;
};

[[nodiscard]] inline Hashed hashed(std::span<const Text> texts, const Analysis& analysis,
                                   std::size_t threads) {
    Hashed result;
    const Counting counting;
    result.rows.ends.push_back(0);
    result.failed = hash_all(texts, analysis, counting, threads, result.rows, &result.names);
    return result;
}

[[nodiscard]] inline bool same(const Hashed& a, const Hashed& b) {
    bool equal = a.failed == b.failed && a.rows.ends == b.rows.ends &&
                 a.rows.features == b.rows.features && a.rows.values == b.rows.values &&
                 a.names.size() == b.names.size() && a.names.clashes() == b.names.clashes();
    for (std::size_t i = 0; equal && i < a.names.size(); ++i) {
        equal = a.names.feature(i) == b.names.feature(i) && a.names.word(i) == b.names.word(i);
    }
    return equal;
}

/// Texts of short words, all distinct, have more features than memory was reserved for: what is
/// there moves while threads copy.
inline void threads_write_what_one_would() {
    std::vector<std::string> contents;
    for (std::size_t i = 0; i < 3000; ++i) {
        std::string text;
        for (std::size_t k = 0; k < i % 600; ++k) text += std::to_string(10 + (i * k) % 9000) + ' ';
        contents.push_back(text);
    }
    std::vector<Text> texts;
    for (const std::string& text : contents) texts.push_back({text.data(), text.size()});
    Analysis pairs;
    pairs.most = 2;
    for (const Analysis& analysis : {Analysis{}, pairs}) {
        const Hashed one = hashed(texts, analysis, 1);
        CHECK(one.rows.ends.size() == texts.size() + 1);
        CHECK(one.failed == no_text);
        for (const std::size_t threads : {2U, 3U, 8U}) {
            CHECK(same(one, hashed(texts, analysis, threads)));
        }
    }
}

}  // namespace hashing

inline constexpr std::array hashing_tests{
    Test{"many hashes are those of each alone", hashing::many_hashes_are_those_of_each_alone},
    Test{"threads write what one would", hashing::threads_write_what_one_would},
};

}  // namespace surelearn::tests
