// Rooms 3 and 6 for Python: diagonal weights in single and double storage.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bind.hpp"
#include "surelearn/guard.hpp"
#include "surelearn/learn.hpp"

namespace surelearn::bind {

namespace {

/// Rows learnt between two moments at which others may read the model.
constexpr std::size_t block = 2048;
/// Rows learnt between two looks at Ctrl-C.
constexpr std::size_t patience = 64 * block;

template <class T>
struct Model {
    Diagonal<T> weights;
    Guard guard;

    explicit Model(Diagonal<T> weights_) : weights(std::move(weights_)) {}
    explicit Model(const Shape& shape) : weights(shape) {}

    [[nodiscard]] const Shape& shape() const { return weights.shape(); }
};

template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const std::optional<Vector<T>>& array) {
    return array ? bind::view(*array) : std::span<const T>{};
}

template <class T, class P>
Tally learn_block(Model<T>& model, P& pass, std::size_t stop) {
    const auto lock = model.guard.write();
    return pass.run(stop);
}

void stop_if_interrupted() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// The rows must be as wide as the model: a narrower table would be read beyond its end.
template <class T>
void check_width(const Model<T>& model, const Rows& rows) {
    const auto width = std::visit([](const auto& m) { return m.n_features(); }, rows.matrix);
    if (width != model.shape().n_features) throw nb::value_error("rows do not fit the weights");
}

/// Learns rows [begin, end) of the order. `done` is kept up to date with (rows, mistakes, updates),
/// also when Ctrl-C ends it. Tells whether a row was refused.
template <class T>
bool learn_rows(Model<T>& model, const Rule& rule, bool covariance, const Rows& rows,
                const Vector<std::int32_t>& y, const std::optional<Vector<double>>& weight,
                const std::optional<Vector<std::int64_t>>& order,
                const Writable<std::uint8_t>& known, std::size_t begin, std::size_t end,
                const Writable<std::uint64_t>& done) {
    check_width(model, rows);
    const Projection projection = covariance ? Projection::covariance : Projection::precision;
    const Targets targets{bind::view(y), view(weight), view(order),
                          std::span(known.data(), known.shape(0))};
    const nb::gil_scoped_release release;
    return std::visit(
        [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
            Pass<T, Index, Value> pass(model.weights, rule, projection, matrix, targets, begin,
                                       end);
            for (std::size_t at = begin; at < end;) {
                const std::size_t stop = std::min(end, at + block);
                const Tally part = learn_block(model, pass, stop);
                done.data()[0] += part.end - at;
                done.data()[1] += part.mistakes;
                done.data()[2] += part.updates;
                at = part.end;
                if (part.refused) return true;
                if ((at - begin) % patience == 0) stop_if_interrupted();
            }
            return false;
        },
        rows.matrix);
}

/// Learns one row of a known class, every class being known: (mistakes, updates, refused).
template <class T>
std::tuple<std::uint64_t, std::uint64_t, bool> learn_row(Model<T>& model, const Rule& rule,
                                                         bool covariance, const Rows& rows,
                                                         std::int32_t y, double weight) {
    check_width(model, rows);
    const Projection projection = covariance ? Projection::covariance : Projection::precision;
    std::vector<std::uint8_t> known(model.shape().n_columns, 1);
    const Targets targets{{&y, 1}, {&weight, 1}, {}, known};
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    const Tally tally = std::visit(
        [&](const auto& matrix) {
            return learn(model.weights, rule, projection, matrix, targets, 0, 1);
        },
        rows.matrix);
    return {tally.mistakes, tally.updates, tally.refused};
}

/// Calls f(row, place of its results) for every row, sharing the model with other readers.
template <class T, class F>
void each_row(Model<T>& model, const Rows& rows, F&& f) {
    check_width(model, rows);
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    std::visit(
        [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
            RowBuffer<Index, Value> buffer;
            const std::size_t K = model.shape().n_columns;
            for (std::size_t i = 0; i < matrix.size(); ++i) f(matrix.row(i, buffer), i * K, K);
        },
        rows.matrix);
}

template <class T, class R>
void mean_scores(const Diagonal<T>& weights, const R& row, std::span<double> s) {
    if (weights.shape().averaged) {
        weights.averaged_scores(row, s);
    } else {
        weights.scores(row, s);
    }
}

template <class T>
nb::ndarray<nb::numpy, double> scores(Model<T>& model, const Rows& rows) {
    NewArray<double> s({rows.size(), model.shape().n_columns});
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s.data.get() + at, K));
    });
    return s.give();
}

/// The class of the largest mean score of each row into `places`; two classes: by its sign.
template <class T>
void find_winners(Model<T>& model, const Rows& rows, std::int64_t* places) {
    std::vector<double> s(model.shape().n_columns);
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s));
        places[at / K] = static_cast<std::int64_t>(K == 1 ? (s[0] > 0.0 ? 1 : 0) : best(s));
    });
}

template <class T>
nb::ndarray<nb::numpy, std::int64_t> winners(Model<T>& model, const Rows& rows) {
    NewArray<std::int64_t> places({rows.size()});
    find_winners(model, rows, places.data.get());
    return places.give();
}

template <class T>
std::int64_t winner(Model<T>& model, const Rows& rows) {
    if (rows.size() != 1) throw nb::value_error("one row expected");
    std::int64_t place = 0;
    find_winners(model, rows, &place);
    return place;
}

template <class T>
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> margin(Model<T>& model,
                                                                                 const Rows& rows) {
    NewArray<double> s({rows.size(), model.shape().n_columns});
    NewArray<double> v({rows.size(), model.shape().n_columns});
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s.data.get() + at, K));
        model.weights.variances(row, std::span(v.data.get() + at, K));
    });
    return {s.give(), v.give()};
}

/// Read-only (columns, features) view of one part of every feature's run; it keeps the model alive.
template <class T>
nb::ndarray<nb::numpy, const T> part(nb::handle self, std::size_t which) {
    auto& model = nb::cast<Model<T>&>(self);
    const Shape& shape = model.shape();
    if (which >= shape.parts()) throw nb::index_error("no such part");
    const std::size_t sizes[2] = {shape.n_columns, shape.n_rows()};
    const std::int64_t strides[2] = {1, static_cast<std::int64_t>(shape.stride())};
    return nb::ndarray<nb::numpy, const T>(model.weights.cell(0) + which * shape.n_columns, 2,
                                           sizes, self, strides);
}

template <class T>
nb::ndarray<nb::numpy, double> averages(Model<T>& model) {
    const Shape& shape = model.shape();
    NewArray<double> out({shape.n_columns, shape.n_rows()});
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t k = 0; k < shape.n_columns; ++k) {
                out.data[k * shape.n_rows() + j] = model.weights.mean(j, k);
            }
        }
    }
    return out.give();
}

/// Everything that is learnt, of one moment: features that differ from the start, their runs, the
/// prior of the others, and the number of rounds.
template <class T>
std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, T>, double, std::uint64_t>
snapshot(Model<T>& model) {
    std::vector<std::int64_t> features;
    std::vector<T> cells;
    double prior = 0.0;
    std::uint64_t rounds = 0;
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        const std::size_t stride = model.shape().stride();
        for (std::size_t j = 0; j < model.shape().n_rows(); ++j) {
            if (model.weights.untouched(j)) continue;
            features.push_back(static_cast<std::int64_t>(j));
            cells.insert(cells.end(), model.weights.cell(j), model.weights.cell(j) + stride);
        }
        prior = model.shape().prior;
        rounds = model.weights.rounds();
    }
    NewArray<std::int64_t> indices({features.size()});
    NewArray<T> runs({features.size(), model.shape().stride()});
    std::ranges::copy(features, indices.data.get());
    std::ranges::copy(cells, runs.data.get());
    return {indices.give(), runs.give(), prior, rounds};
}

/// Puts a snapshot's runs and rounds into an untrained model of its shape and prior.
template <class T>
void restore(Model<T>& model, const Vector<std::int64_t>& features,
             const nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>& cells,
             std::uint64_t rounds) {
    const std::size_t stride = model.shape().stride();
    if (cells.shape(0) != features.shape(0) || cells.shape(1) != stride) {
        throw nb::value_error("cells do not fit the features");
    }
    for (const std::int64_t j : bind::view(features)) {
        const bool inside = j >= 0 && static_cast<std::size_t>(j) < model.shape().n_rows();
        if (!inside) throw nb::index_error("feature out of range");
    }
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    for (std::size_t i = 0; i < features.shape(0); ++i) {
        const auto j = static_cast<std::size_t>(features.data()[i]);
        std::copy_n(cells.data() + i * stride, stride, model.weights.cell(j));
    }
    model.weights.set_rounds(rounds);
}

template <class T>
void bind_model(nb::module_& m, const char* name) {
    using M = Model<T>;
    nb::class_<M> model(m, name, "Diagonal Gaussian weights, feature-major.");
    model.def(
        "__init__",
        [](M* self, std::size_t n_features, std::size_t n_columns, bool intercept,
           bool second_order, bool averaged, double prior) {
            new (self) M(Shape{n_features, n_columns, intercept, second_order, averaged, prior});
        },
        nb::arg("n_features"), nb::arg("n_columns"), nb::kw_only(), nb::arg("intercept"),
        nb::arg("second_order"), nb::arg("averaged"), nb::arg("prior"));
    model.def("learn", &learn_rows<T>, nb::arg("rule"), nb::arg("covariance"), nb::arg("rows"),
              nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
              nb::arg("order").noconvert().none(), nb::arg("known").noconvert(), nb::arg("begin"),
              nb::arg("end"), nb::arg("done").noconvert(),
              "Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?");
    model.def("learn_row", &learn_row<T>, nb::arg("rule"), nb::arg("covariance"), nb::arg("rows"),
              nb::arg("y"), nb::arg("weight"), "Learn one row: (mistakes, updates, refused).");
    model.def("winners", &winners<T>, nb::arg("rows"), "Class of the largest mean score.");
    model.def("winner", &winner<T>, nb::arg("rows"), "The same for one row.");
    model.def("scores", &scores<T>, nb::arg("rows"), "Mean score of every column.");
    model.def("margin", &margin<T>, nb::arg("rows"), "Mean and variance of every column's score.");
    model.def("part", &part<T>, nb::arg("which"), "View of the means (0), variances (1), ...");
    model.def("averages", &averages<T>, "The averaged means.");
    model.def("snapshot", &snapshot<T>,
              "(features that differ from the start, their runs, prior, rounds) of one moment.");
    model.def("restore", &restore<T>, nb::arg("features").noconvert(), nb::arg("cells").noconvert(),
              nb::arg("rounds"), "Put a snapshot back.");
    model.def(
        "split",
        [](M& self) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<M>(self.weights.split());
        },
        "The one vector of two classes as two blocks.");
    model.def(
        "with_columns",
        [](M& self, const std::vector<std::int64_t>& from) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<M>(self.weights.with_columns(from));
        },
        nb::arg("columns"), "The same weights under other columns; -1 makes a new one.");
    model.def_prop_ro("n_features", [](M& self) { return self.shape().n_features; });
    model.def_prop_ro("n_columns", [](M& self) { return self.shape().n_columns; });
    model.def_prop_ro("intercept", [](M& self) { return self.shape().intercept; });
    model.def_prop_ro("second_order", [](M& self) { return self.shape().second_order; });
    model.def_prop_ro("averaged", [](M& self) { return self.shape().averaged; });
    model.def_prop_ro("prior", [](M& self) {
        const nb::gil_scoped_release release;
        const auto lock = self.guard.read();
        return self.shape().prior;
    });
}

}  // namespace

void bind_diagonal(nb::module_& m) {
    bind_model<float>(m, "Diagonal32");
    bind_model<double>(m, "Diagonal64");
}

}  // namespace surelearn::bind
