// Graphs with features as structures: an answer is a labelling of the nodes.
//
// All weights are in one table with a column per label. Its first rows belong to the edges: for
// each edge feature p and label i of an edge's first node the row p K + i, whose column j is the
// weight of label j at the second node. Edge feature 0 has the value 1 in every edge. Without
// directions (i, j) and (j, i) share a weight. The features of nodes follow.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/graph.hpp"
#include "surelearn/graph_search.hpp"
#include "surelearn/label_costs.hpp"
#include "surelearn/mean_reader.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/structured.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// Graph i has the nodes [node_bounds[i], node_bounds[i + 1]) and the edges [edge_bounds[i], ...);
/// `ends` numbers the nodes of each graph from 0, two for each edge.
template <class Index, class Value>
struct Graphs {
    const Matrix<Index, Value>& nodes;
    const Matrix<Index, Value>& pairs;  ///< features of each edge, without the constant
    std::span<const std::int64_t> node_bounds;
    std::span<const std::int64_t> edge_bounds;
    std::span<const std::int32_t> ends;
    bool directed = true;
    Propagation how{};
    std::span<const std::int32_t> y{};  ///< label of each node; empty if unknown
    std::span<const double> cost{};     ///< in C order: [right, wrong] label; empty: 1 if wrong

    [[nodiscard]] std::size_t size() const noexcept { return node_bounds.size() - 1; }
    [[nodiscard]] const Matrix<Index, Value>& features() const noexcept { return nodes; }
    [[nodiscard]] RowRange nodes_of(std::size_t i) const noexcept {
        return between(node_bounds, i);
    }
    [[nodiscard]] RowRange edges_of(std::size_t i) const noexcept {
        return between(edge_bounds, i);
    }

private:
    static RowRange between(std::span<const std::int64_t> bounds, std::size_t i) noexcept {
        return {static_cast<std::size_t>(bounds[i]), static_cast<std::size_t>(bounds[i + 1])};
    }
};

/// The rows of the edges in the table.
struct GraphLayout {
    std::size_t n_labels;
    std::size_t n_pairs;  ///< without the constant one
    bool directed;

    [[nodiscard]] std::size_t row(std::size_t pair, std::size_t i) const noexcept {
        return pair * n_labels + i;
    }
    /// The cell of labels i and j: row and column.
    [[nodiscard]] std::pair<std::size_t, std::size_t> cell(std::size_t pair, std::size_t i,
                                                           std::size_t j) const noexcept {
        if (!directed && i > j) std::swap(i, j);
        return {row(pair, i), j};
    }
    /// Number of rows before the first feature of nodes.
    [[nodiscard]] std::size_t nodes() const noexcept { return row(n_pairs + 1, 0); }
};

/// `Reader` gives the scores of rows, from diagonal weights or from the vector of a batch loss.
template <class Reader, class Index, class Value>
class GraphDecoder {
public:
    using Data = Graphs<Index, Value>;
    using Answer = Labelling;
    using Truth = std::span<const std::int32_t>;
    using T = typename Reader::Number;
    static constexpr bool graded = false;

    template <class W>
        requires std::constructible_from<Reader, const W&>
    GraphDecoder(const W& weights, const Data& graphs)
        : reader_(weights),
          graphs_(graphs),
          layout_{reader_.n_columns(), graphs.pairs.n_features(), graphs.directed} {}

    [[nodiscard]] bool empty(std::size_t i) const noexcept {
        return graphs_.nodes_of(i).size() == 0;
    }
    [[nodiscard]] Truth truth(std::size_t i) const noexcept {
        return graphs_.y.subspan(graphs_.nodes_of(i).begin, graphs_.nodes_of(i).size());
    }

    void load(std::size_t i, Means means) {
        reader_.use(means);
        load(i);
    }
    void load(std::size_t i) {
        nodes_ = graphs_.nodes_of(i);
        edges_ = graphs_.edges_of(i);
        lay_out();
        for (std::size_t v = 0; v < nodes_.size(); ++v) {
            const std::size_t r = nodes_.begin + v;
            const std::size_t ahead = v + 1 < nodes_.size() ? r + 1 : r;
            reader_.sum(graphs_.nodes, {r, ahead, layout_.nodes()}, graph_.unary(v));
        }
        const std::size_t K = layout_.n_labels;
        const std::size_t tables = graph_.tables().size() / (K * K);
        for (std::size_t e = 0; e < tables; ++e) {
            const auto table = graph_.tables().subspan(e * K * K, K * K);
            each_pair(e, [&](std::size_t pair, double x) { add_table(pair, x, table); });
        }
    }
    [[nodiscard]] Graph& graph() noexcept { return graph_; }
    /// Nodes whose label is known, not -1, keep it.
    void fix(std::span<const std::int32_t> labels) noexcept {
        for (std::size_t v = 0; v < labels.size(); ++v) {
            if (labels[v] >= 0) graph_.fix(v, Graph::label(labels, v));
        }
    }

    [[nodiscard]] bool finite() const noexcept {
        return std::ranges::all_of(graph_.unary(), [](double s) { return std::isfinite(s); });
    }
    void best(Labelling& answer) {
        residual_ = graph_.solve(Graph::Kind::max, graphs_.how).residual;
        graph_.best(answer);
    }
    [[nodiscard]] bool same(Truth y, const Labelling& answer) const noexcept {
        return std::ranges::equal(y, answer);
    }
    /// The best labelling may be y: then the second best differs at the node that loses least.
    [[nodiscard]] bool best_other(Truth y, Labelling& answer) {
        if (!same(y, answer)) return true;
        const NodeLabel next = search_.next_label(graph_, y);
        if (!std::isfinite(next.loss)) return false;
        (void)search_.follow(graph_, next, y, answer);
        return true;
    }
    [[nodiscard]] std::vector<Labelling> k_best(std::size_t k) {
        return search_.k_best(graph_, graphs_.how, k);
    }

    void augment_loss(Truth y) noexcept {
        const LabelCosts cost{graphs_.cost, layout_.n_labels};
        for (std::size_t v = 0; v < y.size(); ++v) cost.add(y[v], graph_.unary(v));
    }
    [[nodiscard]] double distance(Truth y, const Labelling& answer) const noexcept {
        return LabelCosts{graphs_.cost, layout_.n_labels}.between(y, answer);
    }
    void difference(Truth y, const Labelling& answer, SparseDifference<T>& g) const {
        differing_.clear();
        for (std::size_t v = 0; v < y.size(); ++v) {
            if (y[v] != answer[v]) differing_.push_back(v);
        }
        difference(y, answer, differing_, g);
    }
    /// The same for labellings that differ at these nodes only.
    void difference(Truth y, const Labelling& answer, std::span<const std::size_t> differing,
                    SparseDifference<T>& g) const {
        g.clear();
        const Topology& topology = graph_.topology();
        for (const std::size_t v : differing) {
            const auto row = graphs_.nodes.stored(nodes_.begin + v);
            for (std::size_t p = 0; p < row.size(); ++p) {
                const std::size_t feature = layout_.nodes() + row.feature(p);
                g.add(feature, Graph::label(y, v), row.x(p));
                g.add(feature, Graph::label(answer, v), -row.x(p));
            }
            for (const std::size_t h : topology.out(v)) {
                const std::size_t w = topology.target(h);
                if (y[w] != answer[w] && w < v) continue;  // taken with the other node
                each_pair(h / 2, [&](std::size_t pair, double x) {
                    add_pair(pair, h, y, x, g);
                    add_pair(pair, h, answer, -x, g);
                });
            }
        }
        g.settle();
    }

    /// The largest change of a message that was left by the last solution.
    [[nodiscard]] double residual() const noexcept { return residual_; }

    [[nodiscard]] double score(Truth y) const noexcept { return graph_.score(y); }
    [[nodiscard]] double log_partition() {
        residual_ = graph_.solve(Graph::Kind::sum, graphs_.how).residual;
        return graph_.log_partition();
    }
    /// [node, label].
    void marginals(std::span<double> p) {
        residual_ = graph_.solve(Graph::Kind::sum, graphs_.how).residual;
        for (std::size_t v = 0; v < nodes_.size(); ++v) {
            graph_.marginals(v, p.subspan(v * layout_.n_labels, layout_.n_labels));
        }
    }

    // -------------------------------------------------------------- batch losses

    [[nodiscard]] RowRange own_rows() const noexcept { return {0, layout_.nodes()}; }
    [[nodiscard]] std::size_t first_feature() const noexcept { return layout_.nodes(); }
    [[nodiscard]] RowRange rows(std::size_t i) const noexcept { return graphs_.nodes_of(i); }
    void changed() noexcept {}
    [[nodiscard]] Reader& reader() noexcept { return reader_; }

    /// parts += c times the parts of a labelling.
    void add_answer(double c, Truth y, const Parts& parts) const {
        const std::size_t K = layout_.n_labels;
        for (std::size_t v = 0; v < y.size(); ++v) parts.rows[v * K + Graph::label(y, v)] += c;
        const Topology& topology = graph_.topology();
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            const std::size_t i = Graph::label(y, topology.source(2 * e));
            const std::size_t j = Graph::label(y, topology.target(2 * e));
            each_pair(e, [&](std::size_t pair, double x) {
                const auto [row, column] = layout_.cell(pair, i, j);
                parts.own[row * K + column] += c * x;
            });
        }
    }

    /// parts += c times their expectation, for Pr[y] proportional to exp(score(y)); log Z. With
    /// cycles both are Bethe's approximation, of which the one is the gradient of the other.
    double add_expectation(double c, const Parts& parts) {
        const double log_z = log_partition();
        add_probabilities([c](double p, double x) { return c * p * x; }, parts);
        return log_z;
    }

    /// parts += c times their variances, as if nodes and edges were independent of each other.
    void add_variance(double c, const Parts& parts) {
        residual_ = graph_.solve(Graph::Kind::sum, graphs_.how).residual;
        const auto variance = [c](double p, double x) {
            return c * p * std::max(0.0, 1.0 - p) * x * x;
        };
        add_probabilities(variance, parts);
    }

private:
    /// The shape of the loaded graph. Without edge features all edges share a table.
    void lay_out() {
        const std::size_t K = layout_.n_labels;
        const std::size_t n = edges_.size();
        const bool shared = layout_.n_pairs == 0;
        sizes_.assign(nodes_.size(), static_cast<std::int64_t>(K));
        table_at_.resize(n);
        for (std::size_t e = 0; e < n; ++e) {
            table_at_[e] = shared ? 0 : static_cast<std::int64_t>(e * K * K);
        }
        const std::size_t tables = shared ? std::min<std::size_t>(n, 1) : n;
        graph_.reset(sizes_, graphs_.ends.subspan(2 * edges_.begin, 2 * n), table_at_,
                     tables * K * K);
    }

    /// f(edge feature, value); the constant feature comes first.
    template <class F>
    void each_pair(std::size_t e, const F& f) const {
        f(std::size_t{0}, 1.0);
        if (layout_.n_pairs == 0) return;
        const auto row = graphs_.pairs.stored(edges_.begin + e);
        for (std::size_t p = 0; p < row.size(); ++p) f(row.feature(p) + 1, row.x(p));
    }

    /// table += x times the weights of an edge feature.
    void add_table(std::size_t pair, double x, std::span<double> table) {
        const std::size_t K = layout_.n_labels;
        for (std::size_t i = 0; i < K; ++i) {
            if (layout_.directed) {
                reader_.add(layout_.row(pair, i), x, table.subspan(i * K, K));
                continue;
            }
            weights_.assign(K, 0.0);
            reader_.add(layout_.row(pair, i), x, weights_);
            for (std::size_t j = i; j < K; ++j) {
                table[i * K + j] += weights_[j];
                if (j != i) table[j * K + i] += weights_[j];
            }
        }
    }

    void add_pair(std::size_t pair, std::size_t h, Truth y, double x,
                  SparseDifference<T>& g) const {
        const std::size_t e = h - h % 2;
        const Topology& topology = graph_.topology();
        const auto [row, column] = layout_.cell(pair, Graph::label(y, topology.source(e)),
                                                Graph::label(y, topology.target(e)));
        g.add(row, column, x);
    }

    /// Adds value(probability, feature value) of every part, after sums.
    template <class F>
    void add_probabilities(const F& value, const Parts& parts) {
        const std::size_t K = layout_.n_labels;
        weights_.resize(K);
        for (std::size_t v = 0; v < nodes_.size(); ++v) {
            graph_.marginals(v, weights_);
            for (std::size_t j = 0; j < K; ++j) parts.rows[v * K + j] += value(weights_[j], 1.0);
        }
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            const auto p = graph_.pair_marginals(e);
            each_pair(e, [&](std::size_t pair, double x) {
                each_cell(p, [&](std::size_t i, std::size_t j, double q) {
                    parts.own[layout_.row(pair, i) * K + j] += value(q, x);
                });
            });
        }
    }

    /// f(i, j, probability) for every cell of an edge's weights.
    template <class F>
    void each_cell(std::span<const double> p, const F& f) const {
        const std::size_t K = layout_.n_labels;
        for (std::size_t i = 0; i < K; ++i) {
            for (std::size_t j = layout_.directed ? 0 : i; j < K; ++j) {
                const bool tied = !layout_.directed && i != j;
                f(i, j, p[i * K + j] + (tied ? p[j * K + i] : 0.0));
            }
        }
    }

    Reader reader_;
    const Data& graphs_;
    GraphLayout layout_;
    RowRange nodes_;
    RowRange edges_;
    Graph graph_;
    GraphSearch search_;
    double residual_ = 0.0;
    std::vector<std::int64_t> sizes_;
    std::vector<std::int64_t> table_at_;
    std::vector<double> weights_;
    mutable std::vector<std::size_t> differing_;
};

template <class T, class Index, class Value>
using OnlineGraph = GraphDecoder<MeanReader<T>, Index, Value>;

static_assert(Decoder<OnlineGraph<float, std::int32_t, float>, float>);

/// Labels of graphs by the largest mean score.
template <class T, class Index, class Value>
class GraphLabeller {
public:
    GraphLabeller(const Diagonal<T>& weights, const Graphs<Index, Value>& graphs)
        : weights_(weights), decoder_(weights, graphs) {}

    /// The scores of a graph by the means that predictions use, with some labels known.
    [[nodiscard]] OnlineGraph<T, Index, Value>& load(std::size_t i,
                                                     std::span<const std::int32_t> fixed) {
        decoder_.load(i, Means::predicting);
        decoder_.fix(fixed);
        return decoder_;
    }

    /// The labels of the graph loaded last; the residual of the messages.
    double label(std::span<std::int32_t> out) {
        decoder_.best(labels_);
        std::ranges::copy(labels_, out.begin());
        return decoder_.residual();
    }

    /// Also the lead of each label over the best labelling without it: mean and variance of
    /// g = Psi(x, best) - Psi(x, that labelling).
    double label(std::span<std::int32_t> out, std::span<Moments> lead) {
        const double residual = label(out);
        other_ = labels_;
        for (std::size_t v = 0; v < out.size(); ++v) {
            lead[v] = {std::numeric_limits<double>::infinity(), 0.0};
            const NodeLabel next = search_.next_label(decoder_.graph(), out, v);
            if (!std::isfinite(next.loss)) continue;
            const auto changed = search_.follow(decoder_.graph(), next, out, other_);
            decoder_.difference(out, other_, changed, g_);
            lead[v] = g_.averaged_moments(weights_);
            for (const std::size_t w : changed) other_[w] = out[w];
        }
        return residual;
    }

private:
    const Diagonal<T>& weights_;
    OnlineGraph<T, Index, Value> decoder_;
    GraphSearch search_;
    Labelling labels_;
    Labelling other_;
    SparseDifference<T> g_;
};

}  // namespace surelearn
