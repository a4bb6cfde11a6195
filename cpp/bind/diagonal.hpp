// Bindings: diagonal weights; diagonal32.cpp and diagonal64.cpp compile it for
// single and double storage, side by side.
#pragma once

#include "surelearn/diagonal.hpp"

#include "surelearn/sweep.hpp"
#include "weights.hpp"

namespace surelearn::bind {

template <class T>
nb::ndarray<nb::numpy, const T> sorted_part(Model<Diagonal<T>>& model, std::size_t which) {
    const Shape& shape = model.shape();
    NewArray<T> out({shape.n_columns, shape.n_rows()});
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        constexpr std::size_t block = 64 / sizeof(T);  // features that fill a line of the cache
        const std::size_t n = shape.n_rows();
        for (std::size_t begin = 0; begin < n; begin += block) {
            const std::size_t end = std::min(n, begin + block);
            for (std::size_t k = 0; k < shape.n_columns; ++k) {
                const std::size_t at = which * model.weights.capacity() + model.weights.column(k);
                T* const numbers = out.data.get() + k * n;
                for (std::size_t j = begin; j < end; ++j) numbers[j] = model.weights.cell(j)[at];
            }
        }
    }
    return out.template give<const T>();
}

/// Read-only (columns, features) view of one part of every feature's run, which keeps the model
/// alive; a copy where the columns do not lie in the order of their labels.
template <class T>
nb::ndarray<nb::numpy, const T> part(nb::handle self, std::size_t which) {
    auto& model = nb::cast<Model<Diagonal<T>>&>(self);
    const Shape& shape = model.shape();
    if (which >= shape.parts()) throw nb::index_error("no such part");
    if (!model.weights.order().is_sorted()) return sorted_part(model, which);
    const std::size_t sizes[2] = {shape.n_columns, shape.n_rows()};
    const std::int64_t strides[2] = {1, static_cast<std::int64_t>(model.weights.stride())};
    return nb::ndarray<nb::numpy, const T>(model.weights.cell(0) + which * model.weights.capacity(),
                                           2, sizes, self, strides);
}

/// As `with_columns`, in the memory of these weights; nothing where it has too little room. What
/// one of the two learns the other has learnt, so they share a lock.
template <class T>
std::unique_ptr<Model<Diagonal<T>>> extended(Model<Diagonal<T>>& model,
                                             const std::vector<std::int64_t>& from) {
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    auto weights = model.weights.extended(from);
    if (!weights) return nullptr;
    return std::make_unique<Model<Diagonal<T>>>(*std::move(weights), model.lock);
}

/// Everything that is learnt, of one moment: features that differ from the start, their runs, the
/// prior of the others, and the number of rounds.
template <class T>
std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, T>, double, std::uint64_t>
snapshot(Model<Diagonal<T>>& model) {
    const std::size_t stride = model.shape().stride();
    auto features = std::make_unique_for_overwrite<std::int64_t[]>(model.shape().n_rows());
    std::unique_ptr<T[]> cells;
    std::size_t n = 0;
    double prior = 0.0;
    std::uint64_t rounds = 0;
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        n = model.weights.find_touched(features.get());
        cells = std::make_unique_for_overwrite<T[]>(n * stride);
        for (std::size_t i = 0; i < n; ++i) {
            model.weights.copy_run(static_cast<std::size_t>(features[i]), cells.get() + i * stride);
        }
        prior = model.weights.prior();
        rounds = model.weights.rounds();
    }
    NewArray<T> runs(std::move(cells), {n, stride});
    return {bind::give(std::move(features), n), runs.give(), prior, rounds};
}

/// Puts a snapshot's runs and rounds into an untrained model of its shape and prior.
template <class T>
void restore(Model<Diagonal<T>>& model, const Vector<std::int64_t>& features,
             const nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>& cells,
             std::uint64_t rounds) {
    const std::size_t stride = model.weights.stride();
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
    model.weights.forget_bounds();
    model.weights.set_rounds(rounds);
}

/// Learns rows [begin, end) of the order into the first columns, each by its own rule. `lanes` has
/// (mistakes, updates, stopped) of each, `missed` a verdict on each row.
template <class T>
void sweep(Model<Diagonal<T>>& model, const std::vector<AnyRule>& rules,
           const std::vector<bool>& covariance, const Rows& rows, const Vector<std::int32_t>& y,
           const std::optional<Vector<double>>& weight,
           const std::optional<Vector<std::int64_t>>& order,
           const std::optional<Vector<double>>& cost, const Writable<std::uint8_t>& missed,
           const Writable<std::uint64_t>& lanes, std::size_t begin, std::size_t end) {
    check_width(model, rows);
    const std::size_t B = rules.size();
    const Shape& shape = model.shape();
    if (shape.n_columns != n_lanes || !shape.second_order || B > n_lanes ||
        covariance.size() != B || lanes.shape(0) != 3 * B || missed.shape(0) != B * y.shape(0)) {
        throw nb::value_error("rules, lanes or missed do not fit the weights");
    }
    std::array<std::uint8_t, 2> known{1, 1};
    const Targets targets{bind::view(y),
                          {view(weight), view(order)},
                          known,
                          cost_of(cost, 2),
                          {},
                          std::span(missed.data(), missed.shape(0))};
    std::vector<Learner> learners;
    std::vector<LearnerTally> tallies;
    for (std::size_t b = 0; b < B; ++b) {
        const std::uint64_t* const lane = lanes.data() + 3 * b;
        tallies.push_back({lane[0], lane[1], lane[2]});
        learners.push_back(
            {rules[b], covariance[b] ? Projection::covariance : Projection::precision});
    }
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.write();
        with_matrix<Diagonal<T>>(rows,
                                 [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
                                     Sweep<T, Index, Value> sweep(model.weights, learners, matrix,
                                                                  targets, tallies, begin, end);
                                     sweep.run(end);
                                 });
    }
    for (std::size_t b = 0; b < B; ++b) {
        const std::array lane{tallies[b].mistakes, tallies[b].updates, tallies[b].stopped};
        std::ranges::copy(lane, lanes.data() + 3 * b);
    }
}

template <class T>
std::unique_ptr<Model<Diagonal<T>>> sweep_column(Model<Diagonal<T>>& model, std::size_t column,
                                                 bool second_order, double prior) {
    if (model.shape().n_columns != n_lanes || column >= n_lanes) throw nb::index_error("no lane");
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    return std::make_unique<Model<Diagonal<T>>>(alone(model.weights, column, second_order, prior));
}

/// Puts the columns of models that have learnt the same rows side by side into one that has learnt
/// nothing.
template <class T>
void put_columns(Model<Diagonal<T>>& model, const std::vector<Model<Diagonal<T>>*>& parts,
                 std::size_t threads) {
    const Shape& shape = model.shape();
    std::vector<const WeightTable<T>*> tables;
    std::size_t n_columns = 0;
    for (Model<Diagonal<T>>* part : parts) {
        const Shape& own = part->shape();
        if (own.n_rows() != shape.n_rows() || own.parts() != shape.parts() ||
            !part->weights.order().is_sorted()) {
            throw nb::value_error("weights do not fit each other");
        }
        tables.push_back(&part->weights);
        n_columns += own.n_columns;
    }
    if (n_columns != shape.n_columns || !model.weights.order().is_sorted()) {
        throw nb::value_error("columns do not fit the weights");
    }
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    model.weights.put_columns(tables, threads);
}

template <class T>
void bind_kind(nb::module_& m, const char* name) {
    auto model = bind_model<Diagonal<T>>(m, name, "Diagonal Gaussian weights, feature-major.");
    model.def("part", &part<T>, nb::arg("which"), "View of the means (0), variances (1), ...");
    model.def("put_columns", &put_columns<T>, nb::arg("parts"), nb::arg("threads"),
              "Put the columns of others that have learnt the same rows side by side into these.");
    model.def(
        "mirrored",
        [](Model<Diagonal<T>>& self) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<Model<Diagonal<T>>>(self.weights.mirrored());
        },
        "The one column of two classes as each of them sees it: -mu and +mu, sigma both.");
    model.def(
        "extended", &extended<T>, nb::arg("columns"),
        "The same weights with new columns in the same memory; None: it has too little room.");
    model.def_prop_ro(
        "capacity", [](Model<Diagonal<T>>& self) { return self.weights.capacity(); },
        "Columns that there is room for.");
    model.def(
        "room_for",
        [](Model<Diagonal<T>>& self, std::size_t n) { return self.weights.room_for(n); },
        nb::arg("n_columns"), "Room to take for so many columns, others being likely to come.");
    model.def(
        "with_columns",
        [](Model<Diagonal<T>>& self, const std::vector<std::int64_t>& from, std::size_t room) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<Model<Diagonal<T>>>(self.weights.with_columns(from, room));
        },
        nb::arg("columns"), nb::kw_only(), nb::arg("room") = 0,
        "The same weights under other columns, and room for more; -1 makes a new one.");
    model.def("snapshot", &snapshot<T>,
              "(features that differ from the start, their runs, prior, rounds) of one moment.");
    model.def("restore", &restore<T>, nb::arg("features").noconvert(), nb::arg("cells").noconvert(),
              nb::arg("rounds"), "Put a snapshot back.");
    model.def("sweep", &sweep<T>, nb::arg("rules"), nb::arg("covariance"), nb::arg("rows"),
              nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
              nb::arg("order").noconvert().none(), nb::arg("cost").noconvert().none(),
              nb::arg("missed").noconvert(), nb::arg("lanes").noconvert(), nb::arg("begin"),
              nb::arg("end"),
              "Learn rows [begin, end) into each of eight columns by its own rule.");
    model.def("sweep_column", &sweep_column<T>, nb::arg("column"), nb::arg("second_order"),
              nb::arg("prior"), "The weights of one of the eight.");
}

}  // namespace surelearn::bind
