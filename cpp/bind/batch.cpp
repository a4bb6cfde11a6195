// Batch losses of rows and of sequences for Python. No arithmetic.
#include "batch.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>
#include <utility>

#include "sequences.hpp"
#include "surelearn/classes.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

/// Compressed rows of our own: any kind of matrix, in the one form that batch losses read.
struct OwnRows {
    std::vector<std::int64_t> start{0};
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
            start.push_back(static_cast<std::int64_t>(index.size()));
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

using RowLoss = AnyLoss<RowExamples>;
using SequenceLoss = AnyLoss<SequenceExamples>;

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
