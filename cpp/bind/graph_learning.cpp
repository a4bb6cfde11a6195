// Passes over graphs with diagonal weights for Python, and what they predict.
#include "surelearn/graph_learning.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "graphs.hpp"
#include "structures.hpp"
#include "surelearn/parallel_for.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

template <class T>
using Labeller = GraphLabeller<T, std::int32_t, float>;

/// Graphs whose features are in the weights.
template <class T>
void check_fits(const Model<Diagonal<T>>& model, const GraphArrays& graphs) {
    const GraphLayout layout{model.shape().n_columns, graphs.pairs->n_features(), graphs.directed};
    if (!model.weights.order().is_sorted()) throw nb::value_error("labels must lie in order");
    if (layout.nodes() + graphs.nodes->n_features() > model.shape().n_features) {
        throw nb::value_error("graphs do not fit the weights");
    }
}

template <class T>
bool learn_graphs(Model<Diagonal<T>>& model, const AnyRule& rule, const Scheme& scheme,
                  bool covariance, const GraphArrays& arrays, const Vector<std::int32_t>& y,
                  const std::optional<Vector<double>>& weight,
                  const std::optional<Vector<std::int64_t>>& order, std::size_t begin,
                  std::size_t end, const Writable<std::uint64_t>& done) {
    check_fits(model, arrays);
    auto graphs = arrays.graphs();
    graphs.y = labels_of(y, graphs.nodes.size(), model.shape().n_columns);
    const Method method = method_of(rule, scheme, covariance);
    const Examples examples{view(weight), view(order)};
    StructuredPass<T, OnlineGraph<T, std::int32_t, float>> pass(model.weights, method, graphs,
                                                                examples);
    // Some thousand nodes: a large grid takes as long as hundreds of trees.
    const std::size_t block =
        std::clamp<std::size_t>(4096 * graphs.size() / (1 + graphs.nodes.size()), 1, 256);
    return learn_structures(model, pass, {begin, end}, done, block);
}

/// f(labeller, graph, fixed labels of its nodes) for all graphs, in so many threads.
template <class T, class F>
void each_graph(Model<Diagonal<T>>& model, const GraphArrays& arrays,
                const Vector<std::int32_t>& fixed, std::size_t threads, const F& f) {
    check_fits(model, arrays);
    const auto graphs = arrays.graphs();
    const auto n = static_cast<std::int32_t>(model.shape().n_columns);
    const bool inside = std::ranges::all_of(view(fixed), [&](std::int32_t k) { return k < n; });
    if (fixed.shape(0) != graphs.nodes.size() || !inside) {
        throw nb::value_error("fixed labels do not fit the nodes");
    }
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    parallel_for(graphs.size(), threads, [&](std::size_t begin, std::size_t end) {
        Labeller<T> labeller(model.weights, graphs);
        for (std::size_t i = begin; i < end; ++i) {
            const RowRange nodes = graphs.nodes_of(i);
            f(labeller.load(i, view(fixed).subspan(nodes.begin, nodes.size())), labeller, i, nodes);
        }
    });
}

template <class T>
auto graph_labels(Model<Diagonal<T>>& model, const GraphArrays& arrays,
                  const Vector<std::int32_t>& fixed, std::size_t threads) {
    NewArray<std::int32_t> labels({arrays.nodes->size()});
    NewArray<double> residual({arrays.size()});
    each_graph(model, arrays, fixed, threads,
               [&](auto&, auto& labeller, std::size_t i, const RowRange& nodes) {
                   residual.data[i] =
                       labeller.label({labels.data.get() + nodes.begin, nodes.size()});
               });
    return std::tuple{labels.give(), residual.give()};
}

template <class T>
auto graph_leads(Model<Diagonal<T>>& model, const GraphArrays& arrays,
                 const Vector<std::int32_t>& fixed, std::size_t threads) {
    const std::size_t n = arrays.nodes->size();
    NewArray<std::int32_t> labels({n});
    NewArray<double> mean({n}), variance({n});
    NewArray<double> residual({arrays.size()});
    each_graph(model, arrays, fixed, threads,
               [&](auto&, auto& labeller, std::size_t i, const RowRange& nodes) {
                   std::vector<Moments> lead(nodes.size());
                   residual.data[i] =
                       labeller.label({labels.data.get() + nodes.begin, nodes.size()}, lead);
                   for (std::size_t v = 0; v < lead.size(); ++v) {
                       mean.data[nodes.begin + v] = lead[v].m;
                       variance.data[nodes.begin + v] = lead[v].v;
                   }
               });
    return std::tuple{labels.give(), mean.give(), variance.give(), residual.give()};
}

template <class T>
auto graph_marginals(Model<Diagonal<T>>& model, const GraphArrays& arrays,
                     const Vector<std::int32_t>& fixed, double temperature, std::size_t threads) {
    const std::size_t K = model.shape().n_columns;
    NewArray<double> p({arrays.nodes->size(), K});
    NewArray<double> residual({arrays.size()});
    each_graph(model, arrays, fixed, threads,
               [&](auto& decoder, auto&, std::size_t i, const RowRange& nodes) {
                   decoder.graph().scale(1.0 / temperature);
                   decoder.marginals(std::span(p.data.get() + nodes.begin * K, nodes.size() * K));
                   residual.data[i] = decoder.residual();
               });
    return std::tuple{p.give(), residual.give()};
}

/// The scores of one graph: of nodes (n, K), and of edges (m, K, K).
template <class T>
auto graph_scores(Model<Diagonal<T>>& model, const GraphArrays& arrays) {
    check_fits(model, arrays);
    const auto graphs = arrays.graphs();
    if (graphs.size() != 1) throw nb::value_error("one graph expected");
    const std::size_t K = model.shape().n_columns;
    const std::size_t n = graphs.nodes_of(0).size();
    const std::size_t m = graphs.edges_of(0).size();
    NewArray<double> unary({n, K}), tables({m, K, K});
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        Labeller<T> labeller(model.weights, graphs);
        const Graph& graph = labeller.load(0, {}).graph();
        std::ranges::copy(graph.unary(), unary.data.get());
        for (std::size_t c = 0; c < m * K * K; ++c) {
            tables.data[c] = graph.pair(2 * (c / (K * K)), c / K % K, c % K);
        }
    }
    return std::pair{unary.give(), tables.give()};
}

template <class T>
void bind_kind(nb::module_& m) {
    m.def("learn_graphs", &learn_graphs<T>, nb::arg("weights"), nb::arg("rule"), nb::arg("scheme"),
          nb::arg("covariance"), nb::arg("graphs"), nb::arg("y").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("order").noconvert().none(),
          nb::arg("begin"), nb::arg("end"), nb::arg("done").noconvert(),
          "Learn graphs [begin, end), counting (graphs, mistakes, updates); was one refused?");
    m.def("graph_labels", &graph_labels<T>, nb::arg("weights"), nb::arg("graphs"),
          nb::arg("fixed").noconvert(), nb::arg("threads"),
          "The best label of every node, and the residual of every graph.");
    m.def("graph_leads", &graph_leads<T>, nb::arg("weights"), nb::arg("graphs"),
          nb::arg("fixed").noconvert(), nb::arg("threads"),
          "Labels, mean and variance of their lead over the best labelling without them, and the "
          "residual of every graph.");
    m.def("graph_marginals", &graph_marginals<T>, nb::arg("weights"), nb::arg("graphs"),
          nb::arg("fixed").noconvert(), nb::arg("temperature"), nb::arg("threads"),
          "Probability of every label of every node, and the residual of every graph.");
    m.def("graph_scores", &graph_scores<T>, nb::arg("weights"), nb::arg("graphs"),
          "Scores of the nodes and of the edges of one graph.");
}

}  // namespace

void bind_graph_learning(nb::module_& m) {
    nb::class_<GraphArrays> graphs(m, "GraphArrays", "Graphs with features of nodes and edges.");
    graphs.def(
        "__init__",
        [](GraphArrays* self, const Rows& nodes, const Rows& pairs,
           const Vector<std::int64_t>& node_bounds, const Vector<std::int64_t>& edge_bounds,
           const GraphArrays::Ends& ends, bool directed, double damping, double tol,
           std::size_t max_sweeps) {
            new (self) GraphArrays(nodes, pairs, node_bounds, edge_bounds, ends, directed,
                                   {damping, tol, max_sweeps});
        },
        nb::arg("nodes"), nb::arg("pairs"), nb::arg("node_bounds").noconvert(),
        nb::arg("edge_bounds").noconvert(), nb::arg("ends").noconvert(), nb::kw_only(),
        nb::arg("directed"), nb::arg("damping"), nb::arg("tol"), nb::arg("max_sweeps"),
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    graphs.def("__len__", &GraphArrays::size);
    bind_kind<float>(m);
    bind_kind<double>(m);
}

}  // namespace surelearn::bind
