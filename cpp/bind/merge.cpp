// Room 8 for Python: exact sums over arrays, and inverses of covariances. No arithmetic.
#include "surelearn/merge.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>

#include "bind.hpp"

namespace surelearn::bind {

namespace {

template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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
    m.def("inverse", &inverse, nb::arg("matrix").noconvert(),
          "Inverse of a symmetric matrix; None where it is not positive definite.");
    m.def("applied", &applied, nb::arg("matrix").noconvert(), nb::arg("x").noconvert(),
          "Product of a symmetric matrix and a vector.");
}

}  // namespace surelearn::bind
