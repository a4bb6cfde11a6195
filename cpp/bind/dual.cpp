// Dual weights for Python. They have no lock: a model that others read is copied before it learns.
#include "surelearn/dual.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include "weights.hpp"

namespace surelearn::bind {

namespace {

using Matrix2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A block whose rows and support points all have kernel values.
KernelBlock kernel_block(const Dual& dual, const Matrix2& values, const Vector<double>& norms,
                         const Vector<std::int64_t>& own, const Vector<std::int64_t>& columns) {
    const std::size_t n = values.shape(0);
    if (n == 0 || norms.shape(0) != n || own.shape(0) != n) {
        throw nb::value_error("a row for each row expected");
    }
    const auto has_column = [&](std::int64_t point) {
        if (point < 0 || static_cast<std::size_t>(point) >= columns.shape(0)) return false;
        const std::int64_t column = columns.data()[point];
        return column >= 0 && static_cast<std::size_t>(column) < values.shape(1);
    };
    if (!std::ranges::all_of(dual.points(), has_column) ||
        !std::ranges::all_of(view(own), has_column)) {
        throw nb::value_error("a column for each point expected");
    }
    return {{values.data(), n * values.shape(1)}, view(norms), view(own), view(columns)};
}

/// The rows of a block that belong to the problem, and their labels 0 and 1.
struct Problem {
    std::vector<std::int64_t> order;
    std::vector<std::int32_t> y;

    explicit Problem(std::span<const std::int8_t> sides) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            y.push_back(sides[i] > 0 ? 1 : 0);
            if (sides[i] != 0) order.push_back(static_cast<std::int64_t>(i));
        }
    }
};

/// Learns the rows of a block, and writes the score that each had before; those on neither side are
/// scored only. Tells whether a row was refused.
bool learn(Dual& dual, const AnyRule& rule, const Matrix2& values, const Vector<double>& norms,
           const Vector<std::int64_t>& own, const Vector<std::int64_t>& columns,
           const Vector<std::int8_t>& y, const std::optional<Vector<double>>& weight,
           const Writable<std::uint64_t>& done, const Writable<double>& scores,
           std::size_t threads) {
    const KernelBlock block = kernel_block(dual, values, norms, own, columns);
    const std::size_t n = block.size();
    if (y.shape(0) != n || scores.shape(0) != n || (weight && weight->shape(0) != n)) {
        throw nb::value_error("a label for each row expected");
    }
    const Problem problem(view(y));
    const Method method{rule, Projection::precision, {}};
    const Targets targets{problem.y, {view(weight), problem.order}, {}};
    dual.set_threads(threads);
    const nb::gil_scoped_release release;
    Pass<Dual, KernelBlock> pass(dual, method, block, targets, 0, problem.order.size());
    std::size_t next = 0;
    KernelBlock::Buffer buffer;
    for (std::size_t i = 0; i < n; ++i) {
        scores.data()[i] = dual.score(block.row(i, buffer));
        if (y.data()[i] != 0) {
            const Tally part = pass.run(++next);
            done.data()[1] += part.mistakes;
            done.data()[2] += part.updates;
            if (part.refused) return true;
        }
        ++done.data()[0];
    }
    return false;
}

/// Views of the memory of a problem; they must not be read once it learns on.
template <class T>
nb::ndarray<nb::numpy, const T> shown(std::span<const T> numbers) {
    return nb::ndarray<nb::numpy, const T>(numbers.data(), {numbers.size()});
}

/// Empty without a covariance.
nb::ndarray<nb::numpy, const double> pi_of(const Dual& dual) {
    const std::size_t n = dual.shape().second_order ? dual.size() : 0;
    const std::array shape{n, n};
    const std::array strides{static_cast<std::int64_t>(dual.capacity()), std::int64_t{1}};
    const double* const first = n == 0 ? nullptr : dual.line(0).data();
    return nb::ndarray<nb::numpy, const double>(first, 2, shape.data(), {}, strides.data());
}

/// c and gain of each support point.
nb::ndarray<nb::numpy, const double> sites_of(const Dual& dual) {
    static_assert(sizeof(Site) == 2 * sizeof(double));
    const auto* const first = reinterpret_cast<const double*>(dual.sites().data());
    return nb::ndarray<nb::numpy, const double>(first, {dual.size(), 2});
}

[[nodiscard]] Dual dual_of(double prior, bool second_order, std::size_t budget) {
    return Dual(Shape{.intercept = false, .second_order = second_order, .prior = prior}, budget);
}

std::unique_ptr<Dual> restored(double prior, bool second_order, std::size_t budget,
                               const Vector<std::int64_t>& points, const Vector<double>& nu,
                               const Matrix2& pi, const Matrix2& sites, std::uint64_t rounds) {
    const std::size_t n = points.shape(0);
    const std::size_t width = second_order ? n : 0;
    if (nu.shape(0) != n || pi.shape(0) != width || pi.shape(1) != width || sites.shape(0) != n ||
        sites.shape(1) != 2) {
        throw nb::value_error("nu, pi and sites do not fit the points");
    }
    auto dual = std::make_unique<Dual>(dual_of(prior, second_order, budget));
    for (std::size_t p = 0; p < n; ++p) {
        const Site site{sites.data()[2 * p], sites.data()[2 * p + 1]};
        dual->restore(points.data()[p], nu.data()[p], site, {pi.data() + p * width, width});
    }
    dual->set_rounds(rounds);
    return dual;
}

void renumber(Dual& dual, const Vector<std::int64_t>& numbers) {
    const auto inside = [&](std::int64_t p) {
        return p >= 0 && static_cast<std::size_t>(p) < numbers.shape(0);
    };
    if (!std::ranges::all_of(dual.points(), inside)) throw nb::index_error("point out of range");
    dual.renumber(view(numbers));
}

}  // namespace

void bind_dual(nb::module_& m) {
    nb::class_<Dual> dual(m, "Dual", "One problem in dual form: nu and pi over support points.");
    dual.def(
        "__init__",
        [](Dual* self, double prior, bool second_order, std::size_t budget) {
            new (self) Dual(dual_of(prior, second_order, budget));
        },
        nb::arg("prior"), nb::kw_only(), nb::arg("second_order"), nb::arg("budget"));
    dual.def_static("restored", &restored, nb::arg("prior"), nb::arg("second_order"),
                    nb::arg("budget"), nb::arg("points").noconvert(), nb::arg("nu").noconvert(),
                    nb::arg("pi").noconvert(), nb::arg("sites").noconvert(), nb::arg("rounds"));
    dual.def("copy", [](const Dual& self) { return std::make_unique<Dual>(self.copy()); });
    dual.def("learn", &learn, nb::arg("rule"), nb::arg("values").noconvert(),
             nb::arg("norms").noconvert(), nb::arg("own").noconvert(),
             nb::arg("columns").noconvert(), nb::arg("y").noconvert(),
             nb::arg("weight").noconvert().none(), nb::arg("done").noconvert(),
             nb::arg("scores").noconvert(), nb::arg("threads"),
             "Learn a block of kernel values, with the score of each row before; was one refused?");
    dual.def("renumber", &renumber, nb::arg("numbers").noconvert());
    dual.def_prop_ro("points", [](const Dual& self) { return shown(self.points()); });
    dual.def_prop_ro("nu", [](const Dual& self) { return shown(self.nu()); });
    dual.def_prop_ro("pi", &pi_of);
    dual.def_prop_ro("sites", &sites_of);
    dual.def_prop_ro("size", &Dual::size);
    dual.def_prop_ro("prior", &Dual::prior);
    dual.def_prop_ro("rounds", &Dual::rounds);
}

}  // namespace surelearn::bind
