// Graphs from Python's arrays, checked; shared by the passes and the batch losses.
#pragma once

#include <vector>

#include "sequences.hpp"
#include "surelearn/graph_learning.hpp"
#include "weights.hpp"

namespace surelearn::bind {

/// Graphs of Python's: the matrices must outlive this, the other arrays are copied.
struct GraphArrays {
    const Tokens* nodes;
    const Tokens* pairs;
    std::vector<std::int64_t> node_bounds;
    std::vector<std::int64_t> edge_bounds;
    std::vector<std::int32_t> ends;
    bool directed;
    Propagation how;

    using Ends = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

    GraphArrays(const Rows& nodes_, const Rows& pairs_, const Vector<std::int64_t>& node_bounds_,
                const Vector<std::int64_t>& edge_bounds_, const Ends& ends_, bool directed_,
                const Propagation& how_)
        : nodes(&tokens_of(nodes_)),
          pairs(&tokens_of(pairs_)),
          node_bounds(copied(node_bounds_)),
          edge_bounds(copied(edge_bounds_)),
          ends(copied(ends_)),
          directed(directed_),
          how(how_) {
        if (!fits()) throw nb::value_error("edges do not fit the nodes");
    }

    [[nodiscard]] std::size_t size() const { return node_bounds.size() - 1; }

    [[nodiscard]] Graphs<std::int32_t, float> graphs() const {
        return {*nodes, *pairs, node_bounds, edge_bounds, ends, directed, how};
    }

private:
    /// Bounds may be those of some of the graphs; each edge joins two nodes of its graph.
    [[nodiscard]] bool fits() const {
        const auto within = [](const std::vector<std::int64_t>& bounds, std::size_t n) {
            return !bounds.empty() && bounds.front() >= 0 && std::ranges::is_sorted(bounds) &&
                   bounds.back() <= static_cast<std::int64_t>(n);
        };
        if (!within(node_bounds, nodes->size()) || !within(edge_bounds, pairs->size()) ||
            node_bounds.size() != edge_bounds.size() || ends.size() != 2 * pairs->size()) {
            return false;
        }
        const auto all = graphs();
        for (std::size_t i = 0; i < size(); ++i) {
            const auto n = static_cast<std::int32_t>(all.nodes_of(i).size());
            const RowRange edges = all.edges_of(i);
            for (std::size_t e = edges.begin; e < edges.end; ++e) {
                const std::int32_t a = ends[2 * e];
                const std::int32_t b = ends[2 * e + 1];
                if (a < 0 || b < 0 || a >= n || b >= n || a == b) return false;
            }
        }
        return true;
    }
};

}  // namespace surelearn::bind
