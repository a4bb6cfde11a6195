// Batch losses: gradients against differences of values, the same bits for any number of threads,
// packed cells against all cells, and a dual that only rises.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "surelearn/classes.hpp"
#include "surelearn/descent.hpp"
#include "surelearn/frank_wolfe.hpp"
#include "surelearn/likelihood.hpp"
#include "surelearn/tagging.hpp"
#include "test_chain.hpp"

namespace surelearn::tests {

namespace batch {

template <class Reader>
using ChainOf = ChainDecoder<Reader, std::int32_t, float>;
template <class Reader>
using ClassOf = ClassDecoder<Reader, std::int32_t, float>;

[[nodiscard]] inline std::vector<double> numbers(std::size_t n, double size) {
    std::mt19937_64 random(n);
    std::vector<double> out(n);
    for (double& x : out) x = size * (static_cast<double>(random() % 2001) / 1000.0 - 1.0);
    return out;
}

/// The gradient along one direction against a difference of values, and one thread against many.
template <template <class> class D>
void check_gradient(BatchLoss<D>& loss, std::size_t n, double size) {
    std::vector<double> w = numbers(n, size);
    const std::vector<double> along = numbers(n, 1.0);
    std::vector<double> gradient(n, 7.0);
    std::vector<double> other(n, 8.0);
    const double value = loss.log_loss(w, gradient, 1);
    CHECK(value >= -1e-9);  // with one label it is zero, up to rounding
    for (const std::size_t threads : {2U, 5U}) {
        CHECK(loss.log_loss(w, other, threads) == value && other == gradient);
    }
    const auto at = [&](double step) {
        std::vector<double> moved = w;
        for (std::size_t e = 0; e < n; ++e) moved[e] += step * along[e];
        return loss.log_loss(moved, other, 1);
    };
    constexpr double step = 1e-5;
    const double slope = (at(step) - at(-step)) / (2.0 * step);
    const double want = std::inner_product(along.begin(), along.end(), gradient.begin(), 0.0);
    // Scores of hundreds leave fewer digits for the difference.
    const double rounding = 1e-6 * std::max(1.0, size / 10.0);
    CHECK(std::abs(slope - want) <= rounding * (1.0 + std::abs(want)));
    loss.curvature(w, other, 3);
    for (const double h : other) CHECK(h >= -1e-12);
    CHECK(loss.hinge_loss(w, 1) == loss.hinge_loss(w, 4));
}

}  // namespace batch

/// Chains with pair features and without, all cells and those that occur.
inline void gradients_of_chains() {
    for (const std::size_t K : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{17}}) {
        const chains::Corpus corpus(K);
        const auto tokens = corpus.tokens.matrix();
        const auto pairs = corpus.pairs.matrix();
        const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
        const std::size_t n_rows = ChainLayout{K, 4}.tokens() + 30;
        const Cells all{n_rows, K};
        BatchLoss<batch::ChainOf> whole(sequences, {}, all);
        batch::check_gradient(whole, all.size(), 0.5);
        batch::check_gradient(whole, all.size(), 400.0);  // too far apart for scaled sums

        std::vector<std::int64_t> offsets;
        std::vector<std::int32_t> labels;
        observed(sequences, K).list(offsets, labels);
        const Cells listed{n_rows, K, offsets, labels};
        const std::vector<double> weight(sequences.size(), 1.5);
        BatchLoss<batch::ChainOf> part(sequences, weight, listed);
        batch::check_gradient(part, listed.size(), 0.5);

        // The same weights, zero elsewhere: the same value, and the same gradient where both are.
        const std::vector<double> w = batch::numbers(listed.size(), 0.3);
        std::vector<double> spread(all.size(), 0.0);
        for (std::size_t j = 0; j < n_rows; ++j) {
            for (std::size_t e = listed.begin(j); e < listed.end(j); ++e) {
                spread[j * K + listed.column(e)] = w[e];
            }
        }
        std::vector<double> few(listed.size());
        std::vector<double> many(all.size());
        const double value = part.log_loss(w, few, 2);
        CHECK(std::abs(value - 1.5 * whole.log_loss(spread, many, 2)) <= 1e-9 * (1.0 + value));
        for (std::size_t j = 0; j < n_rows; ++j) {
            for (std::size_t e = listed.begin(j); e < listed.end(j); ++e) {
                CHECK(std::abs(few[e] - 1.5 * many[j * K + listed.column(e)]) < 1e-9);
            }
        }
    }
}

inline void gradients_of_classes() {
    for (const std::size_t K : {std::size_t{2}, std::size_t{3}, std::size_t{21}}) {
        const chains::Corpus corpus(K);
        const auto matrix = corpus.tokens.matrix();
        const LabelledRows<std::int32_t, float> rows{matrix, corpus.y};
        const Cells cells{31, K == 2 ? 1 : K};
        BatchLoss<batch::ClassOf> loss(rows, {}, cells);
        batch::check_gradient(loss, cells.size(), 1.0);
    }
}

namespace batch {

/// Visits until the gap closes; the dual never falls, and the primal stays above it.
template <class S>
void check_duality(S& solver, const Diagonal<double>& weights, std::size_t n) {
    const auto square = [&] {
        double sum = 0.0;
        for (std::size_t j = 0; j < weights.shape().n_rows(); ++j) {
            for (std::size_t k = 0; k < weights.shape().n_columns; ++k) {
                sum += weights.mean(j, k) * weights.mean(j, k) / weights.sigma(j, k);
            }
        }
        return sum;
    };
    double before = 0.0;
    double gap = 1.0;
    for (int pass = 0; pass < 400; ++pass) {
        for (std::size_t i = 0; i < n; ++i) solver.visit(i);
        const HingeSums sums = solver.sums();
        const double dual = sums.linear - 0.5 * square();
        const double primal = sums.hinge + 0.5 * square();
        CHECK(dual >= before - 1e-9 && primal >= dual - 1e-9);
        before = dual;
        gap = (primal - dual) / primal;
    }
    CHECK(gap < 1e-3);
}

}  // namespace batch

inline void frank_wolfe_closes_the_gap() {
    for (const std::size_t K : {std::size_t{2}, std::size_t{4}}) {
        for (const bool second_order : {false, true}) {
            const chains::Corpus corpus(K);
            const auto tokens = corpus.tokens.matrix();
            const auto pairs = corpus.pairs.matrix();
            const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
            const std::vector<double> bound(corpus.y.size(), 0.1);
            Diagonal<double> table(Shape{.n_features = ChainLayout{K, 4}.tokens() + 30,
                                         .n_columns = K,
                                         .intercept = false,
                                         .second_order = second_order,
                                         .averaged = false});
            FrankWolfe<OnlineChain<double, std::int32_t, float>> chains(table, sequences, bound);
            batch::check_duality(chains, table, sequences.size());

            const LabelledRows<std::int32_t, float> rows{tokens, corpus.y};
            Diagonal<double> columns(Shape{.n_features = 30,
                                           .n_columns = K == 2 ? 1 : K,
                                           .intercept = true,
                                           .second_order = second_order,
                                           .averaged = false});
            ClassFrankWolfe<std::int32_t, float> classes(columns, rows, bound);
            batch::check_duality(classes, columns, rows.size());
        }
    }
}

/// Long enough, both losses come down; the average is a plain vector after `settle`.
inline void descent_lowers_the_loss() {
    constexpr std::size_t K = 4;
    const chains::Corpus corpus(K);
    const auto tokens = corpus.tokens.matrix();
    const auto pairs = corpus.pairs.matrix();
    const Sequences<std::int32_t, float> sequences{tokens, pairs, corpus.bounds, corpus.y};
    const Cells cells{ChainLayout{K, 4}.tokens() + 30, K};
    for (const Loss kind : {Loss::log, Loss::hinge}) {
        std::vector<double> w(cells.size(), 0.0);
        std::vector<double> average(cells.size(), 0.0);
        std::vector<double> gradient(cells.size());
        DescentState state{0.0, 0.1};
        Descent<batch::ChainOf<FlatWeights>> descent(sequences, cells, w, average, 1e-3, false);
        for (int pass = 0; pass < 20; ++pass) {
            for (std::size_t i = 0; i < sequences.size(); ++i) descent.step(kind, i, 1.0, state);
        }
        descent.settle();
        BatchLoss<batch::ChainOf> loss(sequences, {}, cells);
        const std::vector<double> zero(cells.size(), 0.0);
        if (kind == Loss::log) {
            CHECK(loss.log_loss(average, gradient, 1) < 0.6 * loss.log_loss(zero, gradient, 1));
        } else {
            CHECK(loss.hinge_loss(average, 1) < 0.6 * loss.hinge_loss(zero, 1));
        }
        CHECK(state.t == 20.0 * static_cast<double>(sequences.size()));
    }
}

inline constexpr std::array batch_tests{
    Test{"gradients of chains", gradients_of_chains},
    Test{"gradients of classes", gradients_of_classes},
    Test{"frank-wolfe closes the gap", frank_wolfe_closes_the_gap},
    Test{"descent lowers the loss", descent_lowers_the_loss},
};

}  // namespace surelearn::tests
