// Bindings: exact sums over arrays, which weights have moved, and inverses of covariances.
#include "surelearn/merge.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/moves.hpp"
#include "surelearn/parallel_for.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<nb::numpy, double>;

[[nodiscard]] std::size_t digits_each(std::size_t n_digits, std::size_t n_sums) {
    const bool fits = n_sums == 0 || (n_digits % n_sums == 0 && n_digits / n_sums >= 2);
    if (!fits) throw nb::value_error("digits do not fit the sums");
    return n_sums == 0 ? 0 : n_digits / n_sums;
}

/// (digits, tops) of numbers that are finite.
std::pair<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int8_t>> cut(
    const Vector<double>& numbers, std::size_t n_digits) {
    if (n_digits != 2 && n_digits != 3) throw nb::value_error("two or three digits expected");
    NewArray<std::int64_t> digits({numbers.shape(0), n_digits});
    NewArray<std::int8_t> tops({numbers.shape(0)});
    {
        const nb::gil_scoped_release release;
        for (std::size_t i = 0; i < numbers.shape(0); ++i) {
            Sum{{digits.data.get() + i * n_digits, n_digits}, tops.data[i]}.set(numbers.data()[i]);
        }
    }
    return {digits.give(), tops.give()};
}

/// Adds line r of other sums to line places[r], `width` sums a line.
void add(const Writable<std::int64_t>& digits, const Writable<std::int8_t>& tops,
         const Vector<std::int64_t>& places, const Vector<std::int64_t>& other_digits,
         const Vector<std::int8_t>& other_tops, std::int64_t times) {
    const std::size_t n = other_tops.shape(0);
    const std::size_t D = digits_each(digits.shape(0), tops.shape(0));
    if (n == 0) return;
    const std::size_t lines = places.shape(0);
    if (lines == 0 || n % lines != 0 || digits_each(other_digits.shape(0), n) != D) {
        throw nb::value_error("sums do not fit each other");
    }
    const std::size_t width = n / lines;
    for (const std::int64_t place : bind::view(places)) {
        const bool inside = place >= 0 && static_cast<std::size_t>(place) < tops.shape(0) / width;
        if (!inside) throw nb::index_error("place out of range");
    }
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at =
            static_cast<std::size_t>(places.data()[i / width]) * width + i % width;
        Sum{{digits.data() + at * D, D}, tops.data()[at]}.add({other_digits.data() + i * D, D},
                                                              other_tops.data()[i], times);
    }
}

Doubles values(const Vector<std::int64_t>& digits, const Vector<std::int8_t>& tops) {
    const std::size_t D = digits_each(digits.shape(0), tops.shape(0));
    NewArray<double> out({tops.shape(0)});
    {
        const nb::gil_scoped_release release;
        for (std::size_t i = 0; i < tops.shape(0); ++i) {
            out.data[i] = Sum::value({digits.data() + i * D, D}, tops.data()[i]);
        }
    }
    return out.give();
}

// -------------------------------------------------------------------- moves of weights

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using WritableTable = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

/// Sums of the moves of weights: the place of each weight, its sums, and how many models moved it.
using Moves =
    std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<std::int8_t>, Array<std::int32_t>>;
using MovesView = std::tuple<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int8_t>,
                             Vector<std::int32_t>>;

[[nodiscard]] RunLayout run_of(std::size_t columns, bool second_order, bool averaged,
                               std::size_t stride) {
    const RunLayout run{columns, second_order, averaged};
    if (columns == 0 || run.size() != stride) throw nb::value_error("runs of another size");
    return run;
}

/// Which runs of a model differ from where it started, of one moment: (features, their runs, the
/// runs of the start, prior, rounds). Features of the start ascend; one that is not listed has no
/// mean and the variance `prior`.
template <class T>
std::tuple<Array<std::int64_t>, Array<T>, Array<T>, double, std::uint64_t> moved_since(
    Model<Diagonal<T>>& model, const Vector<std::int64_t>& start_features,
    const Table<T>& start_cells) {
    const std::size_t K = model.shape().n_columns;
    const std::size_t stride = model.shape().stride();
    if (start_cells.shape(0) != start_features.shape(0) || start_cells.shape(1) != stride) {
        throw nb::value_error("cells do not fit the features");
    }
    auto features = std::make_unique_for_overwrite<std::int64_t[]>(model.shape().n_rows());
    std::unique_ptr<T[]> runs;
    std::unique_ptr<T[]> starts;
    std::size_t n = 0;
    double prior = 0.0;
    std::uint64_t rounds = 0;
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        prior = model.weights.prior();
        rounds = model.weights.rounds();
        std::vector<T> first(stride, T{0});
        if (model.shape().second_order) std::fill_n(first.data() + K, K, static_cast<T>(prior));
        const auto listed = bind::view(start_features);
        const auto begins = std::make_unique_for_overwrite<const T*[]>(model.shape().n_rows());
        std::vector<T> sorted(stride);
        const bool plain = model.weights.stride() == stride && model.weights.order().is_sorted();
        std::size_t at = 0;
        for (std::size_t j = 0; j < model.shape().n_rows(); ++j) {
            const bool there = at < listed.size() && static_cast<std::size_t>(listed[at]) == j;
            const T* const start = there ? start_cells.data() + at * stride : first.data();
            at += there ? 1 : 0;
            if (!plain) model.weights.copy_run(j, sorted.data());
            const T* const own = plain ? model.weights.cell(j) : sorted.data();
            features[n] = static_cast<std::int64_t>(j);
            begins[n] = start;
            n += std::equal(own, own + stride, start) ? 0 : 1;
        }
        runs = std::make_unique_for_overwrite<T[]>(n * stride);
        starts = std::make_unique_for_overwrite<T[]>(n * stride);
        for (std::size_t i = 0; i < n; ++i) {
            model.weights.copy_run(static_cast<std::size_t>(features[i]), runs.get() + i * stride);
            std::copy_n(begins[i], stride, starts.get() + i * stride);
        }
    }
    NewArray<T> after(std::move(runs), {n, stride});
    NewArray<T> before(std::move(starts), {n, stride});
    return {bind::give(std::move(features), n), after.give(), before.give(), prior, rounds};
}

/// What one model has moved, as sums; None where a number is too large for them. `start` has a run
/// for each feature, or one for all.
template <class T>
std::optional<Moves> moves(const Vector<std::int64_t>& features, const Table<T>& cells,
                           const Table<T>& start, std::size_t columns, bool second_order,
                           bool averaged, std::pair<double, double> units,
                           std::pair<double, double> lifetime, std::size_t n_digits) {
    const RunLayout run = run_of(columns, second_order, averaged, cells.shape(1));
    const std::size_t n = features.shape(0);
    const bool shared = start.shape(0) == 1 && n != 1;
    if (cells.shape(0) != n || start.shape(1) != cells.shape(1) ||
        (start.shape(0) != n && !shared)) {
        throw nb::value_error("cells do not fit the features");
    }
    const auto each = [&](auto&& visit) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < columns; ++k) {
                const T* const from = start.data() + (shared ? 0 : i * run.size());
                const Move<T> move{cells.data() + i * run.size(), from, run, k};
                if (move.any())
                    visit(move, features.data()[i] * static_cast<std::int64_t>(columns) +
                                    static_cast<std::int64_t>(k));
            }
        }
    };
    std::size_t found = 0;
    {
        const nb::gil_scoped_release release;
        each([&](const Move<T>&, std::int64_t) { ++found; });
    }
    const std::size_t S = run.n_sums();
    NewArray<std::int64_t> places({found});
    NewArray<std::int64_t> digits({found, S, n_digits});
    NewArray<std::int8_t> tops({found, S});
    NewArray<std::int32_t> counts({found});
    bool finite = true;
    {
        const nb::gil_scoped_release release;
        std::size_t at = 0;
        std::array<double, 5> terms{};
        each([&](const Move<T>& move, std::int64_t place) {
            move.terms({units.first, units.second}, {lifetime.first, lifetime.second}, terms);
            places.data[at] = place;
            counts.data[at] = 1;
            for (std::size_t s = 0; s < S; ++s) {
                const bool fits = std::isfinite(terms[s]);
                finite = finite && fits;
                const std::size_t n = at * S + s;
                Sum{{digits.data.get() + n * n_digits, n_digits}, tops.data[n]}.set(fits ? terms[s]
                                                                                         : 0.0);
            }
            ++at;
        });
    }
    if (!finite) return std::nullopt;
    return Moves{places.give(), digits.give(), tops.give(), counts.give()};
}

/// The sums of both. Places ascend.
Moves add_moves(const MovesView& a, const MovesView& b, std::size_t n_sums) {
    const std::size_t n[2]{std::get<0>(a).shape(0), std::get<0>(b).shape(0)};
    std::size_t D = 0;
    for (const auto* const both : {&a, &b}) {
        const std::size_t terms = std::get<2>(*both).shape(0);
        if (terms != std::get<0>(*both).shape(0) * n_sums ||
            std::get<3>(*both).shape(0) * n_sums != terms) {
            throw nb::value_error("sums do not fit their places");
        }
        const std::size_t each = digits_each(std::get<1>(*both).shape(0), terms);
        if (D != 0 && each != 0 && each != D) throw nb::value_error("sums of other digits");
        D = std::max(D, each);
    }
    const auto own = bind::view(std::get<0>(a));
    const auto its = bind::view(std::get<0>(b));
    const auto walk = [&](auto&& visit) {
        std::size_t i = 0;
        std::size_t j = 0;
        while (i < n[0] || j < n[1]) {
            const bool here = j == n[1] || (i < n[0] && own[i] <= its[j]);
            const bool there = i == n[0] || (j < n[1] && its[j] <= own[i]);
            visit(here ? &i : nullptr, there ? &j : nullptr);
            i += here ? 1 : 0;
            j += there ? 1 : 0;
        }
    };
    std::size_t total = 0;
    {
        const nb::gil_scoped_release release;
        walk([&](const std::size_t*, const std::size_t*) { ++total; });
    }
    NewArray<std::int64_t> places({total});
    NewArray<std::int64_t> digits({total, n_sums, D});
    NewArray<std::int8_t> tops({total, n_sums});
    NewArray<std::int32_t> counts({total});
    const std::size_t width = n_sums * D;
    const auto put = [&](std::size_t at, const MovesView& from, std::size_t i) {
        places.data[at] = std::get<0>(from).data()[i];
        counts.data[at] = std::get<3>(from).data()[i];
        std::copy_n(std::get<1>(from).data() + i * width, width, digits.data.get() + at * width);
        std::copy_n(std::get<2>(from).data() + i * n_sums, n_sums, tops.data.get() + at * n_sums);
    };
    {
        const nb::gil_scoped_release release;
        std::size_t at = 0;
        walk([&](const std::size_t* i, const std::size_t* j) {
            put(at, i != nullptr ? a : b, i != nullptr ? *i : *j);
            if (i != nullptr && j != nullptr) {
                counts.data[at] += std::get<3>(b).data()[*j];
                for (std::size_t s = 0; s < n_sums; ++s) {
                    Sum{{digits.data.get() + at * width + s * D, D}, tops.data[at * n_sums + s]}
                        .add({std::get<1>(b).data() + *j * width + s * D, D},
                             std::get<2>(b).data()[*j * n_sums + s], 1);
                }
            }
            ++at;
        });
    }
    return {places.give(), digits.give(), tops.give(), counts.give()};
}

/// Puts what sums come to into runs that are at their start; those of features[i] are line i.
template <class T>
void settle(const WritableTable<T>& cells, const Vector<std::int64_t>& features,
            const MovesView& all, std::size_t columns, bool second_order, bool averaged,
            std::pair<double, double> units, std::pair<double, double> lifetime, double tau) {
    const RunLayout run = run_of(columns, second_order, averaged, cells.shape(1));
    const auto& [places, digits, tops, counts] = all;
    const std::size_t S = run.n_sums();
    const std::size_t D = digits_each(digits.shape(0), tops.shape(0));
    if (cells.shape(0) != features.shape(0) || tops.shape(0) != places.shape(0) * S ||
        counts.shape(0) != places.shape(0)) {
        throw nb::value_error("sums do not fit their places");
    }
    const Settling<T> settling{
        run, {units.first, units.second}, {lifetime.first, lifetime.second}, tau};
    const auto K = static_cast<std::int64_t>(columns);
    const nb::gil_scoped_release release;
    std::size_t line = 0;
    std::array<double, 5> sums{};
    for (std::size_t i = 0; i < places.shape(0); ++i) {
        const std::int64_t feature = places.data()[i] / K;
        while (line < features.shape(0) && features.data()[line] < feature) ++line;
        if (line == features.shape(0) || features.data()[line] != feature) return;
        for (std::size_t s = 0; s < S; ++s) {
            const std::size_t at = i * S + s;
            sums[s] = Sum::value({digits.data() + at * D, D}, tops.data()[at]);
        }
        settling.apply(cells.data() + line * run.size(),
                       static_cast<std::size_t>(places.data()[i] % K), sums,
                       static_cast<double>(counts.data()[i]));
    }
}

/// What one model has moved: features, their runs, where these started (one run: all from the
/// same), units and lifetime.
template <class T>
using RunsView = std::tuple<Vector<std::int64_t>, Table<T>, Table<T>, std::pair<double, double>,
                            std::pair<double, double>>;

template <class T>
[[nodiscard]] MovedRuns<T> moved_runs(const RunsView<T>& moved, const Shape& shape) {
    const auto& [features, cells, start, units, life] = moved;
    const std::size_t n = features.shape(0);
    const bool shared = start.shape(0) == 1 && n != 1;
    if (cells.shape(0) != n || (start.shape(0) != n && !shared) ||
        cells.shape(1) != shape.stride() || start.shape(1) != shape.stride()) {
        throw nb::value_error("cells do not fit the features");
    }
    for (const std::int64_t j : bind::view(features)) {
        const bool inside = j >= 0 && static_cast<std::size_t>(j) < shape.n_rows();
        if (!inside) throw nb::index_error("feature out of range");
    }
    return {bind::view(features),
            cells.data(),
            start.data(),
            shared ? 0 : shape.stride(),
            {units.first, units.second},
            {life.first, life.second}};
}

/// Puts what models have moved into weights that are at their start. False if a number does not
/// fit.
template <class T>
bool settle_runs(Model<Diagonal<T>>& model, const std::vector<RunsView<T>>& moved,
                 std::pair<double, double> units, std::pair<double, double> lifetime, double tau,
                 std::size_t threads) {
    const Shape& shape = model.shape();
    if (model.weights.stride() != shape.stride() || !model.weights.order().is_sorted()) {
        throw nb::value_error("weights without spare columns expected");
    }
    std::vector<MovedRuns<T>> models;
    for (const auto& one : moved) models.push_back(moved_runs(one, shape));
    const Settling<T> settling{{shape.n_columns, shape.second_order, shape.averaged},
                               {units.first, units.second},
                               {lifetime.first, lifetime.second},
                               tau};
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    const MovesMerger<T> merger(models, settling);
    std::atomic<bool> finite = true;
    const auto settle_part = [&](std::size_t begin, std::size_t end) {
        const auto run_of = [&](std::size_t j) { return model.weights.cell(j); };
        const auto first = static_cast<std::int64_t>(begin);
        if (!merger.run(first, static_cast<std::int64_t>(end), run_of)) finite = false;
    };
    parallel_for(shape.n_rows(), threads, settle_part);
    model.weights.forget_bounds();
    model.weights.set_rounds(static_cast<std::uint64_t>(lifetime.first + lifetime.second));
    return finite;
}

template <class T>
void bind_moves(nb::module_& m) {
    m.def("moved_since", &moved_since<T>, nb::arg("weights"), nb::arg("start_features").noconvert(),
          nb::arg("start_cells").noconvert(),
          "(features whose runs differ from the start, their runs, those of the start, prior, "
          "rounds).");
    m.def("settle_runs", &settle_runs<T>, nb::arg("weights"), nb::arg("moved"), nb::arg("units"),
          nb::arg("lifetime"), nb::arg("tau"), nb::arg("threads"),
          "Put what models have moved into weights that are at their start; do all numbers fit?");
    m.def("moves", &moves<T>, nb::arg("features").noconvert(), nb::arg("cells").noconvert(),
          nb::arg("start").noconvert(), nb::arg("columns"), nb::arg("second_order"),
          nb::arg("averaged"), nb::arg("units"), nb::arg("lifetime"), nb::arg("n_digits"),
          "(places, digits, tops, counts) of the weights that one model has moved; None where a "
          "number is not finite.");
    m.def("settle", &settle<T>, nb::arg("cells").noconvert(), nb::arg("features").noconvert(),
          nb::arg("moves"), nb::arg("columns"), nb::arg("second_order"), nb::arg("averaged"),
          nb::arg("units"), nb::arg("lifetime"), nb::arg("tau"),
          "Put what moves come to into runs that are at their start.");
}

/// The inverse of a symmetric matrix, or None where it is not positive definite.
std::optional<Doubles> inverse(const Square& matrix) {
    const std::size_t n = matrix.shape(0);
    if (matrix.shape(1) != n) throw nb::value_error("a square expected");
    NewArray<double> work({n, n});
    NewArray<double> out({n, n});
    bool definite = false;
    {
        const nb::gil_scoped_release release;
        std::copy_n(matrix.data(), n * n, work.data.get());
        const Symmetric factor{{work.data.get(), n * n}, n};
        definite = factor.factor();
        if (definite) factor.invert_factor({{out.data.get(), n * n}, n});
    }
    if (!definite) return std::nullopt;
    return out.give();
}

/// The product of a symmetric matrix and a vector.
Doubles applied(const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& matrix,
                const Vector<double>& x) {
    const std::size_t n = matrix.shape(0);
    if (matrix.shape(1) != n || x.shape(0) != n) throw nb::value_error("shapes do not fit");
    NewArray<double> out({n});
    {
        const nb::gil_scoped_release release;
        const Symmetric square{{matrix.data(), n * n}, n};
        square.apply(bind::view(x), {out.data.get(), n});
    }
    return out.give();
}

}  // namespace

void bind_merge(nb::module_& m) {
    m.attr("EMPTY_SUM") = static_cast<int>(Sum::empty);
    m.def("cut", &cut, nb::arg("numbers").noconvert(), nb::arg("n_digits"),
          "(digits, tops) of sums of one number each.");
    m.def("add_sums", &add, nb::arg("digits").noconvert(), nb::arg("tops").noconvert(),
          nb::arg("places").noconvert(), nb::arg("other_digits").noconvert(),
          nb::arg("other_tops").noconvert(), nb::arg("times"),
          "Add lines of sums, so many times, to the lines in these places.");
    m.def("sum_values", &values, nb::arg("digits").noconvert(), nb::arg("tops").noconvert(),
          "What sums come to.");
    bind_moves<float>(m);
    bind_moves<double>(m);
    m.def("add_moves", &add_moves, nb::arg("a"), nb::arg("b"), nb::arg("n_sums"),
          "The sums of both.");
    m.def("inverse", &inverse, nb::arg("matrix").noconvert(),
          "Inverse of a symmetric matrix; None where it is not positive definite.");
    m.def("applied", &applied, nb::arg("matrix").noconvert(), nb::arg("x").noconvert(),
          "Product of a symmetric matrix and a vector.");
}

}  // namespace surelearn::bind
