// The best labellings of a graph after the first, by the scores that remain with other labels.
// Knows scores only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/graph.hpp"

namespace surelearn {

/// A label of a node, and how much the best labelling with it loses.
struct NodeLabel {
    std::size_t node = 0;
    std::size_t label = 0;
    double loss = std::numeric_limits<double>::infinity();  ///< infinite: there is none
};

/// Searches a graph; exact in a forest. Keeps its memory between graphs.
class GraphSearch {
public:
    /// For labelling y, the best one after `solve` with maxima: the label of node v, other than
    /// y[v], that loses least.
    [[nodiscard]] NodeLabel next_label(Graph& graph, std::span<const std::int32_t> y,
                                       std::size_t v) {
        const std::size_t own = Graph::label(y, v);
        belief_.resize(graph.size(v));
        graph.belief(v, belief_);
        NodeLabel next{v};
        for (std::size_t j = 0; j < belief_.size(); ++j) {
            const double loss = belief_[own] - belief_[j];
            if (j != own && loss < next.loss) next = {v, j, loss};
        }
        return next;
    }

    /// The same over all nodes.
    [[nodiscard]] NodeLabel next_label(Graph& graph, std::span<const std::int32_t> y) {
        NodeLabel next;
        for (std::size_t v = 0; v < graph.n_nodes(); ++v) {
            const NodeLabel other = next_label(graph, y, v);
            if (other.loss < next.loss) next = other;
        }
        return next;
    }

    /// Makes `other`, a copy of the best labelling y, the best one with this label of a node;
    /// returns the nodes where the two differ. Other labels follow from node to neighbour, and end
    /// where a node keeps its label: beyond it nothing changes.
    [[nodiscard]] std::span<const std::size_t> follow(const Graph& graph, const NodeLabel& next,
                                                      std::span<const std::int32_t> y,
                                                      Labelling& other) {
        marks_.resize(graph.n_nodes(), Mark::none);
        changed_.assign(1, next.node);
        seen_.assign(1, next.node);
        marks_[next.node] = Mark::changed;
        other[next.node] = static_cast<std::int32_t>(next.label);
        for (std::size_t at = 0; at < changed_.size(); ++at) {
            for (const std::size_t h : graph.topology().out(changed_[at])) {
                visit(graph, graph.topology().target(h), y, other);
            }
        }
        for (const std::size_t v : seen_) marks_[v] = Mark::none;
        return changed_;
    }

    /// The k best labellings, or as many as there are, best first (Yanover & Weiss 2003): the space
    /// of labellings is split where the second best of a part differs from its best.
    [[nodiscard]] std::vector<Labelling> k_best(Graph& graph, const Propagation& how,
                                                std::size_t k) {
        const std::vector<double> unary(graph.unary().begin(), graph.unary().end());
        std::vector<Part> parts(1);
        solve(graph, unary, how, parts[0], true);
        while (parts.size() < k) {
            const auto most = std::ranges::max_element(
                parts, {}, [](const Part& part) { return part.score - part.next.loss; });
            if (!std::isfinite(most->next.loss)) break;
            Part other;
            other.banned = most->banned;
            fix(graph, other, most->next);
            most->banned.push_back(most->next);
            solve(graph, unary, how, other, true);
            solve(graph, unary, how, *most, false);
            parts.push_back(std::move(other));
        }
        std::ranges::copy(unary, graph.unary().begin());
        std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::score);
        std::vector<Labelling> found;
        for (Part& part : parts) {
            if (part.score > -std::numeric_limits<double>::infinity() || found.empty()) {
                found.push_back(std::move(part.labels));
            }
        }
        return found;
    }

private:
    enum class Mark : std::uint8_t { none, changed, kept };

    /// A part of all labellings: some labels are banned.
    struct Part {
        Labelling labels;  ///< its best
        std::vector<NodeLabel> banned;
        double score = 0.0;
        NodeLabel next;  ///< where the second best differs from the best
    };

    void visit(const Graph& graph, std::size_t v, std::span<const std::int32_t> y,
               Labelling& other) {
        if (marks_[v] != Mark::none) return;
        seen_.push_back(v);
        scores_.resize(graph.size(v));
        const auto given = [&](std::size_t w) { return marks_[w] == Mark::changed; };
        graph.conditional(v, other, given, scores_);
        other[v] = Graph::first_best(scores_);
        marks_[v] = other[v] == y[v] ? Mark::kept : Mark::changed;
        if (other[v] != y[v]) changed_.push_back(v);
    }

    /// Bans all other labels of a node.
    static void fix(const Graph& graph, Part& part, const NodeLabel& only) {
        for (std::size_t j = 0; j < graph.size(only.node); ++j) {
            if (j != only.label) part.banned.push_back({only.node, j});
        }
    }

    /// Finds the best labelling of a part if it is new, and where the second best differs.
    void solve(Graph& graph, const std::vector<double>& unary, const Propagation& how, Part& part,
               bool is_new) {
        std::ranges::copy(unary, graph.unary().begin());
        for (const NodeLabel& ban : part.banned) {
            graph.unary(ban.node)[ban.label] = -std::numeric_limits<double>::infinity();
        }
        graph.solve(Graph::Kind::max, how);
        if (is_new) {
            graph.best(part.labels);
            part.score = graph.score(part.labels);
        }
        part.next = next_label(graph, part.labels);
    }

    std::vector<double> belief_;
    std::vector<double> scores_;
    std::vector<Mark> marks_;
    std::vector<std::size_t> changed_;
    std::vector<std::size_t> seen_;
};

}  // namespace surelearn
