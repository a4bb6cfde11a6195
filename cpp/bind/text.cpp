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

/// (ends of rows, features, values, place of a text that cannot be encoded or -1)
template <class T>
using Rows3 = std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int32_t>,
                         nb::ndarray<nb::numpy, T>, std::int64_t>;

/// All parts as one: the rows of the first, then those of the others.
template <class T>
[[nodiscard]] CountRows<T> joined(std::vector<HashedPart<T>>& parts) {
    CountRows<T> all = std::move(parts[0].rows);
    for (HashedPart<T>& part : std::span(parts).subspan(1)) {
        const auto shift = static_cast<std::int64_t>(all.values.size());
        for (const std::int64_t end : part.rows.ends) all.ends.push_back(end + shift);
        all.features.insert(all.features.end(), part.rows.features.begin(),
                            part.rows.features.end());
        all.values.insert(all.values.end(), part.rows.values.begin(), part.rows.values.end());
        part.rows = {};
    }
    return all;
}

template <class T>
[[nodiscard]] Rows3<T> transform(Hasher& self, const Texts& texts, std::size_t threads) {
    CountRows<T> rows;
    std::int64_t failed = -1;
    {
        const nb::gil_scoped_release release;
        std::unique_lock<std::mutex> lock(self.naming, std::defer_lock);
        Names* const names = self.names ? &*self.names : nullptr;
        if (names != nullptr) lock.lock();
        auto parts = hash_in_parts<T>(texts.texts, self.analysis, self.counting, threads, names);
        for (const auto& part : parts) {
            if (failed >= 0 || part.failed == no_text) continue;
            failed = static_cast<std::int64_t>(part.begin + part.failed);
        }
        rows = joined(parts);
    }
    return {give(std::move(rows.ends)), give(std::move(rows.features)),
            give(std::move(rows.values)), failed};
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
