// Bindings: what diagonal and full weights share. One lock a model: learning holds
// it for some thousand rows at a time, readers share it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bind.hpp"
#include "surelearn/learn.hpp"
#include "surelearn/rw_lock.hpp"
#include "surelearn/top_two.hpp"

namespace surelearn::bind {

/// Rows learnt between two moments at which others may read the model: fewer where each may go
/// through all of the weights.
template <Weights W>
[[nodiscard]] std::size_t block_of(const W& weights) {
    constexpr std::size_t most = 2048;
    if constexpr (!W::touches_all_weights) return most;
    return std::clamp<std::size_t>((std::size_t{1} << 28) / (1 + weights.bytes()), 1, most);
}
/// Blocks learnt between two looks at Ctrl-C: each where it takes long.
template <Weights W>
constexpr std::size_t patience = W::touches_all_weights ? 1 : 64;

template <Weights W>
struct Model {
    W weights;
    std::shared_ptr<RwLock> lock;  ///< one for all models whose weights lie in the same memory
    RwLock& guard = *lock;

    explicit Model(W weights_, std::shared_ptr<RwLock> lock_ = std::make_shared<RwLock>())
        : weights(std::move(weights_)), lock(std::move(lock_)) {}
    explicit Model(const Shape& shape) : Model(W(shape)) {}

    [[nodiscard]] const Shape& shape() const { return weights.shape(); }
};

template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const std::optional<Vector<T>>& array) {
    return array ? bind::view(*array) : std::span<const T>{};
}

template <Weights W, class P>
Tally learn_block(Model<W>& model, P& pass, std::size_t stop) {
    const auto lock = model.guard.write();
    return pass.run(stop);
}

inline void stop_if_interrupted() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// The rows must be as wide as the model: a narrower table would be read beyond its end.
template <Weights W>
void check_width(const Model<W>& model, const Rows& rows) {
    const auto width = std::visit([](const auto& m) { return m.n_features(); }, rows.matrix);
    if (width != model.shape().n_features) throw nb::value_error("rows do not fit the weights");
}

/// f(matrix) with the rows of a caller. Only diagonal weights of floats, where values of rows take
/// their share of the time, have code for rows of floats; the others convert them.
template <Weights W, class F>
auto with_matrix(const Rows& rows, const F& f) {
    constexpr bool as_floats = !W::touches_all_weights && sizeof(typename W::Number) == 4;
    if constexpr (as_floats) {
        return std::visit(f, rows.matrix);
    } else {
        using Doubles = Matrix<std::int32_t, double>;
        return f(std::visit([](const auto& matrix) { return Doubles(matrix); }, rows.matrix));
    }
}

[[nodiscard]] inline Method method_of(const AnyRule& rule, const Scheme& scheme, bool covariance) {
    return {rule, covariance ? Projection::covariance : Projection::precision, scheme};
}

/// The cost matrix, row after row; it must have an entry for every two classes.
[[nodiscard]] inline std::span<const double> cost_of(const std::optional<Vector<double>>& cost,
                                                     std::size_t n_classes) {
    if (cost && cost->shape(0) != n_classes * n_classes) {
        throw nb::value_error("cost does not fit the classes");
    }
    return view(cost);
}

/// The coding matrix, row after row; it must have an entry for every class and column.
[[nodiscard]] inline std::span<const std::int8_t> code_of(
    const std::optional<Vector<std::int8_t>>& code, std::size_t size) {
    if (code && code->shape(0) != size) throw nb::value_error("code does not fit the weights");
    return view(code);
}

/// Room for the verdict on every row.
[[nodiscard]] inline std::span<std::uint8_t> missed_of(
    const std::optional<Writable<std::uint8_t>>& missed, std::size_t n_rows) {
    if (!missed) return {};
    if (missed->shape(0) != n_rows) throw nb::value_error("missed does not fit the rows");
    return {missed->data(), n_rows};
}

/// Where the labels of every row begin in y, if rows have any number of them: each has a column.
[[nodiscard]] inline std::span<const std::int64_t> starts_of(
    const std::optional<Vector<std::int64_t>>& starts, const Vector<std::int32_t>& y,
    std::size_t n_rows, std::size_t n_columns) {
    if (!starts) return {};
    const auto places = bind::view(*starts);
    const auto inside = [&](std::int32_t k) {
        return k >= 0 && static_cast<std::size_t>(k) < n_columns;
    };
    if (places.size() != n_rows + 1 || places.front() != 0 || !std::ranges::is_sorted(places) ||
        places.back() != static_cast<std::int64_t>(y.shape(0)) ||
        !std::ranges::all_of(bind::view(y), inside)) {
        throw nb::value_error("labels do not fit the rows");
    }
    return places;
}

/// Learns rows [begin, end) of the order. `done` is kept up to date with (rows, mistakes, updates),
/// also when Ctrl-C ends it. Tells whether a row was refused.
template <Weights W>
bool learn_rows(Model<W>& model, const AnyRule& rule, const Scheme& scheme, bool covariance,
                const Rows& rows, const Vector<std::int32_t>& y,
                const std::optional<Vector<double>>& weight,
                const std::optional<Vector<std::int64_t>>& order,
                const Writable<std::uint8_t>& known, const std::optional<Vector<double>>& cost,
                const std::optional<Vector<std::int8_t>>& code,
                const std::optional<Writable<std::uint8_t>>& missed,
                const std::optional<Vector<std::int64_t>>& starts,
                const std::optional<Writable<double>>& scores,
                const std::optional<Writable<std::uint8_t>>& moved, std::size_t begin,
                std::size_t end, const Writable<std::uint64_t>& done) {
    check_width(model, rows);
    const std::size_t n = end - std::min(begin, end);
    if (scores.has_value() != moved.has_value() ||
        (scores && (!W::holds_coded_problems || (!code && !starts) || moved->shape(0) != n ||
                    scores->shape(0) != n * model.shape().n_columns))) {
        throw nb::value_error("scores or moved do not fit the rows and columns");
    }
    const Method method = method_of(rule, scheme, covariance);
    const Targets targets{
        bind::view(y),
        {view(weight), view(order)},
        std::span(known.data(), known.shape(0)),
        cost_of(cost, known.shape(0)),
        code_of(code, known.shape(0) * model.shape().n_columns),
        missed_of(missed, starts ? rows.size() : y.shape(0)),
        starts_of(starts, y, rows.size(), known.shape(0)),
        scores ? std::span(scores->data(), scores->shape(0)) : std::span<double>{},
        moved ? std::span(moved->data(), n) : std::span<std::uint8_t>{}};
    if (starts && (!W::holds_coded_problems || known.shape(0) != model.shape().n_columns)) {
        throw nb::value_error("labels do not fit the weights");
    }
    const nb::gil_scoped_release release;
    return with_matrix<W>(rows, [&]<class M>(const M& matrix) {
        Pass<W, M> pass(model.weights, method, matrix, targets, begin, end);
        const std::size_t block = block_of(model.weights);
        for (std::size_t at = begin; at < end;) {
            const std::size_t stop = std::min(end, at + block);
            const Tally part = learn_block(model, pass, stop);
            done.data()[0] += part.end - at;
            done.data()[1] += part.mistakes;
            done.data()[2] += part.updates;
            at = part.end;
            if (part.refused) return true;
            if ((at - begin) % (patience<W> * block) == 0) stop_if_interrupted();
        }
        return false;
    });
}

/// Learns one row of a known class, every class being known: (mistakes, updates, refused).
template <Weights W>
std::tuple<std::uint64_t, std::uint64_t, bool> learn_row(Model<W>& model, const AnyRule& rule,
                                                         const Scheme& scheme, bool covariance,
                                                         const Rows& rows, std::int32_t y,
                                                         double weight) {
    check_width(model, rows);
    if (rows.size() != 1) throw nb::value_error("one row expected");
    const Method method = method_of(rule, scheme, covariance);
    std::vector<std::uint8_t> known(model.shape().n_columns, 1);
    const Targets targets{{&y, 1}, {{&weight, 1}, {}}, known};
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    const Tally tally = with_matrix<W>(rows, [&](const auto& matrix) {
        return learn(model.weights, method, matrix, targets, 0, 1);
    });
    return {tally.mistakes, tally.updates, tally.refused};
}

/// Numbers of rows that are there; none: all rows.
[[nodiscard]] inline std::optional<std::span<const std::int64_t>> some_of(
    const Rows& rows, const std::optional<Vector<std::int64_t>>& numbers) {
    if (!numbers) return std::nullopt;
    for (const std::int64_t i : view(numbers)) {
        const bool inside = i >= 0 && static_cast<std::size_t>(i) < rows.size();
        if (!inside) throw nb::index_error("row out of range");
    }
    return view(numbers);
}

/// Calls f(row, place of its results) for every row, or those of some numbers, sharing the model
/// with other readers.
template <Weights W, class F>
void each_row(Model<W>& model, const Rows& rows, F&& f,
              std::optional<std::span<const std::int64_t>> some = {}) {
    check_width(model, rows);
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    with_matrix<W>(rows, [&]<class M>(const M& matrix) {
        typename M::Buffer buffer;
        const std::size_t K = model.shape().n_columns;
        const std::size_t n = some ? some->size() : matrix.size();
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t number = some ? static_cast<std::size_t>((*some)[i]) : i;
            f(matrix.row(number, buffer), i * K, K);
        }
    });
}

template <Weights W>
nb::ndarray<nb::numpy, double> scores(Model<W>& model, const Rows& rows) {
    NewArray<double> s({rows.size(), model.shape().n_columns});
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s.data.get() + at, K));
    });
    return s.give();
}

/// The class of the largest mean score of each row into `labels`; two classes: by its sign.
template <Weights W>
void find_winners(Model<W>& model, const Rows& rows, std::int64_t* labels) {
    std::vector<double> s(model.shape().n_columns);
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s));
        labels[at / K] = static_cast<std::int64_t>(K == 1 ? (s[0] > 0.0 ? 1 : 0) : best(s));
    });
}

template <Weights W>
nb::ndarray<nb::numpy, std::int64_t> winners(Model<W>& model, const Rows& rows) {
    NewArray<std::int64_t> labels({rows.size()});
    find_winners(model, rows, labels.data.get());
    return labels.give();
}

template <Weights W>
std::int64_t winner(Model<W>& model, const Rows& rows) {
    if (rows.size() != 1) throw nb::value_error("one row expected");
    std::int64_t label = 0;
    find_winners(model, rows, &label);
    return label;
}

template <Weights W>
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> margin(
    Model<W>& model, const Rows& rows, const std::optional<Vector<std::int64_t>>& numbers) {
    const auto some = some_of(rows, numbers);
    const std::size_t n = some ? some->size() : rows.size();
    NewArray<double> s({n, model.shape().n_columns});
    NewArray<double> v({n, model.shape().n_columns});
    const auto measure = [&](const auto& row, std::size_t at, std::size_t K) {
        mean_scores(model.weights, row, std::span(s.data.get() + at, K));
        model.weights.variances(row, std::span(v.data.get() + at, K));
    };
    each_row(model, rows, measure, some);
    return {s.give(), v.give()};
}

/// Mean score of every column, and the variance of the surest one of each row.
template <Weights W>
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> surest_margin(
    Model<W>& model, const Rows& rows, bool two_sided) {
    check_width(model, rows);
    const std::size_t K = model.shape().n_columns;
    NewArray<double> s({rows.size(), K});
    NewArray<double> v({rows.size()});
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        with_matrix<W>(rows, [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
            RowBuffer<Index, Value> buffer;
            std::vector<double> work;
            for (std::size_t i = 0; i < matrix.size(); ++i) {
                Row<Index, Value> ahead;  // variances would come late without
                if (i + 1 < matrix.size() && !matrix.dense()) ahead = matrix.stored(i + 1);
                const auto row = matrix.row(i, buffer);
                const std::span own(s.data.get() + i * K, K);
                mean_scores(model.weights, row, own, ahead);
                const std::size_t surest = surest_column(own, two_sided);
                v.data[i] = variance_of(model.weights, row, surest, work);
            }
        });
    }
    return {s.give(), v.give()};
}

/// Best and next best label of every row, or of those of these numbers, the margin between them and
/// its variance.
template <Weights W>
auto leads(Model<W>& model, const Rows& rows, const std::optional<Vector<std::int64_t>>& numbers,
           std::size_t threads) {
    check_width(model, rows);
    const auto some = some_of(rows, numbers);
    const std::size_t n = some ? some->size() : rows.size();
    NewArray<std::int64_t> best({n}), next({n});
    NewArray<double> gap({n}), v({n});
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        const auto keep = [&](std::size_t i, const TopTwo& row) {
            best.data[i] = static_cast<std::int64_t>(row.best);
            next.data[i] = static_cast<std::int64_t>(row.next);
            gap.data[i] = row.gap;
            v.data[i] = row.v;
        };
        with_matrix<W>(rows, [&](const auto& matrix) {
            each_top_two(model.weights, matrix, some, threads, keep);
        });
    }
    return std::tuple{best.give(), next.give(), gap.give(), v.give()};
}

/// Shrinks the variances as if this row had been learnt on the border of one or two columns.
template <Weights W>
bool hypothetical_update(Model<W>& model, const AnyRule& rule, bool covariance, const Rows& rows,
                         std::size_t number, const std::vector<std::size_t>& columns) {
    check_width(model, rows);
    if (number >= rows.size()) throw nb::index_error("row out of range");
    if (columns.empty() || columns.size() > 2 ||
        std::ranges::max(columns) >= model.shape().n_columns || !model.shape().second_order) {
        throw nb::value_error("columns do not fit the weights");
    }
    const Projection projection = covariance ? Projection::covariance : Projection::precision;
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    return with_matrix<W>(rows, [&]<class M>(const M& matrix) {
        typename M::Buffer buffer;
        const auto row = matrix.row(number, buffer);
        if (columns.size() == 1) {
            return hypothetical_update(model.weights, rule, projection, row,
                                       std::array{Side{columns[0], 1.0}});
        }
        return hypothetical_update(model.weights, rule, projection, row,
                                   std::array{Side{columns[0], 1.0}, Side{columns[1], -1.0}});
    });
}

template <Weights W>
nb::ndarray<nb::numpy, double> averages(Model<W>& model) {
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

/// What Python sees of every kind of weights.
template <Weights W>
nb::class_<Model<W>> bind_model(nb::module_& m, const char* name, const char* about) {
    using M = Model<W>;
    nb::class_<M> model(m, name, about);
    model.def(
        "__init__",
        [](M* self, std::size_t n_features, std::size_t n_columns, bool intercept,
           bool second_order, bool averaged, double prior) {
            new (self) M(Shape{n_features, n_columns, intercept, second_order, averaged, prior});
        },
        nb::arg("n_features"), nb::arg("n_columns"), nb::kw_only(), nb::arg("intercept"),
        nb::arg("second_order"), nb::arg("averaged"), nb::arg("prior"));
    model.def("learn", &learn_rows<W>, nb::arg("rule"), nb::arg("scheme"), nb::arg("covariance"),
              nb::arg("rows"), nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
              nb::arg("order").noconvert().none(), nb::arg("known").noconvert(),
              nb::arg("cost").noconvert().none(), nb::arg("code").noconvert().none(),
              nb::arg("missed").noconvert().none(), nb::arg("starts").noconvert().none(),
              nb::arg("scores").noconvert().none(), nb::arg("moved").noconvert().none(),
              nb::arg("begin"), nb::arg("end"), nb::arg("done").noconvert(),
              "Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?");
    model.def("learn_row", &learn_row<W>, nb::arg("rule"), nb::arg("scheme"), nb::arg("covariance"),
              nb::arg("rows"), nb::arg("y"), nb::arg("weight"),
              "Learn one row: (mistakes, updates, refused).");
    model.def("winners", &winners<W>, nb::arg("rows"), "Class of the largest mean score.");
    model.def("winner", &winner<W>, nb::arg("rows"), "The same for one row.");
    model.def("scores", &scores<W>, nb::arg("rows"), "Mean score of every column.");
    model.def("margin", &margin<W>, nb::arg("rows"), nb::arg("numbers").noconvert().none(),
              "Mean and variance of every column's score.");
    model.def("surest_margin", &surest_margin<W>, nb::arg("rows"), nb::arg("two_sided"),
              "Mean of every column's score, and the variance of the largest one.");
    model.def("leads", &leads<W>, nb::arg("rows"), nb::arg("numbers").noconvert().none(),
              nb::arg("threads"),
              "(best label, next best, margin between them, its variance) of every row.");
    model.def("hypothetical_update", &hypothetical_update<W>, nb::arg("rule"),
              nb::arg("covariance"), nb::arg("rows"), nb::arg("number"), nb::arg("columns"),
              "Shrink the variances as if a row with margin 0 had been learnt; was it done?");
    model.def("averages", &averages<W>, "The averaged means.");
    model.def(
        "split",
        [](M& self) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<M>(self.weights.split());
        },
        "The one vector of two classes as two blocks.");
    model.def_prop_ro("n_columns", [](M& self) { return self.shape().n_columns; });
    model.def_prop_ro("prior", [](M& self) {
        const nb::gil_scoped_release release;
        const auto lock = self.guard.read();
        return self.weights.prior();
    });
    return model;
}

}  // namespace surelearn::bind
