// Bindings: compressed, dense and dict rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "surelearn/own_features.hpp"
#include "surelearn/row_parts.hpp"

namespace surelearn::bind {

namespace {

void check_width(std::size_t n_features) {
    if (n_features > most_features)
        throw nb::value_error("rows must have fewer than 2**31 columns");
}

/// Rows that look at this matrix; its arrays are theirs or kept alive by the owners.
template <class M>
void adopt(Rows& rows, M matrix, std::vector<nb::object> owners) {
    {
        const nb::gil_scoped_release release;
        rows.fault = matrix.inspect();
    }
    rows.matrix = matrix;
    rows.owners = std::move(owners);
}

template <class Index, class Value>
std::unique_ptr<Rows> from_csr(const Vector<Index>& start, const Vector<Index>& index,
                               const Vector<Value>& value, std::size_t n_features) {
    check_width(n_features);
    auto rows = std::make_unique<Rows>(Matrix<std::int32_t, Value>({}, n_features, 0));
    const auto starts = as(start, rows->own->start);
    const auto indices = as(index, rows->own->index);
    adopt(*rows, Matrix<std::int32_t, Value>(starts, indices, view(value), n_features),
          {nb::cast(start), nb::cast(index), nb::cast(value)});
    return rows;
}

template <class Value>
using Table2 = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
std::unique_ptr<Rows> from_dense(const Table2<Value>& x) {
    check_width(x.shape(1));
    const Matrix<std::int32_t, Value> matrix(std::span(x.data(), x.size()), x.shape(1), x.shape(0));
    auto rows = std::make_unique<Rows>(matrix);
    adopt(*rows, matrix, {nb::cast(x)});
    return rows;
}

/// One row from {feature: value}. A key or value of the wrong kind raises TypeError, one that is
/// too large OverflowError.
std::unique_ptr<Rows> from_dict(const nb::dict& x, std::size_t n_features) {
    check_width(n_features);
    auto rows = std::make_unique<Rows>(Matrix<std::int32_t, double>({}, n_features, 0));
    const auto size = static_cast<std::size_t>(PyDict_Size(x.ptr()));
    rows->own->index.reserve(size);
    rows->own->value.reserve(size);
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(x.ptr(), &place, &key, &value) != 0) {
        // Held on to: converting a value of the user's own type may run code of the user's.
        const nb::object held_key = nb::borrow(key);
        const nb::object held_value = nb::borrow(value);
        const long long feature = PyLong_AsLongLong(key);
        if (feature == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
        rows->own->index.push_back(
            std::in_range<std::int32_t>(feature) ? static_cast<std::int32_t>(feature) : -1);
        rows->own->value.push_back(PyFloat_AsDouble(value));
        if (rows->own->value.back() == -1.0 && PyErr_Occurred() != nullptr)
            throw nb::python_error();
        if (static_cast<std::size_t>(PyDict_Size(x.ptr())) != size) {
            throw nb::type_error("the dict changed while it was read");
        }
    }
    rows->own->start = {0, static_cast<std::int64_t>(rows->own->index.size())};
    Matrix<std::int32_t, double> matrix(rows->own->start, rows->own->index, rows->own->value,
                                        n_features);
    rows->fault = matrix.inspect();
    rows->matrix = matrix;
    return rows;
}

/// Some rows under the numbers of their own features, and these; None where most features are
/// among them. Values are read in place.
std::optional<std::pair<nb::ndarray<nb::numpy, std::int64_t>, std::unique_ptr<Rows>>> with_own(
    nb::handle self, std::size_t begin, std::size_t end) {
    const auto& rows = nb::cast<const Rows&>(self);
    if (begin > end || end > rows.size()) throw nb::index_error("no such rows");
    return std::visit(
        [&](const auto& matrix) -> std::optional<std::pair<nb::ndarray<nb::numpy, std::int64_t>,
                                                           std::unique_ptr<Rows>>> {
            if (matrix.dense()) return std::nullopt;
            OwnFeatures<std::int32_t> own;
            {
                const nb::gil_scoped_release release;
                own = own_features(matrix, begin, end);
            }
            if (own.start.empty()) return std::nullopt;
            auto some = std::make_unique<Rows>(matrix);
            some->own->start = std::move(own.start);
            some->own->index = std::move(own.index);
            some->matrix =
                matrix.renumbered(begin, some->own->start, some->own->index, own.features.size());
            some->owners = {nb::borrow(self)};
            return std::pair{give(std::move(own.features)), std::move(some)};
        },
        rows.matrix);
}

std::optional<std::size_t> values_in(const Rows& rows, std::size_t begin, std::size_t end) {
    if (begin > end || end > rows.size()) throw nb::index_error("no such rows");
    return std::visit(
        [&](const auto& matrix) -> std::optional<std::size_t> {
            if (matrix.dense()) return std::nullopt;
            return matrix.begin_of(end) - matrix.begin_of(begin);
        },
        rows.matrix);
}

/// Whether each row has no value other than 0, stored or not.
nb::ndarray<nb::numpy, bool> are_empty(const Rows& rows) {
    NewArray<bool> found({rows.size()});
    std::visit(
        [&](const auto& matrix) {
            typename std::remove_cvref_t<decltype(matrix)>::Buffer buffer;
            for (std::size_t i = 0; i < matrix.size(); ++i) {
                const auto row = matrix.row(i, buffer);
                found.data[i] = std::ranges::all_of(row.value, [](auto x) { return x == 0; });
            }
        },
        rows.matrix);
    return found.give();
}

std::optional<std::pair<std::string, std::size_t>> fault_of(const Rows& rows) {
    constexpr std::array names{"none", "not finite", "bad index", "bad start"};
    if (!rows.fault) return std::nullopt;
    return std::pair{std::string(names[static_cast<std::size_t>(rows.fault.kind)]), rows.fault.row};
}

/// Rows that look at a part of others, or at a copy of some.
template <class F>
[[nodiscard]] std::unique_ptr<Rows> made_of(const Rows& rows, F&& f) {
    auto made = std::make_unique<Rows>(
        std::visit([&](const auto& matrix) { return AnyMatrix(f(matrix)); }, rows.matrix));
    made->owners = rows.owners;
    made->own = rows.own;
    return made;
}

std::unique_ptr<Rows> part_of(const Rows& rows, std::size_t begin, std::size_t end) {
    if (begin > end || end > rows.size()) throw nb::index_error("rows beyond the end");
    return made_of(rows, [&](const auto& matrix) { return matrix.part(begin, end); });
}

std::unique_ptr<Rows> take(const Rows& rows, const Vector<std::int64_t>& numbers) {
    for (const std::int64_t i : view(numbers)) {
        if (i < 0 || static_cast<std::size_t>(i) >= rows.size()) {
            throw nb::index_error("rows beyond the end");
        }
    }
    return made_of(rows, [&](const auto& matrix) {
        const nb::gil_scoped_release release;
        return matrix.take(view(numbers));
    });
}

std::shared_ptr<const ColumnUnits> units_of(const Rows& rows, const Vector<double>& centre,
                                            const Vector<double>& factor, bool whole) {
    const std::size_t n_features =
        std::visit([](const auto& matrix) { return matrix.n_features(); }, rows.matrix);
    const bool fits = whole ? centre.size() == n_features : centre.size() <= n_features;
    if (centre.size() != factor.size() || !fits) throw nb::value_error("units must fit the rows");
    auto units = std::make_shared<ColumnUnits>();
    units->centre.assign(view(centre).begin(), view(centre).end());
    units->factor.assign(view(factor).begin(), view(factor).end());
    units->whole = whole;
    return units;
}

/// Rows in units of their columns. Dense rows are read in place, so these keep what they read.
std::unique_ptr<Rows> in_units(const Rows& rows, const Vector<double>& centre,
                               const Vector<double>& factor, bool whole) {
    const auto units = units_of(rows, centre, factor, whole);
    Fault fault;
    auto made = made_of(rows, [&](const auto& matrix) {
        const nb::gil_scoped_release release;
        if (matrix.dense() && units->centre.size() != matrix.n_features()) {
            throw nb::value_error("units must fit the rows");
        }
        return matrix.in_units(units, fault);
    });
    made->fault = fault;
    return made;
}

/// An array whose numbers are replaced.
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void add_moments(const Rows& rows, std::size_t begin, std::size_t end, const Numbers& n,
                 const Numbers& mean, const Numbers& square, bool centred) {
    if (begin > end || end > rows.size()) throw nb::index_error("no such rows");
    if (n.size() != mean.size() || n.size() != square.size()) {
        throw nb::value_error("moments must be of one length");
    }
    const auto span = [](const Numbers& array) { return std::span(array.data(), array.size()); };
    const ColumnMoments moments{span(n), span(mean), span(square), centred};
    const nb::gil_scoped_release release;
    std::visit(
        [&](const auto& matrix) {
            if (n.size() > matrix.n_features()) throw nb::value_error("moments must fit the rows");
            moments.add_rows(matrix, begin, end);
        },
        rows.matrix);
}

/// A part as it is given: starts, features, values, offset, weight.
template <class Value>
using GivenPart =
    std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<Value>, std::int32_t, double>;

/// Starts, features and values of the rows that these parts make.
template <class Value>
auto join_rows(const std::vector<GivenPart<Value>>& given, std::size_t n_rows) {
    std::vector<RowPart<Value>> parts;
    parts.reserve(given.size());
    for (const auto& [start, index, value, offset, weight] : given) {
        if (start.shape(0) != n_rows + 1 || index.shape(0) != value.shape(0) ||
            view(start).back() != static_cast<std::int64_t>(index.shape(0))) {
            throw nb::value_error("parts must have the same rows");
        }
        parts.push_back({view(start), view(index), view(value), offset, weight});
    }
    CountRows<Value> rows;
    std::vector<std::int64_t> starts{0};
    {
        const nb::gil_scoped_release release;
        rows = RowJoiner<Value>().join(parts, n_rows);
        starts.insert(starts.end(), rows.ends.begin(), rows.ends.end());
    }
    return std::tuple{give(std::move(starts)), give(std::move(rows.features)),
                      give(std::move(rows.values))};
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Rows> rows(m, "Rows", "Rows of a matrix, read in place; fault tells what is wrong.");
    const auto csr = [&]<class Index, class Value>() {
        rows.def_static("csr", &from_csr<Index, Value>, nb::arg("start").noconvert(),
                        nb::arg("index").noconvert(), nb::arg("value").noconvert(),
                        nb::arg("n_features"));
    };
    csr.operator()<std::int32_t, float>();
    csr.operator()<std::int32_t, double>();
    csr.operator()<std::int64_t, float>();
    csr.operator()<std::int64_t, double>();
    rows.def_static("dense", &from_dense<float>, nb::arg("x").noconvert());
    rows.def_static("dense", &from_dense<double>, nb::arg("x").noconvert());
    rows.def_static("from_dict", &from_dict, nb::arg("x"), nb::arg("n_features"),
                    nb::sig("def from_dict(x: dict[int, float], n_features: int) -> Rows"));
    rows.def_prop_ro("fault", &fault_of, "(kind, row) of the first fault found, or None.");
    rows.def(
        "with_own_features", &with_own, nb::arg("begin"), nb::arg("end"),
        "(features that occur in rows [begin, end), these rows under their places among them); "
        "None where most do.");
    rows.def("n_values", &values_in, nb::arg("begin"), nb::arg("end"),
             "How many values other than 0 rows [begin, end) have; None of dense ones.");
    rows.def("are_empty", &are_empty, "Whether each row has no value other than 0.");
    rows.def("__len__", &Rows::size);
    rows.def("part", &part_of, nb::arg("begin"), nb::arg("end"),
             "Sound rows from one number up to another, in place.");
    rows.def("in_units", &in_units, nb::arg("centre").noconvert(), nb::arg("factor").noconvert(),
             nb::arg("whole"),
             "Sound rows with z = (x - centre) * factor in the first columns; `whole`: also where "
             "nothing is stored. Check `fault` again.");
    rows.def(
        "add_moments", &add_moments, nb::arg("begin"), nb::arg("end"), nb::arg("n").noconvert(),
        nb::arg("mean").noconvert(), nb::arg("square").noconvert(), nb::arg("centred"),
        "Take rows [begin, end) into the number, mean and sum of squares about the mean of the "
        "entries of the first columns, in place.");
    rows.def("take", &take, nb::arg("numbers").noconvert(), "Copies of some sound rows.");
    m.def("join_rows32", &join_rows<float>, nb::arg("parts"), nb::arg("n_rows"),
          "(starts, features, values) of rows from parts (starts, features, values, offset, "
          "weight): features ascend, values of one feature are summed.");
    m.def("join_rows64", &join_rows<double>, nb::arg("parts"), nb::arg("n_rows"));
}

}  // namespace surelearn::bind
