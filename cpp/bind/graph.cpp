// Graphs for Python: labellings of plain scores.
#include "surelearn/graph.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "surelearn/graph_search.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

using Ends = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A graph with the settings of its last solution.
struct Solver {
    Graph graph;
    GraphSearch search;
    Propagation how;
};

/// Whether every edge joins two nodes, and its table lies within the cells.
[[nodiscard]] bool fits(const Vector<std::int64_t>& sizes, const Ends& ends,
                        const Vector<std::int64_t>& table_of, std::size_t n_cells) {
    if (ends.shape(1) != 2 || table_of.shape(0) != ends.shape(0)) return false;
    const auto n = static_cast<std::int64_t>(sizes.shape(0));
    for (std::size_t e = 0; e < ends.shape(0); ++e) {
        const std::int32_t a = ends.data()[2 * e];
        const std::int32_t b = ends.data()[2 * e + 1];
        if (a < 0 || b < 0 || a >= n || b >= n || a == b) return false;
        const std::int64_t cells = sizes.data()[a] * sizes.data()[b];
        const std::int64_t first = table_of.data()[e];
        if (first < 0 || first + cells > static_cast<std::int64_t>(n_cells)) return false;
    }
    return std::ranges::all_of(view(sizes), [](std::int64_t size) { return size > 0; });
}

std::unique_ptr<Solver> solver_of(const Vector<std::int64_t>& sizes, const Vector<double>& unary,
                                  const Ends& ends, const Vector<double>& tables,
                                  const Vector<std::int64_t>& table_of) {
    if (!fits(sizes, ends, table_of, tables.shape(0))) {
        throw nb::value_error("edges do not fit the nodes");
    }
    auto solver = std::make_unique<Solver>();
    Graph& graph = solver->graph;
    graph.reset(view(sizes), {ends.data(), 2 * ends.shape(0)}, view(table_of), tables.shape(0));
    if (graph.unary().size() != unary.shape(0)) throw nb::value_error("unary does not fit");
    std::ranges::copy(view(unary), graph.unary().begin());
    std::ranges::copy(view(tables), graph.tables().begin());
    return solver;
}

std::tuple<bool, double, double> solve(Solver& self, const std::string& kind, double damping,
                                       double tol, std::size_t max_sweeps) {
    self.how = {damping, tol, max_sweeps, stop_if_interrupted};
    const nb::gil_scoped_release release;
    const Convergence found =
        self.graph.solve(kind == "max" ? Graph::Kind::max : Graph::Kind::sum, self.how);
    return {found.residual <= tol, found.residual, found.sweeps};
}

/// Of every label of every node: its probability after sums, its loss against the best after
/// maxima.
nb::ndarray<nb::numpy, double> beliefs(Solver& self, const std::string& kind) {
    Graph& graph = self.graph;
    NewArray<double> out({graph.unary().size()});
    const bool sums = kind == "sum";
    const nb::gil_scoped_release release;
    for (std::size_t v = 0; v < graph.n_nodes(); ++v) {
        const std::span<double> b(out.data.get() + graph.label_at(v), graph.size(v));
        if (sums) {
            graph.marginals(v, b);
            continue;
        }
        graph.belief(v, b);
        const double most = detail::largest(b);
        for (double& s : b) s = std::isfinite(most) ? s - most : s;
    }
    const nb::gil_scoped_acquire acquire;
    return out.give();
}

nb::ndarray<nb::numpy, double> pair_beliefs(Solver& self) {
    Graph& graph = self.graph;
    const Topology& topology = graph.topology();
    std::size_t n_cells = 0;
    for (std::size_t h = 0; h < topology.n_halves(); h += 2) {
        n_cells += graph.size(topology.source(h)) * graph.size(topology.target(h));
    }
    NewArray<double> out({n_cells});
    {
        const nb::gil_scoped_release release;
        double* to = out.data.get();
        for (std::size_t e = 0; e < graph.n_edges(); ++e) {
            to = std::ranges::copy(graph.pair_marginals(e), to).out;
        }
    }
    return out.give();
}

nb::ndarray<nb::numpy, std::int32_t> k_best(Solver& self, std::size_t k) {
    const auto found = [&] {
        const nb::gil_scoped_release release;
        return self.search.k_best(self.graph, self.how, k);
    }();
    NewArray<std::int32_t> out({found.size(), self.graph.n_nodes()});
    std::int32_t* to = out.data.get();
    for (const Labelling& labels : found) to = std::ranges::copy(labels, to).out;
    return out.give();
}

}  // namespace

void bind_graph(nb::module_& m) {
    nb::class_<Solver> graph(m, "Graph", "Labellings of a graph with unary and pairwise scores.");
    graph.def(nb::new_(&solver_of), nb::arg("sizes").noconvert(), nb::arg("unary").noconvert(),
              nb::arg("edges").noconvert(), nb::arg("tables").noconvert(),
              nb::arg("table_of").noconvert());
    graph.def_prop_ro("is_forest",
                      [](const Solver& self) { return self.graph.topology().is_forest(); });
    graph.def("solve", &solve, nb::arg("kind"), nb::arg("damping"), nb::arg("tol"),
              nb::arg("max_sweeps"),
              "Send messages, 'max' or 'sum': (converged, residual, number of sweeps).");
    graph.def("beliefs", &beliefs, nb::arg("kind"),
              "For every label of every node its probability ('sum'), or minus the loss of the "
              "best labelling with it ('max').");
    graph.def("pair_beliefs", &pair_beliefs, "Probability of the labels of every edge.");
    graph.def(
        "log_partition", [](Solver& self) { return self.graph.log_partition(); },
        nb::call_guard<nb::gil_scoped_release>());
    graph.def(
        "best",
        [](Solver& self) {
            Labelling labels;
            self.graph.best(labels);
            return give(std::move(labels));
        },
        "The best labelling, after solve('max').");
    graph.def("k_best", &k_best, nb::arg("k"), "The k best labellings, best first.");
}

}  // namespace surelearn::bind
