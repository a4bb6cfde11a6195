// decode.hpp: a class that wins all its pairs leads, and only where every pair has one problem.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/column_order.hpp"
#include "surelearn/decode.hpp"
#include "surelearn/diagonal.hpp"
#include "test_diagonal.hpp"

namespace surelearn::tests {

namespace decoding {

struct Pair {
    std::size_t winner;
    std::size_t loser;
};

/// The code [class, problem] of problems between two classes each.
[[nodiscard]] inline std::vector<std::int8_t> code_of(std::span<const Pair> pairs, std::size_t K) {
    std::vector<std::int8_t> code(K * pairs.size(), 0);
    for (std::size_t b = 0; b < pairs.size(); ++b) {
        code[pairs[b].winner * pairs.size() + b] = 1;
        code[pairs[b].loser * pairs.size() + b] = -1;
    }
    return code;
}

/// One problem for every two classes; the sides are in no order.
[[nodiscard]] inline std::vector<Pair> all_pairs(std::size_t K) {
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < K; ++a) {
        for (std::size_t b = a + 1; b < K; ++b) {
            pairs.push_back((a + b) % 3 == 0 ? Pair{b, a} : Pair{a, b});
        }
    }
    return pairs;
}

[[nodiscard]] inline bool are_all_pairs(std::span<const Pair> pairs,
                                        const std::vector<std::uint8_t>& known) {
    Problems problems;
    problems.find(code_of(pairs, known.size()), known, {});
    return problems.all_pairs();
}

/// Scores of which class y wins all, all but one, or any; some are huge, some tie.
[[nodiscard]] inline std::vector<double> scores_for(std::size_t y, std::span<const Pair> pairs,
                                                    int trial) {
    std::vector<double> s;
    for (std::size_t b = 0; b < pairs.size(); ++b) {
        const double x = std::sin(trial + 1.3 * static_cast<double>(b)) * (b % 5 == 0 ? 1e9 : 1.0);
        const bool won = pairs[b].winner == y || pairs[b].loser == y;
        const bool flip = won && trial % 3 != 2 && (pairs[b].winner == y) != (x > 0.0);
        s.push_back(flip ? -x : x);
    }
    if (trial % 3 == 1) s[static_cast<std::size_t>(trial) % s.size()] *= trial % 2 == 0 ? 0.0 : -1;
    return s;
}

/// The scores of y's problems in the order of its quads.
[[nodiscard]] inline std::vector<double> own_of(const Problems& problems, std::size_t y,
                                                std::span<const double> s) {
    std::vector<double> own;
    for (const std::uint32_t b : problems.in_place(y)) own.push_back(s[b]);
    return own;
}

}  // namespace decoding

inline void who_wins_all_pairs_leads() {
    for (const std::size_t K : {3U, 4U, 7U}) {
        const auto pairs = decoding::all_pairs(K);
        const std::vector<std::uint8_t> known(K, 1);
        Problems problems;
        problems.find(decoding::code_of(pairs, K), known, {});
        CHECK(problems.all_pairs());
        int wins = 0;
        for (int trial = 0; trial < 300; ++trial) {
            const std::size_t y = static_cast<std::size_t>(trial) % K;
            const auto s = decoding::scores_for(y, pairs, trial);
            std::vector<double> placed(pairs.size(), 0.0);
            const bool won = problems.wins(y, decoding::own_of(problems, y, s), placed);
            bool each = true;
            for (std::size_t b = 0; b < pairs.size(); ++b) {
                if (pairs[b].winner == y) each = each && s[b] > 0.0;
                if (pairs[b].loser == y) each = each && s[b] < 0.0;
                const bool own = pairs[b].winner == y || pairs[b].loser == y;
                CHECK(placed[b] == (own ? s[b] : 0.0));
            }
            CHECK(won == each);
            if (won) CHECK(problems.lead(y, s, known) > 0.0);
            wins += won ? 1 : 0;
        }
        CHECK(wins >= 100 && wins < 280);
    }
}

/// With a pair that is missing, met twice or not known yet, other classes may have more votes.
inline void other_pairs_are_not_all_pairs() {
    using decoding::are_all_pairs;
    const std::vector<std::uint8_t> known(4, 1);
    auto pairs = decoding::all_pairs(4);
    CHECK(are_all_pairs(pairs, known));
    CHECK(!are_all_pairs(pairs, {1, 1, 0, 1}));
    CHECK(!are_all_pairs(std::span(pairs).first(5), known));
    pairs[5] = {pairs[0].loser, pairs[0].winner};
    CHECK(!are_all_pairs(pairs, known));
    Problems problems;
    const std::array<std::int8_t, 9> rest{1, -1, -1, -1, 1, -1, -1, -1, 1};
    problems.find(rest, std::vector<std::uint8_t>(3, 1), {});
    CHECK(!problems.all_pairs());
}

namespace decoding {

template <class T>
void check_some_columns(bool second_order, bool intercept) {
    const auto weights = diagonal::worn<T>(Shape{
        .n_features = 7, .n_columns = 21, .intercept = intercept, .second_order = second_order});
    const diagonal::Entries x{{0, 1, 3, 4, 6}, {0.5, -2.0, 1.0, 3.0, 0.125}};
    const std::vector<std::uint8_t> known(7, 1);
    Problems problems;
    problems.find(code_of(all_pairs(7), 7), known, weights.order());
    std::vector<double> s(21);
    for (std::size_t y = 0; y < 7; ++y) {
        const std::size_t n = problems.in_place(y).size();
        std::vector<double> v(n), own(n), own_v(n);
        weights.moments(x.row(), s, v, problems.of(y), x.row());
        weights.moments_of(problems.of(y), x.row(), own, own_v, x.row());
        CHECK(own == own_of(problems, y, s) && own_v == v);
        CHECK(own[0] != 0.0 && v[0] > 0.0);
    }
}

}  // namespace decoding

/// A pass reads only the columns of a row's class, and gets the bits that all columns give.
inline void some_columns_get_the_bits_of_all() {
    for (const bool second_order : {false, true}) {
        for (const bool intercept : {false, true}) {
            decoding::check_some_columns<float>(second_order, intercept);
            decoding::check_some_columns<double>(second_order, intercept);
        }
    }
}

inline constexpr std::array decode_tests{
    Test{"who wins all pairs leads", who_wins_all_pairs_leads},
    Test{"other pairs are not all pairs", other_pairs_are_not_all_pairs},
    Test{"some columns get the bits of all", some_columns_get_the_bits_of_all},
};

}  // namespace surelearn::tests
