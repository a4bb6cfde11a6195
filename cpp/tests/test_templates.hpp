// dictionary.hpp, word_forms.hpp, templates.hpp: tables that grow, and memory at the ends of
// sequences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "surelearn/templates.hpp"
#include "surelearn/word_forms.hpp"

namespace surelearn::tests {

namespace templates {

/// Names of every length to twenty bytes, zeros among them.
[[nodiscard]] inline std::string name(std::size_t i) {
    std::string text = std::to_string(i * 7919);
    text.resize(i % 21, static_cast<char>(i % 3));
    return text + "#" + std::to_string(i);
}

inline void names_keep_their_numbers_while_a_table_grows() {
    constexpr std::size_t n = 20000;
    Dictionary names;
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(names.find(name(i)) == no_number);
        CHECK(names.add(name(i)) == static_cast<std::int32_t>(i));
        CHECK(names.add(name(i / 2)) == static_cast<std::int32_t>(i / 2));
    }
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(names.find(name(i)) == static_cast<std::int32_t>(i));
        CHECK(names.names()[i] == name(i));
    }
}

inline void pairs_have_the_same_numbers_in_both_tables() {
    constexpr std::uint32_t n = 300;
    PairDictionary cells(n, n, n * n);
    PairDictionary table(n, n, 0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> wanted;
    std::uint32_t random = 1;
    for (int turn = 0; turn < 500; ++turn) {
        std::array<std::uint32_t, 100> a;
        std::array<std::uint32_t, 100> b;
        for (std::size_t i = 0; i < a.size(); ++i) {
            random = random * 1664525 + 1013904223;
            a[i] = (random >> 8) % n;
            b[i] = (random >> 20) % n;
        }
        auto c = a;
        auto d = a;
        cells.add(c, b);
        table.add(d, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
            const auto next = static_cast<std::uint32_t>(wanted.size());
            const std::uint32_t number = wanted.try_emplace({a[i], b[i]}, next).first->second;
            CHECK(c[i] == number);
            CHECK(d[i] == number);
        }
    }
}

inline void cuts_end_where_characters_do() {
    for (std::size_t n = 1; n < 6; ++n) {
        std::string first =
            "a\xc3\xa9\xe6\x9d\xb1\xf0\x9f\x91\x8d";  // of one, two, three, four bytes
        std::string last = first;
        constexpr std::array<std::size_t, 6> ends{0, 1, 3, 6, 10, 10};
        constexpr std::array<std::size_t, 6> begins{10, 6, 3, 1, 0, 0};
        const std::string whole = first;
        apply({WordForm::Kind::prefix, n}, first);
        apply({WordForm::Kind::suffix, n}, last);
        CHECK(first == whole.substr(0, ends[n]));
        CHECK(last == whole.substr(begins[n]));
    }
}

/// Sequences of 0, 1, ... words, seen from far beyond both ends.
inline void offsets_may_exceed_a_sequence() {
    Words words;
    words.distinct.resize(1);
    words.ids.resize(1);
    View view;
    for (std::int32_t length = 0; length < 20; ++length) {
        for (std::int32_t t = 0; t < length; ++t) {
            words.ids[0].push_back(words.distinct[0].add(std::to_string(t)));
        }
        words.bounds.push_back(static_cast<std::int64_t>(words.ids[0].size()));
    }
    for (std::size_t i = 0; i < words.distinct[0].size(); ++i) {
        view.of_word.push_back(static_cast<std::int32_t>(i));
        view.texts.add(words.distinct[0].names()[i]);
    }
    const std::vector<Template> templates{{"far", {{0, -100}, {0, 100}}}, {"near", {{0, 0}}}};
    Dictionary names;
    CountRows<float> rows;
    Extractor(words, std::span(&view, 1), templates, Numbering(names, true)).run(false, rows);
    CHECK(rows.ends.size() == 190);
    CHECK(rows.features.size() == 380);
    CHECK(names.names()[0] == "far=<s-100>|</s+100>");
    CHECK(names.names()[1] == "near=0");
    CHECK(names.names()[names.size() - 1] == "near=18");
    CHECK(names.names()[names.size() - 2] == "far=<s-82>|</s+100>");
}

}  // namespace templates

inline constexpr std::array templates_tests{
    Test{"names keep their numbers while a table grows",
         templates::names_keep_their_numbers_while_a_table_grows},
    Test{"pairs have the same numbers in both tables",
         templates::pairs_have_the_same_numbers_in_both_tables},
    Test{"cuts end where characters do", templates::cuts_end_where_characters_do},
    Test{"offsets may exceed a sequence", templates::offsets_may_exceed_a_sequence},
};

}  // namespace surelearn::tests
