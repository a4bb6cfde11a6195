// Graphs: forests against all labellings, cycles against what sums and maxima promise, gradients of
// the losses, and what learning leaves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "surelearn/graph_learning.hpp"
#include "surelearn/likelihood.hpp"
#include "surelearn/structured.hpp"
#include "test_batch.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace graphs {

constexpr Propagation exactly{.damping = 0.2, .tol = 1e-12, .max_sweeps = 5000};

/// Sizes, edges and tables of a random graph.
struct Drawing {
    std::vector<std::int64_t> sizes;
    std::vector<std::int32_t> ends;
    std::vector<std::int64_t> table_at;
    std::size_t n_cells = 0;

    Drawing(std::size_t n, bool loopy, std::mt19937_64& random) {
        for (std::size_t v = 0; v < n; ++v) {
            sizes.push_back(1 + static_cast<std::int64_t>(random() % 3));
        }
        for (std::size_t v = 1; v < n; ++v) {
            if (random() % 5 != 0) join(v, random() % v, random() % 2 == 0);
        }
        if (loopy && n > 2) join(0, n - 1, false), join(1, n - 1, true);
    }

    void join(std::size_t a, std::size_t b, bool turned) {
        for (std::size_t h = 0; h < ends.size(); h += 2) {
            const auto has = [&](std::size_t v) {
                return ends[h] == static_cast<std::int32_t>(v) ||
                       ends[h + 1] == static_cast<std::int32_t>(v);
            };
            if (has(a) && has(b)) return;
        }
        if (turned) std::swap(a, b);
        ends.push_back(static_cast<std::int32_t>(a));
        ends.push_back(static_cast<std::int32_t>(b));
        table_at.push_back(static_cast<std::int64_t>(n_cells));
        n_cells += static_cast<std::size_t>(sizes[a] * sizes[b]);
    }

    void draw(Graph& graph, double size, std::mt19937_64& random) const {
        graph.reset(sizes, ends, table_at, n_cells);
        const auto fill = [&](std::span<double> s) {
            for (double& x : s) x = size * (static_cast<double>(random() % 2001) / 1000.0 - 1.0);
        };
        fill(graph.unary());
        fill(graph.tables());
    }
};

/// All labellings with their scores, best first.
[[nodiscard]] inline std::vector<std::pair<double, Labelling>> all(const Graph& graph) {
    std::vector<std::pair<double, Labelling>> found;
    Labelling y(graph.n_nodes(), 0);
    for (bool more = true; more;) {
        found.emplace_back(graph.score(y), y);
        more = false;
        for (std::size_t v = 0; v < y.size() && !more; ++v) {
            more = ++y[v] < static_cast<std::int32_t>(graph.size(v));
            if (!more) y[v] = 0;
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, [](const auto& x) { return x.first; });
    return found;
}

template <class Reader>
using GraphOf = GraphDecoder<Reader, std::int32_t, float>;

/// Graphs with features of nodes and edges.
struct Corpus {
    static constexpr std::size_t n_features = 12;
    static constexpr std::size_t n_pairs = 2;
    Csr<std::int32_t, float> nodes{.n_features = n_features};
    Csr<std::int32_t, float> pairs{.n_features = n_pairs};
    std::vector<std::int64_t> node_bounds{0};
    std::vector<std::int64_t> edge_bounds{0};
    std::vector<std::int32_t> ends;
    std::vector<std::int32_t> y;

    Corpus(std::size_t K, bool loopy) {
        std::mt19937_64 random(K);
        for (std::size_t i = 0; i < 30; ++i) {
            const Drawing drawing(i % 7, loopy, random);  // now and then a graph is empty
            for (std::size_t v = 0; v < i % 7; ++v) {
                const std::size_t label = random() % K;
                nodes.add(label % n_features, 1.0F);
                nodes.add(6 + random() % 6, 0.5F);
                nodes.end_row();
                y.push_back(static_cast<std::int32_t>(label));
            }
            for (std::size_t e = 0; e < drawing.table_at.size(); ++e) {
                pairs.add(random() % n_pairs, 0.75F);
                pairs.end_row();
            }
            ends.insert(ends.end(), drawing.ends.begin(), drawing.ends.end());
            node_bounds.push_back(static_cast<std::int64_t>(y.size()));
            edge_bounds.push_back(static_cast<std::int64_t>(ends.size() / 2));
        }
    }
};

}  // namespace graphs

inline void forests_equal_enumeration() {
    std::mt19937_64 random(7);
    Graph graph;
    GraphSearch search;
    for (std::size_t trial = 0; trial < 60; ++trial) {
        const graphs::Drawing drawing(1 + trial % 7, false, random);
        drawing.draw(graph, trial % 3 == 0 ? 400.0 : 2.0, random);
        CHECK(graph.topology().is_forest());
        const auto all = graphs::all(graph);
        CHECK(graph.solve(Graph::Kind::max, {}).residual == 0.0);
        Labelling best;
        graph.best(best);
        CHECK_AT_MOST(std::fabs(graph.score(best) - all[0].first), 1e-10);
        const auto several = search.k_best(graph, {}, 5);
        CHECK(several.size() == std::min<std::size_t>(5, all.size()));
        for (std::size_t k = 0; k < several.size(); ++k) {
            CHECK_AT_MOST(std::fabs(graph.score(several[k]) - all[k].first), 1e-10);
        }
        graph.solve(Graph::Kind::sum, {});
        double sum = 0.0;
        for (const auto& one : all) sum += std::exp(one.first - all[0].first);
        const double log_z = all[0].first + std::log(sum);
        CHECK_AT_MOST(std::fabs(graph.log_partition() - log_z), 1e-10);
        for (std::size_t v = 0; v < graph.n_nodes(); ++v) {
            std::vector<double> p(graph.size(v));
            graph.marginals(v, p);
            for (const auto& [score, y] : all) p[Graph::label(y, v)] -= std::exp(score - log_z);
            for (const double rest : p) CHECK_AT_MOST(std::fabs(rest), 1e-12);
        }
    }
}

/// Weak couplings: messages settle, and their fixed point is near the truth.
inline void messages_settle_in_cycles() {
    std::mt19937_64 random(8);
    Graph graph;
    for (std::size_t trial = 0; trial < 30; ++trial) {
        graphs::Drawing drawing(trial % 2 == 0 ? 6 : 11, true, random);
        // Every other graph has a hub, whose messages are sent together.
        for (std::size_t v = 1; v < drawing.sizes.size() && trial % 2 == 1; ++v) {
            drawing.join(0, v, v % 2 == 0);
        }
        drawing.draw(graph, trial % 2 == 0 ? 0.3 : 0.15, random);
        const auto all = graphs::all(graph);
        const Convergence found = graph.solve(Graph::Kind::sum, graphs::exactly);
        CHECK_AT_MOST(found.residual, graphs::exactly.tol);
        double sum = 0.0;
        for (const auto& one : all) sum += std::exp(one.first);
        CHECK_AT_MOST(std::fabs(graph.log_partition() - std::log(sum)), 0.02);
    }
}

/// Near 1e15 a score has hardly a digit behind the point.
inline void marginals_of_huge_scores_sum_to_one() {
    const std::vector<std::int64_t> sizes{3, 3}, table_at{0};
    const std::vector<std::int32_t> ends{0, 1};
    Graph graph;
    graph.reset(sizes, ends, table_at, 9);
    for (std::size_t i = 0; i < 6; ++i) graph.unary()[i] = 1e15 + static_cast<double>(i % 4);
    std::ranges::fill(graph.tables(), 1e15);
    graph.solve(Graph::Kind::sum, {});
    std::vector<double> p(3);
    for (std::size_t v = 0; v < 2; ++v) {
        graph.marginals(v, p);
        CHECK_AT_MOST(std::fabs(std::accumulate(p.begin(), p.end(), -1.0)), 1e-12);
    }
    const auto pairs = graph.pair_marginals(0);
    CHECK_AT_MOST(std::fabs(std::accumulate(pairs.begin(), pairs.end(), -1.0)), 1e-12);
}

/// The gradient of Bethe's approximation is that of its marginals: also with cycles.
inline void gradients_of_graphs() {
    for (const bool loopy : {false, true}) {
        for (const bool directed : {true, false}) {
            const graphs::Corpus corpus(3, loopy);
            const auto nodes = corpus.nodes.matrix();
            const auto pairs = corpus.pairs.matrix();
            const Graphs<std::int32_t, float> data{
                nodes,       pairs,    corpus.node_bounds, corpus.edge_bounds,
                corpus.ends, directed, graphs::exactly,    corpus.y};
            const Cells cells{GraphLayout{3, corpus.n_pairs, directed}.nodes() + corpus.n_features,
                              3};
            BatchLoss<graphs::GraphOf> loss(data, {}, cells);
            batch::check_gradient(loss, cells.size(), 0.3);
        }
    }
}

/// The second best labelling of the decoder, and differences of features that carry the scores.
inline void labellings_of_graphs_are_answers() {
    const graphs::Corpus corpus(3, false);
    const auto nodes = corpus.nodes.matrix();
    const auto pairs = corpus.pairs.matrix();
    const Graphs<std::int32_t, float> data{
        nodes, pairs, corpus.node_bounds, corpus.edge_bounds, corpus.ends, false, {}, corpus.y};
    const std::size_t n_rows = GraphLayout{3, corpus.n_pairs, false}.nodes() + corpus.n_features;
    Diagonal<double> weights({.n_features = n_rows, .n_columns = 3});
    using Decoder = OnlineGraph<double, std::int32_t, float>;
    const Method method{rules::AROW{1.0}, Projection::precision, {}};
    const Examples examples{};
    StructuredPass<double, Decoder> pass(weights, method, data, examples);
    for (int round = 0; round < 5; ++round) CHECK(!pass.run(0, data.size()).refused);
    Decoder decoder(weights, data);
    SparseDifference<double> g;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (decoder.empty(i)) continue;
        decoder.load(i, Means::present);
        const auto all = graphs::all(decoder.graph());
        Labelling best;
        decoder.best(best);
        Labelling other = best;
        CHECK(decoder.best_other(best, other) && other != best);
        CHECK_AT_MOST(std::fabs(decoder.score(other) - all[1].first), 1e-10);
        decoder.difference(best, other, g);
        const double gap = decoder.score(best) - decoder.score(other);
        CHECK_AT_MOST(std::fabs(g.moments(weights).m - gap), 1e-10);
    }
}

inline constexpr std::array graph_tests{
    Test{"forests equal enumeration", forests_equal_enumeration},
    Test{"messages settle in cycles", messages_settle_in_cycles},
    Test{"marginals of huge scores sum to one", marginals_of_huge_scores_sum_to_one},
    Test{"gradients of graphs", gradients_of_graphs},
    Test{"labellings of graphs are answers", labellings_of_graphs_are_answers},
};

}  // namespace surelearn::tests
