// Graphs: scores of labels and of pairs of labels. Knows neither messages nor weights.
//
//     score(y) = sum_v U_v[y_v] + sum_{edges (a, b)} A_ab[y_a, y_b]
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/topology.hpp"

namespace surelearn {

using Labelling = std::vector<std::int32_t>;

/// Nodes with any numbers of labels, and edges between them. Keeps its memory between graphs.
class GraphScores {
public:
    /// A graph of nodes with these numbers of labels. The table of edge e, [label of its first
    /// node, label of its second], begins at table_at[e] of `n_cells` numbers; edges may share one.
    /// Write the scores with `unary` and `tables`.
    void reset(std::span<const std::int64_t> sizes, std::span<const std::int32_t> ends,
               std::span<const std::int64_t> table_at, std::size_t n_cells) {
        topology_.reset(sizes.size(), ends);
        label_at_.assign(1, 0);
        for (const std::int64_t size : sizes) {
            label_at_.push_back(label_at_.back() + static_cast<std::size_t>(size));
        }
        table_at_.assign(table_at.begin(), table_at.end());
        unary_.assign(label_at_.back(), 0.0);
        tables_.assign(n_cells, 0.0);
    }

    [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
    [[nodiscard]] std::size_t n_nodes() const noexcept { return topology_.n_nodes(); }
    [[nodiscard]] std::size_t n_edges() const noexcept { return topology_.n_halves() / 2; }
    /// Number of labels of node v.
    [[nodiscard]] std::size_t size(std::size_t v) const noexcept {
        return label_at_[v + 1] - label_at_[v];
    }
    /// The place of the first label of node v among the labels of all nodes.
    [[nodiscard]] std::size_t label_at(std::size_t v) const noexcept { return label_at_[v]; }

    /// U_v.
    [[nodiscard]] std::span<double> unary(std::size_t v) noexcept {
        return std::span(unary_).subspan(label_at_[v], size(v));
    }
    [[nodiscard]] std::span<const double> unary(std::size_t v) const noexcept {
        return std::span(unary_).subspan(label_at_[v], size(v));
    }
    [[nodiscard]] std::span<double> tables() noexcept { return tables_; }
    /// Of all nodes, one after the other.
    [[nodiscard]] std::span<double> unary() noexcept { return unary_; }
    [[nodiscard]] std::span<const double> unary() const noexcept { return unary_; }
    /// The score of a half edge from label i to label j.
    [[nodiscard]] double pair(std::size_t h, std::size_t i, std::size_t j) const noexcept {
        const double* const table = tables_.data() + table_at_[h / 2];
        const std::size_t width = size(topology_.source(h | 1));  // labels of the second node
        return h % 2 == 0 ? table[i * width + j] : table[j * width + i];
    }

    /// Only label j of node v remains possible.
    void fix(std::size_t v, std::size_t j) noexcept {
        const auto u = unary(v);
        for (std::size_t i = 0; i < u.size(); ++i) {
            if (i != j) u[i] = -std::numeric_limits<double>::infinity();
        }
    }

    /// Multiplies all scores by c.
    void scale(double c) noexcept {
        for (double& s : unary_) s *= c;
        for (double& s : tables_) s *= c;
    }

    [[nodiscard]] double score(std::span<const std::int32_t> y) const noexcept {
        double sum = 0.0;
        for (std::size_t v = 0; v < n_nodes(); ++v) sum += unary(v)[label(y, v)];
        for (std::size_t h = 0; h < topology_.n_halves(); h += 2) {
            sum += pair(h, label(y, topology_.source(h)), label(y, topology_.target(h)));
        }
        return sum;
    }

    [[nodiscard]] static std::size_t label(std::span<const std::int32_t> y,
                                           std::size_t v) noexcept {
        return static_cast<std::size_t>(y[v]);
    }

protected:
    Topology topology_;
    std::vector<std::size_t> label_at_{0};
    std::vector<std::int64_t> table_at_;
    std::vector<double> unary_;
    std::vector<double> tables_;
};

}  // namespace surelearn
