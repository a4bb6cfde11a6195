// Batch losses of graphs for Python. No arithmetic.
#include "batch.hpp"
#include "graphs.hpp"

namespace surelearn::bind {

namespace {

struct GraphExamples {
    using Data = Graphs<std::int32_t, float>;
    template <class Reader>
    using Decoder = GraphDecoder<Reader, std::int32_t, float>;
    static constexpr bool free_own = false;

    std::vector<std::int32_t> y;
    std::size_t n_columns;
    std::size_t n_labels;
    Data data;

    /// The graphs must outlive this.
    GraphExamples(const GraphArrays& graphs, const Vector<std::int32_t>& y_, std::size_t n_labels_)
        : y(copied(y_)), n_columns(n_labels_), n_labels(n_labels_), data(graphs.graphs()) {
        (void)labels_of(y_, data.nodes.size(), n_labels);
        data.y = y;
    }
    GraphExamples(const GraphExamples&) = delete;
    GraphExamples& operator=(const GraphExamples&) = delete;

    [[nodiscard]] std::size_t table_rows() const {
        return GraphLayout{n_labels, data.pairs.n_features(), data.directed}.nodes() +
               data.nodes.n_features();
    }
};

using GraphLoss = AnyLoss<GraphExamples>;
using GraphFrankWolfe =
    AnyFrankWolfe<GraphExamples, FrankWolfe<OnlineGraph<double, std::int32_t, float>>>;

}  // namespace

void bind_graph_batch(nb::module_& m) {
    nb::class_<GraphLoss> loss(m, "GraphLoss",
                               "Batch losses of graphs; w is row-major by feature.");
    loss.def(
        "__init__",
        [](GraphLoss* self, const GraphArrays& graphs, const Vector<std::int32_t>& y,
           const std::optional<Vector<double>>& weight, std::size_t n_labels) {
            new (self) GraphLoss(weight, std::nullopt, std::nullopt, graphs, y, n_labels);
        },
        nb::arg("graphs"), nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("n_labels"), nb::keep_alive<1, 2>());
    bind_loss(loss);

    nb::class_<GraphFrankWolfe> solver(m, "GraphFrankWolfe", "Structured SVM of graphs.");
    solver.def(
        "__init__",
        [](GraphFrankWolfe* self, const GraphArrays& graphs, const Vector<std::int32_t>& y,
           const Vector<double>& bound, const std::optional<Costs>& cost,
           Model<Diagonal<double>>& weights) {
            new (self) GraphFrankWolfe(weights, bound, cost, graphs, y, weights.shape().n_columns);
        },
        nb::arg("graphs"), nb::arg("y").noconvert(), nb::arg("bound").noconvert(),
        nb::arg("cost").noconvert().none(), nb::arg("weights"), nb::keep_alive<1, 2>(),
        nb::keep_alive<1, 6>());
    bind_frank_wolfe(solver);
}

}  // namespace surelearn::bind
