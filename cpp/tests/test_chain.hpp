// chain.hpp, sparse_difference.hpp and tagging.hpp: chains of every size in one memory, and passes
// over sequences that are learnt whole or not at all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/chain.hpp"
#include "surelearn/tagging.hpp"
#include "test_diagonal.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace chains {

constexpr std::array<std::size_t, 5> label_counts{1, 2, 3, 5, 17};
constexpr std::array<std::size_t, 6> lengths{0, 1, 2, 3, 40, 3000};

inline void fill(Chain& chain, std::size_t length, std::size_t n_labels, bool steps_differ,
                 double size = 1.0) {
    std::mt19937_64 random(length * 100 + n_labels);
    const auto draw = [&] { return size * (static_cast<double>(random() % 4096) / 512.0 - 4.0); };
    chain.reset(length, n_labels, steps_differ);
    for (std::size_t t = 0; t < length; ++t) std::ranges::generate(chain.unary(t), draw);
    for (std::size_t t = 1; t < (steps_differ ? length : std::min<std::size_t>(length, 2)); ++t) {
        for (std::size_t i = 0; i < n_labels; ++i) std::ranges::generate(chain.step(t, i), draw);
    }
}

/// f(chain) for every size, small ones after large ones too, all in one memory.
template <class F>
void each_size(const F& f) {
    Chain chain;
    for (const bool steps_differ : {false, true}) {
        for (const std::size_t n_labels : label_counts) {
            for (const std::size_t length : lengths) {
                fill(chain, length, n_labels, steps_differ);
                f(chain);
            }
        }
    }
}

[[nodiscard]] inline bool inside(const Chain& chain, std::span<const std::int32_t> path) {
    const auto n = static_cast<std::int32_t>(chain.n_labels());
    return path.size() == chain.length() &&
           std::ranges::all_of(path, [&](std::int32_t k) { return k >= 0 && k < n; });
}

}  // namespace chains

inline void paths_rank_as_their_scores() {
    chains::each_size([](Chain& chain) {
        Path best;
        chain.best(best);
        const std::vector<Path> ranked = chain.k_best(4);
        CHECK(!ranked.empty() && ranked.front() == best);
        for (const Path& path : ranked) CHECK(chains::inside(chain, path));
        for (std::size_t r = 1; r < ranked.size(); ++r) {
            CHECK(chain.score(ranked[r - 1]) >= chain.score(ranked[r]) - 1e-9);
        }
        Path other = best;
        const bool found = chain.best_other(best, other);
        CHECK(found == (ranked.size() > 1));
        if (found) CHECK_AT_MOST(chain.score(ranked[1]) - chain.score(other), 1e-9);
        chain.look_back();
        for (std::size_t t = 0; t < chain.length(); t += 1 + chain.length() / 7) {
            Path without = best;
            const TokenRange apart = chain.best_without(best, t, without);
            for (std::size_t s = 0; s < chain.length(); ++s) {
                CHECK((without[s] != best[s]) == (apart.begin <= s && s < apart.end));
            }
            if (chain.n_labels() == 1) continue;
            CHECK(chains::inside(chain, without) && without[t] != best[t]);
            CHECK_AT_MOST(chain.score(without), chain.score(best) + 1e-9);
        }
    });
}

inline void check_sums(Chain& chain) {
    const std::size_t T = chain.length();
    const std::size_t K = chain.n_labels();
    std::vector<double> p(T * K);
    std::vector<double> pairs(T < 2 ? 0 : (T - 1) * K * K);
    chain.marginals(p);
    chain.pair_marginals(pairs);
    for (std::size_t t = 0; t < T; ++t) {
        double sum = 0.0;
        for (std::size_t j = 0; j < K; ++j) sum += p[t * K + j];
        CHECK_AT_MOST(std::fabs(sum - 1.0), 1e-12);
        if (t == 0) continue;
        sum = 0.0;
        for (std::size_t c = 0; c < K * K; ++c) sum += pairs[(t - 1) * K * K + c];
        CHECK_AT_MOST(std::fabs(sum - 1.0), 1e-12);
    }
    const std::vector<double> uniform(T, std::nextafter(1.0, 0.0));
    Path path(T);
    chain.log_partition();
    chain.sample(uniform, path);
    CHECK(chains::inside(chain, path));
}

inline void probabilities_of_paths_sum_to_one() {
    chains::each_size([](Chain& chain) { check_sums(chain); });
}

inline void scores_may_be_huge() {
    Chain chain;
    for (const double size : {1e9, 1e14, 1e30, 1e200}) {
        for (const std::size_t n_labels : chains::label_counts) {
            chains::fill(chain, 40, n_labels, true, size);
            check_sums(chain);
        }
    }
}

inline void chains_after_the_first_need_no_memory() {
    Chain chain;
    Path path;
    std::vector<double> p(40 * 17);
    const auto work = [&] {
        chains::fill(chain, 40, 17, false);
        chain.best(path);
        CHECK(chain.best_other(Path(path), path));
        chain.marginals(p);
    };
    work();
    const std::size_t before = allocations();
    work();
    CHECK(allocations() <= before + 1);  // the copy of the path
}

namespace chains {

/// Sequences of every length from none, some features of tokens and of pairs.
struct Corpus {
    Csr<std::int32_t, float> tokens{.n_features = 30};
    Csr<std::int32_t, float> pairs{.n_features = 4};
    std::vector<std::int64_t> bounds{0};
    std::vector<std::int32_t> y;

    explicit Corpus(std::size_t n_labels, std::size_t n_sequences = 60) {
        std::mt19937_64 random(7 + n_labels);
        for (std::size_t i = 0; i < n_sequences; ++i) {
            for (std::size_t t = 0; t < i % 9; ++t) {
                const std::size_t label = random() % n_labels;
                tokens.add(label, 1.0);
                tokens.add(17 + random() % 13, 0.5);
                tokens.end_row();
                if (t > 0 && random() % 2 == 0) pairs.add(random() % 4, 1.0);
                pairs.end_row();
                y.push_back(static_cast<std::int32_t>(random() % 8 == 0 ? 0 : label));
            }
            bounds.push_back(static_cast<std::int64_t>(y.size()));
        }
    }
};

template <class T>
[[nodiscard]] Diagonal<T> blank(std::size_t n_labels, const AnyRule& rule) {
    return Diagonal<T>(Shape{.n_features = ChainLayout{n_labels, 4}.tokens() + 30,
                             .n_columns = n_labels,
                             .intercept = false,
                             .second_order = !first_order(rule),
                             .averaged = true});
}

inline const std::array<Method, 5> methods{
    Method{rules::Variance{1.0}, Projection::precision, {}},
    Method{rules::AROW{1.0}, Projection::covariance, {Scheme::Kind::sequential, 3, {}}},
    Method{rules::SecondOrderPerceptron{}, Projection::precision, {}},
    Method{rules::Perceptron{}, Projection::precision, {Scheme::Kind::sequential, 2, {}}},
    Method{rules::PA1{0.1}, Projection::precision, {}},
};

}  // namespace chains

/// Memory, index and sign faults would show under sanitizers; here that pieces make the whole.
inline void sequences_are_learnt_the_same_in_pieces() {
    for (const std::size_t n_labels : chains::label_counts) {
        const chains::Corpus corpus(n_labels);
        const auto tokens = corpus.tokens.matrix();
        const auto pairs = corpus.pairs.matrix();
        const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
        const Examples all{};
        for (const Method& method : chains::methods) {
            auto whole = chains::blank<float>(n_labels, method.rule);
            auto parts = chains::blank<float>(n_labels, method.rule);
            TagPass<float, std::int32_t, float> pass(whole, method, sequences, all);
            const Tally tally = pass.run(0, sequences.size());
            CHECK(!tally.refused && tally.end == sequences.size());
            CHECK((tally.updates > 0) == (n_labels > 1));
            for (std::size_t i = 0; i < sequences.size(); ++i) {
                TagPass<float, std::int32_t, float> piece(parts, method, sequences, all);
                CHECK(!piece.run(i, i + 1).refused);
            }
            CHECK(bits(whole) == bits(parts));
            Tagger<float, std::int32_t, float> tagger(whole, sequences);
            for (std::size_t i = 0; i < sequences.size(); ++i) {
                Path path(sequences.length(i));
                std::vector<Moments> lead(path.size());
                tagger.tag(i, path, lead);
                for (const Moments& m : lead) CHECK(m.m >= -1e-9 && m.v >= 0.0);
            }
        }
    }
}

/// A step that no float holds, after steps that were fine: all of them are taken back.
inline void refused_sequences_leave_no_bit_changed() {
    chains::Corpus corpus(3);
    constexpr std::size_t bad = 17;  // of eight tokens
    const auto first = static_cast<std::size_t>(corpus.bounds[bad]);
    for (auto p = static_cast<std::size_t>(corpus.tokens.start[first]);
         p < static_cast<std::size_t>(corpus.tokens.start[first + 8]); ++p) {
        corpus.tokens.value[p] = 3e38F;
    }
    const auto tokens = corpus.tokens.matrix();
    const auto pairs = corpus.pairs.matrix();
    const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
    const Examples all{};
    for (const Method& method : chains::methods) {
        auto weights = chains::blank<float>(3, method.rule);
        TagPass<float, std::int32_t, float> pass(weights, method, sequences, all);
        CHECK(pass.run(0, bad).end == bad);
        const auto before = bits(weights);
        const Tally tally = pass.run(bad, bad + 1);
        if (!tally.refused) continue;  // PA1 moves by little, however large the features
        CHECK(tally.end == bad && bits(weights) == before);
    }
}

inline void features_move_with_their_weights() {
    const Method& method = chains::methods[0];
    const chains::Corpus corpus(5);
    const auto tokens = corpus.tokens.matrix();
    const auto pairs = corpus.pairs.matrix();
    const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
    const Examples all{};
    auto weights = chains::blank<double>(5, method.rule);
    TagPass<double, std::int32_t, float> pass(weights, method, sequences, all);
    CHECK(!pass.run(0, sequences.size()).refused);
    const std::size_t n = weights.shape().n_features;
    std::vector<std::int64_t> turned(n + 1, -1);
    for (std::size_t j = 0; j < n; ++j) turned[n - j] = static_cast<std::int64_t>(j);
    const auto other = weights.with_features(turned);
    CHECK(other.rounds() == weights.rounds() && other.shape().n_features == n + 1);
    std::vector<std::int64_t> back(n);
    for (std::size_t j = 0; j < n; ++j) back[j] = static_cast<std::int64_t>(n - j);
    CHECK(bits(other.with_features(back)) == bits(weights));
    CHECK(other.mean(0, 0) == 0.0 && other.sigma(0, 0) == 1.0);
}

inline constexpr std::array chain_tests{
    Test{"paths rank as their scores", paths_rank_as_their_scores},
    Test{"probabilities of paths sum to one", probabilities_of_paths_sum_to_one},
    Test{"scores may be huge", scores_may_be_huge},
    Test{"chains after the first need no memory", chains_after_the_first_need_no_memory},
    Test{"sequences are learnt the same in pieces", sequences_are_learnt_the_same_in_pieces},
    Test{"refused sequences leave no bit changed", refused_sequences_leave_no_bit_changed},
    Test{"features move with their weights", features_move_with_their_weights},
};

}  // namespace surelearn::tests
