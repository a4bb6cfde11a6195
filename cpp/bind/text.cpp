// Bindings: texts to hashed rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>

#include "bind.hpp"
#include "surelearn/hashing.hpp"
#include "surelearn/rw_lock.hpp"

namespace surelearn::bind {

namespace {

/// A str as it lies in the interpreter's memory.
[[nodiscard]] Text text_of(nb::handle object, bool lower) {
    if (!PyUnicode_Check(object.ptr())) throw nb::type_error("texts must be str");
    PyObject* const text = object.ptr();
    return {PyUnicode_DATA(text), static_cast<std::size_t>(PyUnicode_GET_LENGTH(text)),
            static_cast<unsigned>(PyUnicode_KIND(text)), PyUnicode_IS_ASCII(text) != 0, lower};
}

/// Texts of Python's, looked at once and kept alive while they are read.
struct Texts {
    std::vector<Text> texts;
    std::vector<nb::object> owners;

    /// The numbers of texts that are more than ASCII, which only the interpreter can make small.
    [[nodiscard]] std::vector<std::size_t> others() const {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (!texts[i].ascii) numbers.push_back(i);
        }
        return numbers;
    }

    [[nodiscard]] std::size_t longest() const {
        std::size_t size = 0;
        for (const Text& text : texts) size = std::max(size, text.size);
        return size;
    }

    /// Puts a str that needs nothing more in the place of a text.
    void replace(std::size_t i, const nb::object& text) {
        texts.at(i) = text_of(text, false);
        owners.push_back(text);
    }
};

[[nodiscard]] Texts texts_of(const nb::typed<nb::list, nb::str>& list, bool lower) {
    // A copy of the list: another thread may change it while its texts are read.
    const nb::tuple owned(list);
    Texts result;
    result.owners.emplace_back(owned);
    result.texts.reserve(owned.size());
    for (const nb::handle text : owned) result.texts.push_back(text_of(text, lower));
    return result;
}

/// Texts that lie in UTF-8 one after the other, as Arrow has them. One that is more than ASCII has
/// to be replaced before it is read.
template <class Offset>
[[nodiscard]] Texts texts_in(const Vector<Offset>& offsets, const Vector<std::uint8_t>& bytes,
                             bool lower) {
    Texts result;
    result.owners = {nb::cast(offsets), nb::cast(bytes)};
    const auto* const data = reinterpret_cast<const char*>(bytes.data());
    const nb::gil_scoped_release release;
    result.texts.reserve(offsets.shape(0));
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const auto begin = static_cast<std::size_t>(offsets.data()[i]);
        const auto end = static_cast<std::size_t>(offsets.data()[i + 1]);
        if (begin > end || end > bytes.shape(0)) throw nb::index_error("offsets beyond the bytes");
        const std::string_view text(data + begin, end - begin);
        result.texts.push_back({text.data(), text.size(), 1, is_ascii(text), lower});
    }
    return result;
}

struct Hasher {
    Analysis analysis;
    Counting counting;
    std::optional<Alphabet> words;
    std::optional<Alphabet> spaces;
    std::optional<Names> names;
    RwLock naming;
};

/// The lock on names. It is waited for without the GIL: a transform may hold it for seconds.
[[nodiscard]] std::unique_ptr<RwLock::Writer> held(RwLock& lock) {
    const nb::gil_scoped_release release;
    return std::make_unique<RwLock::Writer>(lock);
}

/// Refuses texts that can only be read with alphabets, before there are any.
void check_readable(const Hasher& self, const Texts& texts) {
    const bool plain = self.analysis.unit == Analysis::Unit::word &&
                       std::ranges::all_of(texts.texts, &Text::ascii);
    if (plain || self.words) return;
    throw nb::value_error(
        "use_alphabets must be called before texts beyond ASCII, or characters, are hashed");
}

/// (starts of rows and the end, features, values, place of a text that cannot be encoded or -1)
template <class T>
using Rows3 = std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int32_t>,
                         nb::ndarray<nb::numpy, T>, std::int64_t>;

[[nodiscard]] std::int64_t place_of(std::size_t failed) {
    return failed == no_text ? -1 : static_cast<std::int64_t>(failed);
}

template <class T>
[[nodiscard]] Rows3<T> transform(Hasher& self, const Texts& texts, std::size_t threads) {
    check_readable(self, texts);
    CountRows<T> rows;
    std::size_t failed = no_text;
    {
        const nb::gil_scoped_release release;
        std::optional<RwLock::Writer> lock;
        Names* const names = self.names ? &*self.names : nullptr;
        if (names != nullptr) lock.emplace(self.naming);
        rows.ends.push_back(0);
        failed = hash_all(texts.texts, self.analysis, self.counting, threads, rows, names);
    }
    return {give(std::move(rows.ends)), give(std::move(rows.features)),
            give(std::move(rows.values)), place_of(failed)};
}

/// The rows of some texts and the names met in them, which the hasher does not keep yet: threads
/// may read ahead in any order.
[[nodiscard]] auto transform_apart(const Hasher& self, const Texts& texts) {
    check_readable(self, texts);
    auto names = self.names ? std::make_unique<Names>(self.names->known()) : nullptr;
    CountRows<float> rows;
    std::size_t failed = no_text;
    {
        const nb::gil_scoped_release release;
        reserve<float>(texts.texts, self.analysis, rows);
        rows.ends.push_back(0);
        failed = hash_texts<float>(texts.texts, self.analysis, self.counting, rows, names.get());
    }
    return std::tuple(give(std::move(rows.ends)), give(std::move(rows.features)),
                      give(std::move(rows.values)), place_of(failed), std::move(names));
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

void use_alphabets(Hasher& self, const Vector<std::int64_t>& words,
                   const Vector<std::int64_t>& word_ends, const Vector<std::int64_t>& spaces,
                   const Vector<std::int64_t>& space_ends) {
    const auto lock = held(self.naming);
    if (self.words) return;  // another thread may be reading them
    self.words.emplace(view(words), view(word_ends));
    self.spaces.emplace(view(spaces), view(space_ends));
    self.analysis.words = &*self.words;
    self.analysis.spaces = &*self.spaces;
}

/// (features, ends of their words, words, which of them clash), in the order they were met.
[[nodiscard]] auto names_of(Hasher& self) {
    const auto lock = held(self.naming);
    std::vector<std::int64_t> features;
    std::vector<std::int64_t> ends;
    std::vector<std::uint8_t> shared;
    std::string words;
    for (std::size_t i = 0; self.names && i < self.names->size(); ++i) {
        features.push_back(self.names->feature(i));
        words += self.names->word(i);
        ends.push_back(static_cast<std::int64_t>(words.size()));
        shared.push_back(self.names->shared(i) ? 1 : 0);
    }
    return std::tuple(give(std::move(features)), give(std::move(ends)),
                      nb::bytes(words.data(), words.size()), give(std::move(shared)));
}

/// The word of each feature, or None.
[[nodiscard]] nb::typed<nb::list, nb::object> find_names(
    Hasher& self, const std::vector<std::int64_t>& features) {
    const auto lock = held(self.naming);
    nb::typed<nb::list, nb::object> words;
    for (const std::int64_t feature : features) {
        const bool there = self.names && feature >= 0 && feature < self.counting.n_features;
        const auto word =
            there ? self.names->word_of(static_cast<std::uint32_t>(feature)) : std::string_view{};
        if (word.empty()) {
            words.append(nb::none());
        } else {
            words.append(nb::str(word.data(), word.size()));
        }
    }
    return words;
}

void restore_names(Hasher& self, const Vector<std::int64_t>& features,
                   const Vector<std::int64_t>& ends, const nb::bytes& words,
                   const Vector<std::uint8_t>& shared) {
    Names names;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < features.shape(0); ++i) {
        const auto end = static_cast<std::size_t>(ends.data()[i]);
        const auto feature = static_cast<std::uint64_t>(features.data()[i]);
        if (end < begin || end > words.size() || feature >= self.counting.n_features) {
            throw nb::index_error("names do not fit the features");
        }
        names.restore(static_cast<std::uint32_t>(feature), {words.c_str() + begin, end - begin},
                      shared.data()[i] != 0);
        begin = end;
    }
    const auto lock = held(self.naming);
    self.names.emplace(std::move(names));
}

using Words =
    std::tuple<Vector<std::int64_t>, Vector<std::int64_t>, nb::bytes, Vector<std::uint8_t>>;

[[nodiscard]] NameView view_of(const Words& words) {
    const auto& [features, ends, bytes, shared] = words;
    const std::size_t n = features.shape(0);
    const auto size = static_cast<std::int64_t>(bytes.size());
    const bool whole =
        ends.shape(0) == n && shared.shape(0) == n && (n == 0 ? 0 : ends.data()[n - 1]) == size;
    if (!whole || !std::ranges::is_sorted(bind::view(ends)) || (n > 0 && ends.data()[0] < 0)) {
        throw nb::value_error("names do not fit their features");
    }
    return {
        bind::view(features), bind::view(ends), {bytes.c_str(), bytes.size()}, bind::view(shared)};
}

/// Names of two vectorizers, each in the order of its features, as those of one.
std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int64_t>, nb::bytes,
           nb::ndarray<nb::numpy, std::uint8_t>>
united(const Words& a, const Words& b) {
    NameList both = unite(view_of(a), view_of(b));
    const nb::bytes bytes(both.bytes.data(), both.bytes.size());
    return {give(std::move(both.features)), give(std::move(both.ends)), bytes,
            give(std::move(both.shared))};
}

/// Names of vectorizers, as one that meets their texts one after the other.
std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int64_t>, nb::bytes,
           nb::ndarray<nb::numpy, std::uint8_t>>
met_in_order(const std::vector<Words>& parts) {
    Names names;
    for (const Words& part : parts) {
        const NameView words = view_of(part);
        for (std::size_t i = 0; i < words.features.size(); ++i) {
            names.restore(static_cast<std::uint32_t>(words.features[i]), words.word(i),
                          words.shared[i] != 0);
        }
    }
    NameList all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        all.add(names.feature(i), names.word(i), names.shared(i));
    }
    const nb::bytes bytes(all.bytes.data(), all.bytes.size());
    return {give(std::move(all.features)), give(std::move(all.ends)), bytes,
            give(std::move(all.shared))};
}

std::uint32_t feature_of(const nb::bytes& name, std::uint32_t n_features) {
    std::string padded(name.c_str(), name.size());
    padded.append(hash_padding, '\0');
    return bucket(murmur3(padded.data(), name.size()), n_features);
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<Texts>(m, "Texts", "Texts, read in place.")
        .def("__len__", [](const Texts& self) { return self.texts.size(); })
        .def_prop_ro("longest", &Texts::longest, "Characters of the longest text.")
        .def("others", &Texts::others, "Places of texts that are more than ASCII.")
        .def("replace", &Texts::replace, nb::arg("place"), nb::arg("text"),
             "Put a text that needs nothing more in its place.");
    m.def("texts_of", &texts_of, nb::arg("texts"), nb::arg("lower"), "The texts of a list of str.");
    m.def("texts_in", &texts_in<std::int32_t>, nb::arg("offsets").noconvert(),
          nb::arg("bytes").noconvert(), nb::arg("lower"), "Texts in UTF-8, one after the other.");
    m.def("texts_in", &texts_in<std::int64_t>, nb::arg("offsets").noconvert(),
          nb::arg("bytes").noconvert(), nb::arg("lower"));
    nb::class_<Names>(m, "Names", "Names that were met apart.");
    nb::class_<Hasher>(m, "Hasher", "Texts to rows of hashed n-grams.")
        .def(nb::new_(&make), nb::arg("unit"), nb::arg("least"), nb::arg("most"), nb::arg("stop"),
             nb::arg("n_features"), nb::arg("signs"), nb::arg("binary"), nb::arg("logarithmic"),
             nb::arg("norm"))
        .def("use_alphabets", &use_alphabets, nb::arg("words"), nb::arg("word_ends"),
             nb::arg("spaces"), nb::arg("space_ends"),
             "Which characters are of words and which are spaces, as runs.")
        .def_prop_ro("has_alphabets", [](Hasher& self) { return self.words.has_value(); })
        .def("transform32", &transform<float>, nb::arg("texts"), nb::arg("threads"),
             "(starts of rows, features, values, place of a text without UTF-8 or -1)")
        .def("transform64", &transform<double>, nb::arg("texts"), nb::arg("threads"))
        .def("transform_apart", &transform_apart, nb::arg("texts"),
             "The same in one thread, and the names met, which are left to `meet`.")
        .def(
            "register",
            [](Hasher& self, const Names& names) {
                const auto lock = held(self.naming);
                if (self.names) self.names->absorb(names);
            },
            nb::arg("names"), "Take over names that were met apart, after all that are here.")
        .def("keep_names",
             [](Hasher& self) {
                 const auto lock = held(self.naming);
                 self.names.emplace();
             })
        .def_prop_ro("n_names",
                     [](Hasher& self) {
                         const auto lock = held(self.naming);
                         return self.names ? self.names->size() : 0;
                     })
        .def_prop_ro("clashes",
                     [](Hasher& self) {
                         const auto lock = held(self.naming);
                         return self.names ? self.names->clashes() : 0;
                     })
        .def("find_names", &find_names, nb::arg("features"), "The word of each feature, or None.")
        .def("names", &names_of, "(features, ends, words, clashes) in the order they were met.")
        .def("restore_names", &restore_names, nb::arg("features"), nb::arg("ends"),
             nb::arg("words"), nb::arg("shared"));
    m.def("feature_of", &feature_of, nb::arg("name"), nb::arg("n_features"),
          "The feature that a name in UTF-8 is hashed to.");
    m.def("unite_names", &united, nb::arg("a"), nb::arg("b"),
          "Names in the order of their features, of both: the smaller of two words stays.");
    m.def("names_met_in_order", &met_in_order, nb::arg("parts"),
          "Names of parts that are met one after the other: the first word of a feature stays.");
}

}  // namespace surelearn::bind
