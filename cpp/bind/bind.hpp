// What the bindings share: array types and how memory changes hands. No arithmetic.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "surelearn/rows.hpp"

namespace surelearn::bind {

namespace nb = nanobind;

/// A one-dimensional array of Python's, read in place.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
[[nodiscard]] std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// A copy of an array of Python's, of any shape.
template <class A>
[[nodiscard]] auto copied(const A& array) {
    return std::vector(array.data(), array.data() + array.size());
}

/// The first `size` numbers of an array whose memory Python takes over.
template <class T>
[[nodiscard]] nb::ndarray<nb::numpy, T> give(std::unique_ptr<T[]>&& array, std::size_t size) {
    T* const raw = array.release();
    const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, {size}, owner);
}

/// A new array that Python owns.
template <class T>
struct NewArray {
    std::unique_ptr<T[]> data;
    std::vector<std::size_t> shape;

    explicit NewArray(std::vector<std::size_t> shape_) : shape(std::move(shape_)) {
        std::size_t size = 1;
        for (const std::size_t n : shape) size *= n;
        data = std::make_unique_for_overwrite<T[]>(size);
    }
    NewArray(std::unique_ptr<T[]>&& data_, std::vector<std::size_t> shape_)
        : data(std::move(data_)), shape(std::move(shape_)) {}

    /// Python's from now on; with a const type read-only.
    template <class U = T>
    [[nodiscard]] nb::ndarray<nb::numpy, U> give() {
        T* const raw = data.release();
        const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::ndarray<nb::numpy, U>(raw, shape.size(), shape.data(), owner);
    }
};

/// A vector whose memory Python takes over.
template <class T, class Allocator>
[[nodiscard]] nb::ndarray<nb::numpy, T> give(std::vector<T, Allocator>&& vector) {
    using Own = std::vector<T, Allocator>;
    auto* const own = new Own(std::move(vector));
    const nb::capsule owner(own, [](void* p) noexcept { delete static_cast<Own*>(p); });
    return nb::ndarray<nb::numpy, T>(own->data(), {own->size()}, owner);
}

/// Numbers of features take 32 bits: code for 64 as well would double what is compiled.
using AnyMatrix = std::variant<Matrix<std::int32_t, float>, Matrix<std::int32_t, double>>;
inline constexpr std::size_t most_features = std::numeric_limits<std::int32_t>::max();

/// An array of integers as the core reads it: in place, or copied to `own` if it has another type.
/// What does not fit becomes -1, which is a fault in every array of this kind.
template <class To, class From>
[[nodiscard]] std::span<const To> as(const Vector<From>& array, std::vector<To>& own) {
    if constexpr (std::same_as<From, To>) {
        return view(array);
    } else {
        own.resize(array.shape(0));
        std::ranges::transform(view(array), own.begin(), [](From number) {
            return std::in_range<To>(number) ? static_cast<To>(number) : To{-1};
        });
        return own;
    }
}

/// Arrays that were converted, or made from a dict.
struct OwnArrays {
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> index;
    std::vector<double> value;
};

/// Rows of Python's arrays, looked at once and kept alive while they are read.
struct Rows {
    AnyMatrix matrix;
    Fault fault;
    std::vector<nb::object> owners;                                  ///< arrays read in place
    std::shared_ptr<OwnArrays> own = std::make_shared<OwnArrays>();  ///< and others

    explicit Rows(AnyMatrix matrix_) : matrix(std::move(matrix_)) {}

    [[nodiscard]] std::size_t size() const {
        return std::visit([](const auto& rows) { return rows.size(); }, matrix);
    }
};

void bind_rows(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_constraints(nb::module_& m);
void bind_diagonal32(nb::module_& m);
void bind_diagonal64(nb::module_& m);
void bind_full(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_probability(nb::module_& m);
void bind_text(nb::module_& m);
void bind_document_counts(nb::module_& m);
void bind_read(nb::module_& m);
void bind_merge(nb::module_& m);
void bind_shards(nb::module_& m);
void bind_tagging(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_candidates(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_graph_learning(nb::module_& m);
void bind_graph_batch(nb::module_& m);

}  // namespace surelearn::bind
