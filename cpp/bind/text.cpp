// Room 1 for Python: texts to hashed rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "bind.hpp"
#include "surelearn/hashing.hpp"

namespace surelearn::bind {

namespace {

/// Texts of Python's, looked at once and kept alive while they are read.
struct Texts {
    std::vector<Text> texts;
    nb::object owner;
};

/// A str as it lies in the interpreter's memory.
[[nodiscard]] Text text_of(PyObject* object) {
    if (!PyUnicode_Check(object)) throw nb::type_error("texts must be str");
    return {PyUnicode_DATA(object), static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)),
            static_cast<unsigned>(PyUnicode_KIND(object)), PyUnicode_IS_ASCII(object) != 0, false};
}

/// `ready` tells which texts have been made small already.
[[nodiscard]] Texts texts_of(const nb::list& list, const Vector<std::uint8_t>& ready, bool lower) {
    Texts result{{}, list};
    result.texts.reserve(nb::len(list));
    for (std::size_t i = 0; i < nb::len(list); ++i) {
        result.texts.push_back(text_of(PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i))));
        result.texts.back().lower = lower && ready.data()[i] == 0;
    }
    return result;
}

struct Hasher {
    Analysis analysis;
    Counting counting;
    std::optional<Alphabet> words;
    std::optional<Alphabet> spaces;
    std::optional<Names> names;
    std::mutex naming;
};

template <class T>
using Rows3 = std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int32_t>,
                         nb::ndarray<nb::numpy, T>, std::int64_t>;

/// (ends of rows, features, values, place of a text that cannot be encoded or -1)
template <class T>
[[nodiscard]] Rows3<T> joined(const std::vector<HashedPart<T>>& parts, std::size_t threads) {
    std::size_t n_rows = 0;
    std::size_t n_values = 0;
    std::int64_t failed = -1;
    for (const auto& part : parts) {
        if (failed < 0 && part.failed != no_text) {
            failed = static_cast<std::int64_t>(part.begin + part.failed);
        }
        n_rows += part.rows.ends.size();
        n_values += part.rows.values.size();
    }
    NewArray<std::int64_t> starts({n_rows + 1});
    NewArray<std::int32_t> features({n_values});
    NewArray<T> values({n_values});
    {
        const nb::gil_scoped_release release;
        std::vector<std::array<std::size_t, 2>> begin(parts.size() + 1, {1, 0});
        for (std::size_t p = 0; p < parts.size(); ++p) {
            begin[p + 1] = {begin[p][0] + parts[p].rows.ends.size(),
                            begin[p][1] + parts[p].rows.values.size()};
        }
        starts.data[0] = 0;
        in_parts(parts.size(), threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t p = first; p < last; ++p) {
                const auto& rows = parts[p].rows;
                const auto [row, value] = begin[p];
                const auto shift = static_cast<std::int64_t>(value);
                std::ranges::transform(rows.ends, starts.data.get() + row,
                                       [&](std::int64_t end) { return end + shift; });
                std::ranges::copy(rows.features, features.data.get() + value);
                std::ranges::copy(rows.values, values.data.get() + value);
            }
        });
    }
    return {starts.give(), features.give(), values.give(), failed};
}

template <class T>
[[nodiscard]] Rows3<T> transform(Hasher& self, const Texts& texts, std::size_t threads) {
    std::vector<HashedPart<T>> parts;
    {
        const nb::gil_scoped_release release;
        std::unique_lock<std::mutex> lock(self.naming, std::defer_lock);
        Names* const names = self.names ? &*self.names : nullptr;
        if (names != nullptr) lock.lock();
        parts = hash_in_parts<T>(texts.texts, self.analysis, self.counting, threads, names);
    }
    return joined(parts, threads);
}

[[nodiscard]] std::unique_ptr<Hasher> make(int unit, std::size_t least, std::size_t most,
                                           const std::vector<std::string>& stop,
                                           std::uint32_t n_features, bool signs, bool binary,
                                           bool logarithmic, int norm) {
    auto hasher = std::make_unique<Hasher>();
    hasher->analysis.unit = static_cast<Analysis::Unit>(unit);
    hasher->analysis.least = least;
    hasher->analysis.most = most;
    hasher->analysis.stop.insert(stop.begin(), stop.end());
    hasher->counting = {n_features, signs, binary, logarithmic, static_cast<Counting::Norm>(norm)};
    return hasher;
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<Texts>(m, "Texts", "Texts, read in place.").def("__len__", [](const Texts& self) {
        return self.texts.size();
    });
    m.def("texts_of", &texts_of, nb::arg("texts"), nb::arg("ready"), nb::arg("lower"),
          "The texts of a list of str.");
    nb::class_<Hasher>(m, "Hasher", "Texts to rows of hashed n-grams.")
        .def(nb::new_(&make), nb::arg("unit"), nb::arg("least"), nb::arg("most"), nb::arg("stop"),
             nb::arg("n_features"), nb::arg("signs"), nb::arg("binary"), nb::arg("logarithmic"),
             nb::arg("norm"))
        .def(
            "use_alphabets",
            [](Hasher& self, const Vector<std::int64_t>& words,
               const Vector<std::int64_t>& word_ends, const Vector<std::int64_t>& spaces,
               const Vector<std::int64_t>& space_ends) {
                self.words.emplace(view(words), view(word_ends));
                self.spaces.emplace(view(spaces), view(space_ends));
                self.analysis.words = &*self.words;
                self.analysis.spaces = &*self.spaces;
            },
            "Which characters are of words and which are spaces, as runs.")
        .def("transform32", &transform<float>, nb::arg("texts"), nb::arg("threads"))
        .def("transform64", &transform<double>, nb::arg("texts"), nb::arg("threads"))
        .def("keep_names", [](Hasher& self) { self.names.emplace(self.counting.n_features); })
        .def_prop_ro("n_names", [](Hasher& self) { return self.names ? self.names->size() : 0; })
        .def_prop_ro("clashes",
                     [](Hasher& self) { return self.names ? self.names->clashes() : 0; });
}

}  // namespace surelearn::bind
