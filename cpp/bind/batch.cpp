// Batch losses for Python: value, gradient and curvature, stochastic steps and Frank-Wolfe, of rows
// and of sequences. No arithmetic.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>
#include <utility>

#include "sequences.hpp"
#include "surelearn/classes.hpp"
#include "surelearn/descent.hpp"
#include "surelearn/frank_wolfe.hpp"
#include "surelearn/likelihood.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

using Costs = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const Vector<T>& array) {
    const auto all = bind::view(array);
    return {all.begin(), all.end()};
}

std::vector<double> weights_of(const std::optional<Vector<double>>& weight, std::size_t n) {
    if (!weight) return {};
    if (weight->shape(0) != n) throw nb::value_error("weight does not fit the examples");
    return copied(*weight);
}

std::span<const double> costs_of(const std::optional<Costs>& cost, std::size_t n_labels) {
    if (!cost) return {};
    if (cost->shape(0) != n_labels || cost->shape(1) != n_labels) {
        throw nb::value_error("cost does not fit the labels");
    }
    return {cost->data(), cost->size()};
}

/// Compressed rows of our own: any kind of matrix, in the one form that batch losses read.
struct OwnRows {
    std::vector<std::int32_t> start{0};
    std::vector<std::int32_t> index;
    std::vector<double> value;
    std::size_t n_features = 0;

    explicit OwnRows(const Rows& rows) {
        std::visit([&](const auto& matrix) { read(matrix); }, rows.matrix);
    }
    [[nodiscard]] Matrix<std::int32_t, double> matrix() const {
        return {start, index, value, n_features};
    }

private:
    template <class Index, class Value>
    void read(const Matrix<Index, Value>& matrix) {
        RowBuffer<Index, Value> buffer;
        n_features = matrix.n_features();
        start.reserve(matrix.size() + 1);
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            const auto row = matrix.row(i, buffer);
            for (std::size_t p = 0; p < row.size(); ++p) {
                index.push_back(static_cast<std::int32_t>(row.feature(p)));
                value.push_back(row.x(p));
            }
            constexpr auto most = std::numeric_limits<std::int32_t>::max();
            if (index.size() > static_cast<std::size_t>(most)) {
                throw nb::value_error("X must have fewer than 2**31 non-zeros");
            }
            start.push_back(static_cast<std::int32_t>(index.size()));
        }
    }
};

/// What both kinds of examples keep for a batch loss.
struct RowExamples {
    using Data = LabelledRows<std::int32_t, double>;
    template <class Reader>
    using Decoder = ClassDecoder<Reader, std::int32_t, double>;
    static constexpr bool free_own = true;  ///< the intercept is not penalised

    OwnRows rows;
    Matrix<std::int32_t, double> matrix;
    std::vector<std::int32_t> y;
    std::size_t n_columns;
    std::size_t n_labels;
    Data data;

    RowExamples(const Rows& rows_, const Vector<std::int32_t>& y_, std::size_t n_columns_,
                bool intercept)
        : rows(rows_),
          matrix(rows.matrix()),
          y(copied(y_)),
          n_columns(n_columns_),
          n_labels(std::max<std::size_t>(2, n_columns_)),
          data{matrix, y, intercept} {
        (void)labels_of(y_, matrix.size(), n_labels);
    }
    RowExamples(const RowExamples&) = delete;
    RowExamples& operator=(const RowExamples&) = delete;

    [[nodiscard]] std::size_t table_rows() const {
        return matrix.n_features() + (data.intercept ? 1 : 0);
    }
};

struct SequenceExamples {
    using Data = Sequences<std::int32_t, float>;
    template <class Reader>
    using Decoder = ChainDecoder<Reader, std::int32_t, float>;
    static constexpr bool free_own = false;

    std::vector<std::int64_t> bounds;
    std::vector<std::int32_t> y;
    std::size_t n_columns;
    std::size_t n_labels;
    Data data;

    /// The token and pair rows must outlive this.
    SequenceExamples(const Rows& tokens, const Rows& pairs, const Vector<std::int64_t>& bounds_,
                     const Vector<std::int32_t>& y_, std::size_t n_labels_)
        : bounds(copied(bounds_)),
          y(copied(y_)),
          n_columns(n_labels_),
          n_labels(n_labels_),
          data(sequences_of(tokens, pairs, bounds_)) {
        (void)labels_of(y_, data.tokens.size(), n_labels);
        data.bounds = bounds;
        data.y = y;
    }
    SequenceExamples(const SequenceExamples&) = delete;
    SequenceExamples& operator=(const SequenceExamples&) = delete;

    [[nodiscard]] std::size_t table_rows() const {
        return ChainLayout{n_labels, data.pairs.n_features()}.tokens() + data.tokens.n_features();
    }
};

/// The loss of examples, and the memory that it needs from one evaluation to the next.
template <class E>
class AnyLoss {
public:
    template <class... Args>
    AnyLoss(const std::optional<Vector<double>>& weight,
            const std::optional<Vector<std::int64_t>>& offsets,
            const std::optional<Vector<std::int32_t>>& labels, Args&&... args)
        : examples_(std::forward<Args>(args)...),
          weight_(weights_of(weight, examples_.data.size())) {
        if (offsets && labels) {
            offsets_ = copied(*offsets);
            labels_ = copied(*labels);
            check_cells();
        }
        cells_ = {examples_.table_rows(), examples_.n_columns, offsets_, labels_};
        loss_.emplace(examples_.data, weight_, cells_);
    }

    [[nodiscard]] std::size_t n_weights() const { return cells_.size(); }

    double log_loss(const Vector<double>& w, const Writable<double>& gradient,
                    std::size_t threads) {
        check_size(w.shape(0));
        check_size(gradient.shape(0));
        const nb::gil_scoped_release release;
        return loss_->log_loss(bind::view(w), {gradient.data(), gradient.shape(0)}, threads);
    }

    void curvature(const Vector<double>& w, const Writable<double>& out, std::size_t threads) {
        check_size(w.shape(0));
        check_size(out.shape(0));
        const nb::gil_scoped_release release;
        loss_->curvature(bind::view(w), {out.data(), out.shape(0)}, threads);
    }

    double hinge_loss(const Vector<double>& w, const std::optional<Costs>& cost,
                      std::size_t threads) {
        check_size(w.shape(0));
        examples_.data.cost = costs_of(cost, examples_.n_labels);
        const nb::gil_scoped_release release;
        return loss_->hinge_loss(bind::view(w), threads);
    }

    void descend(const std::string& kind, const std::optional<Costs>& cost,
                 const Writable<double>& w, const Writable<double>& average,
                 const Writable<double>& state, const Vector<std::int64_t>& order, double l2) {
        check_size(w.shape(0));
        check_size(average.shape(0));
        if (state.shape(0) != 2) throw nb::value_error("state must be (t, first step size)");
        examples_.data.cost = costs_of(cost, examples_.n_labels);
        const Loss loss = kind == "log" ? Loss::log : Loss::hinge;
        const nb::gil_scoped_release release;
        DescentState now{state.data()[0], state.data()[1]};
        Descent<typename E::template Decoder<FlatWeights>> descent(
            examples_.data, cells_, {w.data(), w.shape(0)}, {average.data(), average.shape(0)},
            l2 / static_cast<double>(examples_.data.size()), E::free_own && loss == Loss::log);
        std::size_t done = 0;
        for (const std::int64_t place : bind::view(order)) {
            const auto i = static_cast<std::size_t>(place);
            const double c = weight_.empty() ? 1.0 : weight_[i];
            descent.step(loss, i, c, now);
            if (++done % 1024 == 0) stop_if_interrupted();
        }
        descent.settle();
        state.data()[0] = now.t;
    }

private:
    void check_size(std::size_t n) const {
        if (n != cells_.size()) throw nb::value_error("w does not fit the loss");
    }
    void check_cells() const {
        const bool fits = offsets_.size() == examples_.table_rows() + 1 && offsets_.front() == 0 &&
                          offsets_.back() == static_cast<std::int64_t>(labels_.size()) &&
                          std::ranges::is_sorted(offsets_);
        const auto n = static_cast<std::int32_t>(examples_.n_labels);
        const auto inside = [&](std::int32_t k) { return k >= 0 && k < n; };
        constexpr std::int32_t most = 1 << 16;  // packed cells have columns of 16 bits
        if (!fits || n > most || !std::ranges::all_of(labels_, inside)) {
            throw nb::value_error("cells do not fit the table");
        }
    }

    E examples_;
    std::vector<double> weight_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> labels_;
    Cells cells_;
    std::optional<BatchLoss<E::template Decoder>> loss_;
};

using RowLoss = AnyLoss<RowExamples>;
using SequenceLoss = AnyLoss<SequenceExamples>;

/// Frank-Wolfe on weights of Python's, which stay under their lock.
template <class E, class Solver>
class AnyFrankWolfe {
public:
    template <class... Args>
    AnyFrankWolfe(Model<Diagonal<double>>& model, const Vector<double>& bound,
                  const std::optional<Costs>& cost, Args&&... args)
        : model_(model), examples_(std::forward<Args>(args)...), bound_(copied(bound)) {
        const auto costs = costs_of(cost, examples_.n_labels);
        costs_.assign(costs.begin(), costs.end());
        examples_.data.cost = costs_;
        const Shape& shape = model.shape();
        const bool fits = shape.n_columns == examples_.n_columns &&
                          examples_.table_rows() <= shape.n_rows() && !shape.averaged &&
                          model.weights.order().is_sorted();
        if (!fits) throw nb::value_error("weights do not fit the examples");
        if (bound_.size() != examples_.data.size())
            throw nb::value_error("one bound each expected");
        solver_.emplace(model.weights, examples_.data, bound_);
    }

    void visit(const Vector<std::int64_t>& order) {
        const nb::gil_scoped_release release;
        constexpr std::size_t block = 256;
        const auto all = bind::view(order);
        for (std::size_t at = 0; at < all.size(); at += block) {
            {
                const auto lock = model_.guard.write();
                for (const std::int64_t i : all.subspan(at, std::min(block, all.size() - at))) {
                    solver_->visit(static_cast<std::size_t>(i));
                }
            }
            stop_if_interrupted();
        }
    }

    std::pair<double, double> values() {
        const nb::gil_scoped_release release;
        const auto lock = model_.guard.read();
        const HingeSums sums = solver_->sums();
        return {sums.hinge, sums.linear};
    }

private:
    Model<Diagonal<double>>& model_;
    E examples_;
    std::vector<double> bound_;
    std::vector<double> costs_;
    std::optional<Solver> solver_;
};

using RowFrankWolfe = AnyFrankWolfe<RowExamples, ClassFrankWolfe<std::int32_t, double>>;
using SequenceFrankWolfe =
    AnyFrankWolfe<SequenceExamples, FrankWolfe<OnlineChain<double, std::int32_t, float>>>;

/// The cells that occur in the training data: each feature with the labels of its tokens, and the
/// transitions, starts and ends. A bit for each label of each row of the table.
std::pair<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int32_t>>
observed_cells(const Rows& tokens, const Rows& pairs, const Vector<std::int64_t>& bounds,
               const Vector<std::int32_t>& y, std::size_t n_labels) {
    const SequenceExamples examples(tokens, pairs, bounds, y, n_labels);
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> labels;
    {
        const nb::gil_scoped_release release;
        const LabelSets sets = observed(examples.data, n_labels);
        sets.list(offsets, labels);
    }
    return {give(std::move(offsets)), give(std::move(labels))};
}

template <class E>
void bind_loss(nb::class_<AnyLoss<E>>& loss) {
    using L = AnyLoss<E>;
    loss.def_prop_ro("n_weights", &L::n_weights);
    loss.def("log_loss", &L::log_loss, nb::arg("w").noconvert(), nb::arg("gradient").noconvert(),
             nb::arg("threads"), "The log loss of all examples; writes its gradient.");
    loss.def("curvature", &L::curvature, nb::arg("w").noconvert(), nb::arg("out").noconvert(),
             nb::arg("threads"), "Write the diagonal of the Hessian of the log loss.");
    loss.def("hinge_loss", &L::hinge_loss, nb::arg("w").noconvert(),
             nb::arg("cost").noconvert().none(), nb::arg("threads"),
             "The generalised hinge loss of all examples.");
    loss.def("descend", &L::descend, nb::arg("kind"), nb::arg("cost").noconvert().none(),
             nb::arg("w").noconvert(), nb::arg("average").noconvert(), nb::arg("state").noconvert(),
             nb::arg("order").noconvert(), nb::arg("l2"),
             "One stochastic pass; changes w, its average and the state (t, first step size).");
}

template <class S>
void bind_frank_wolfe(nb::class_<S>& solver) {
    solver.def("visit", &S::visit, nb::arg("order").noconvert(),
               "Visit these examples; moves the means of the weights.");
    solver.def("values", &S::values, "(sum of hinge losses, linear part of the dual).");
}

}  // namespace

void bind_batch(nb::module_& m) {
    nb::class_<RowLoss> rows(m, "RowLoss", "Batch losses of rows; w is row-major by feature.");
    rows.def(nb::new_([](const Rows& x, const Vector<std::int32_t>& y,
                         const std::optional<Vector<double>>& weight, std::size_t n_columns,
                         bool intercept) {
                 return std::make_unique<RowLoss>(weight, std::nullopt, std::nullopt, x, y,
                                                  n_columns, intercept);
             }),
             nb::arg("rows"), nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
             nb::arg("n_columns"), nb::arg("intercept"));
    bind_loss(rows);

    nb::class_<SequenceLoss> sequences(m, "SequenceLoss",
                                       "Batch losses of sequences; w has the cells in order.");
    sequences.def(
        "__init__",
        [](SequenceLoss* self, const Rows& tokens, const Rows& pairs,
           const Vector<std::int64_t>& bounds, const Vector<std::int32_t>& y,
           const std::optional<Vector<double>>& weight, std::size_t n_labels,
           const std::optional<Vector<std::int64_t>>& offsets,
           const std::optional<Vector<std::int32_t>>& labels) {
            new (self) SequenceLoss(weight, offsets, labels, tokens, pairs, bounds, y, n_labels);
        },
        nb::arg("tokens"), nb::arg("pairs"), nb::arg("bounds").noconvert(),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("n_labels"),
        nb::arg("offsets").noconvert().none(), nb::arg("labels").noconvert().none(),
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    bind_loss(sequences);

    nb::class_<RowFrankWolfe> row_solver(m, "RowFrankWolfe", "Multi-class SVM on given weights.");
    row_solver.def(
        "__init__",
        [](RowFrankWolfe* self, const Rows& x, const Vector<std::int32_t>& y,
           const Vector<double>& bound, const std::optional<Costs>& cost,
           Model<Diagonal<double>>& weights) {
            new (self) RowFrankWolfe(weights, bound, cost, x, y, weights.shape().n_columns,
                                     weights.shape().intercept);
        },
        nb::arg("rows"), nb::arg("y").noconvert(), nb::arg("bound").noconvert(),
        nb::arg("cost").noconvert().none(), nb::arg("weights"), nb::keep_alive<1, 6>());
    bind_frank_wolfe(row_solver);

    nb::class_<SequenceFrankWolfe> solver(m, "SequenceFrankWolfe", "Structured SVM of chains.");
    solver.def(
        "__init__",
        [](SequenceFrankWolfe* self, const Rows& tokens, const Rows& pairs,
           const Vector<std::int64_t>& bounds, const Vector<std::int32_t>& y,
           const Vector<double>& bound, const std::optional<Costs>& cost,
           Model<Diagonal<double>>& weights) {
            new (self) SequenceFrankWolfe(weights, bound, cost, tokens, pairs, bounds, y,
                                          weights.shape().n_columns);
        },
        nb::arg("tokens"), nb::arg("pairs"), nb::arg("bounds").noconvert(),
        nb::arg("y").noconvert(), nb::arg("bound").noconvert(), nb::arg("cost").noconvert().none(),
        nb::arg("weights"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 8>());
    bind_frank_wolfe(solver);

    m.def("observed_cells", &observed_cells, nb::arg("tokens"), nb::arg("pairs"),
          nb::arg("bounds").noconvert(), nb::arg("y").noconvert(), nb::arg("n_labels"),
          "(offsets, labels): which labels occur with each row of the table.");
}

}  // namespace surelearn::bind
