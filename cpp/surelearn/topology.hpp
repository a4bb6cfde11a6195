// Nodes and undirected edges, and an order to visit them in. Knows neither labels nor scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace surelearn {

/// Edge e joins the nodes ends[2 e] and ends[2 e + 1]. Half edge 2 e leads from the first to the
/// second, half edge 2 e + 1 back, so that `h ^ 1` is the way back of h.
class Topology {
public:
    /// Keeps its memory between graphs.
    void reset(std::size_t n_nodes, std::span<const std::int32_t> ends) {
        ends_.assign(ends.begin(), ends.end());
        first_.assign(n_nodes + 1, 0);
        for (const std::int32_t v : ends_) ++first_[static_cast<std::size_t>(v) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        out_.resize(ends_.size());
        next_.assign(first_.begin(), first_.end() - 1);
        for (std::size_t h = 0; h < ends_.size(); ++h) out_[next_[source(h)]++] = h;
        find_order();
    }

    [[nodiscard]] std::size_t n_nodes() const noexcept { return first_.size() - 1; }
    [[nodiscard]] std::size_t n_halves() const noexcept { return ends_.size(); }
    [[nodiscard]] std::size_t source(std::size_t h) const noexcept {
        return static_cast<std::size_t>(ends_[h]);
    }
    [[nodiscard]] std::size_t target(std::size_t h) const noexcept { return source(h ^ 1); }
    /// The half edges that leave node v.
    [[nodiscard]] std::span<const std::size_t> out(std::size_t v) const noexcept {
        return std::span(out_).subspan(first_[v], first_[v + 1] - first_[v]);
    }

    /// Whether there is no cycle.
    [[nodiscard]] bool is_forest() const noexcept { return is_forest_; }
    /// All nodes: in a forest parents before their children, else by number.
    [[nodiscard]] std::span<const std::size_t> order() const noexcept { return order_; }
    /// Whether node v comes before node w in the order.
    [[nodiscard]] bool before(std::size_t v, std::size_t w) const noexcept {
        return rank_[v] < rank_[w];
    }

private:
    void find_order() {
        const std::size_t n = n_nodes();
        constexpr auto unseen = static_cast<std::size_t>(-1);
        order_.clear();
        rank_.assign(n, unseen);
        std::size_t trees = 0;
        const auto see = [&](std::size_t v) {
            if (rank_[v] != unseen) return;
            rank_[v] = order_.size();
            order_.push_back(v);
        };
        for (std::size_t root = 0; root < n; ++root) {
            if (rank_[root] != unseen) continue;
            ++trees;
            see(root);
            for (std::size_t at = rank_[root]; at < order_.size(); ++at) {
                for (const std::size_t h : out(order_[at])) see(target(h));
            }
        }
        is_forest_ = ends_.size() / 2 + trees == n;
        if (is_forest_) return;
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::iota(rank_.begin(), rank_.end(), std::size_t{0});
    }

    std::vector<std::int32_t> ends_;
    std::vector<std::size_t> first_{0};  ///< of the half edges that leave each node
    std::vector<std::size_t> out_;
    std::vector<std::size_t> next_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> rank_;
    bool is_forest_ = true;
};

}  // namespace surelearn
