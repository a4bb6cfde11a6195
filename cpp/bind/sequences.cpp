// Bindings: sequences of tokens to sparse rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "surelearn/rw_lock.hpp"
#include "surelearn/templates.hpp"
#include "surelearn/word_forms.hpp"

namespace surelearn::bind {

namespace {

using Lists = nb::typed<nb::list, nb::typed<nb::list, nb::object>>;

/// Where something is not as it must be: (sequence, token). What it is, is said in Python.
using Place = std::optional<std::pair<std::size_t, std::size_t>>;

/// The UTF-8 of a str; nothing if it is none or has a lone surrogate.
[[nodiscard]] std::optional<std::string_view> utf8_of(PyObject* object) {
    if (!PyUnicode_Check(object)) return std::nullopt;
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) {
        PyErr_Clear();
        return std::nullopt;
    }
    return std::string_view(text, static_cast<std::size_t>(size));
}

[[nodiscard]] nb::handle item_of(nb::handle tuple, std::size_t i) {
    return PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i));
}

/// Calls `add` with each token of each sequence, a list, until it says that one is wrong.
template <class Add>
[[nodiscard]] Place walk(const Lists& sequences, std::vector<std::int64_t>& bounds, Add&& add) {
    const nb::tuple owned(sequences);  // what adds may run Python, which may change a list
    std::int64_t n_tokens = 0;
    for (std::size_t i = 0; i < owned.size(); ++i) {
        const nb::tuple tokens(item_of(owned, i));
        for (std::size_t t = 0; t < tokens.size(); ++t) {
            if (!add(item_of(tokens, t).ptr())) return std::pair(i, t);
        }
        n_tokens += static_cast<std::int64_t>(tokens.size());
        bounds.push_back(n_tokens);
    }
    return std::nullopt;
}

// ---------------------------------------------------------------- words

[[nodiscard]] bool add_word(Words& words, std::size_t column, PyObject* word) {
    const auto text = utf8_of(word);
    if (text) words.ids[column].push_back(words.distinct[column].add(*text));
    return text.has_value();
}

[[nodiscard]] bool add_words(Words& words, PyObject* token) {
    const std::size_t n = words.ids.size();
    if (!PyTuple_Check(token)) return n == 1 && add_word(words, 0, token);
    if (static_cast<std::size_t>(PyTuple_GET_SIZE(token)) != n) return false;
    for (std::size_t c = 0; c < n; ++c) {
        if (!add_word(words, c, item_of(token, c).ptr())) return false;
    }
    return true;
}

[[nodiscard]] std::pair<std::unique_ptr<Words>, Place> words_of(const Lists& sequences,
                                                                std::size_t n_columns) {
    auto words = std::make_unique<Words>();
    words->distinct.resize(n_columns);
    words->ids.resize(n_columns);
    const Place wrong =
        walk(sequences, words->bounds, [&](PyObject* token) { return add_words(*words, token); });
    return {std::move(words), wrong};
}

[[nodiscard]] nb::typed<nb::list, nb::str> list_of(const Strings& strings) {
    nb::typed<nb::list, nb::str> list;
    for (std::size_t i = 0; i < strings.size(); ++i) {
        list.append(nb::str(strings[i].data(), strings[i].size()));
    }
    return list;
}

[[nodiscard]] View plain_view(const Words& words, std::size_t column) {
    View view{column, {}, {}};
    const Strings& distinct = words.distinct.at(column).names();
    for (std::size_t i = 0; i < distinct.size(); ++i) {
        view.of_word.push_back(static_cast<std::int32_t>(i));
        view.texts.add(escaped(distinct[i]));
    }
    return view;
}

[[nodiscard]] std::string_view value_at(const nb::list& values, std::size_t i) {
    if (i >= values.size()) throw nb::index_error("there must be a value for each word");
    const auto text = utf8_of(PyList_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(i)));
    if (!text) throw nb::type_error("a value must be a str without surrogates");
    return *text;
}

/// Steps as Python has them: (place of the kind, size).
using Steps = std::vector<std::pair<std::uint8_t, std::size_t>>;

[[nodiscard]] std::vector<WordForm> steps_of(const Steps& given) {
    std::vector<WordForm> steps;
    for (const auto& [kind, size] : given) {
        steps.push_back({static_cast<WordForm::Kind>(kind), size});
    }
    return steps;
}

/// The words of a column for which Python has to take these steps.
[[nodiscard]] nb::typed<nb::list, nb::str> words_beyond(const Words& words, std::size_t column,
                                                        const Steps& given) {
    const auto steps = steps_of(given);
    const Strings& distinct = words.distinct.at(column).names();
    Strings beyond;
    for (std::size_t i = 0; i < distinct.size(); ++i) {
        std::string word(distinct[i]);
        if (!apply_all(steps, word)) beyond.add(distinct[i]);
    }
    return list_of(beyond);
}

/// What steps make of each word: Python's values for the words beyond, in their order.
[[nodiscard]] View stepped_view(const Words& words, std::size_t column, const Steps& given,
                                const nb::typed<nb::list, nb::str>& values) {
    const auto steps = steps_of(given);
    const Strings& distinct = words.distinct.at(column).names();
    View view{column, {}, {}};
    Dictionary texts;
    std::size_t n_used = 0;
    for (std::size_t i = 0; i < distinct.size(); ++i) {
        std::string word(distinct[i]);
        if (!apply_all(steps, word)) word = value_at(values, n_used++);
        view.of_word.push_back(texts.add(escaped(word)));
    }
    view.texts = texts.names();
    return view;
}

/// What Python made of each word.
[[nodiscard]] View made_view(const Words& words, std::size_t column,
                             const nb::typed<nb::list, nb::str>& values) {
    View view{column, {}, {}};
    Dictionary texts;
    for (std::size_t i = 0; i < words.distinct.at(column).size(); ++i) {
        view.of_word.push_back(texts.add(escaped(value_at(values, i))));
    }
    view.texts = texts.names();
    return view;
}

// ---------------------------------------------------------------- bags

/// Names and values of one token after the other, named as python-crfsuite names them.
class BagMaker {
public:
    explicit BagMaker(Bags& bags) : bags_(&bags) {}

    [[nodiscard]] bool add(PyObject* token) {
        total_ = 0;
        name_.clear();
        const bool sound = PyDict_Check(token) != 0 ? add_dict(token, 0) : add_strings(token);
        bags_->ends.push_back(static_cast<std::int64_t>(bags_->ids.size()));
        return sound && total_ <= std::numeric_limits<float>::max();
    }

private:
    static constexpr int deepest = 100;

    /// Adds to the name; false if it is no text.
    [[nodiscard]] bool append(PyObject* text) {
        if (PyBytes_Check(text)) {
            const nb::object decoded = nb::steal(
                PyUnicode_DecodeUTF8(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text), nullptr));
            PyErr_Clear();
            return decoded.is_valid() && append(decoded.ptr());
        }
        const auto utf8 = utf8_of(text);
        if (utf8) name_ += *utf8;
        return utf8.has_value();
    }

    void put(double value) {
        bags_->ids.push_back(bags_->distinct.add(name_));
        bags_->values.push_back(value);
        total_ += std::abs(value);
    }

    [[nodiscard]] bool add_dict(PyObject* dict, int depth) {
        const std::size_t size = name_.size();
        const nb::list items = nb::borrow<nb::dict>(dict).items();  // a value may change the dict
        for (const nb::handle item : items) {
            if (!append(item_of(item, 0).ptr())) return false;
            if (!add_value(item_of(item, 1).ptr(), depth)) return false;
            name_.resize(size);
        }
        return true;
    }

    [[nodiscard]] bool add_value(PyObject* value, int depth) {
        if (PyUnicode_Check(value) || PyBytes_Check(value)) {
            name_ += ':';
            if (!append(value)) return false;
            put(1);
            return true;
        }
        const bool dict = PyDict_Check(value) != 0;
        if (!dict && !PyList_Check(value) && !PySet_Check(value)) return add_number(value);
        name_ += ':';
        return dict ? depth < deepest && add_dict(value, depth + 1) : add_strings(value);
    }

    [[nodiscard]] bool add_number(PyObject* object) {
        const double value = PyFloat_AsDouble(object);
        if (value == -1 && PyErr_Occurred() != nullptr) {
            if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
            PyErr_Clear();
            return false;
        }
        put(value);
        return true;
    }

    /// The strings of a list, or of a set: those in the order of their bytes, as a set has none.
    [[nodiscard]] bool add_strings(PyObject* object) {
        const std::size_t size = name_.size();
        const bool list = PyList_Check(object) != 0;
        std::set<std::string> names;
        const nb::tuple items(nb::borrow(object));
        for (const nb::handle item : items) {
            if (!append(item.ptr())) return false;
            if (list) {
                put(1);
            } else {
                names.insert(name_);
            }
            name_.resize(size);
        }
        for (const std::string& name : names) {
            name_ = name;
            put(1);
        }
        name_.resize(size);
        return true;
    }

    Bags* bags_;
    std::string name_;
    double total_ = 0;  ///< of sizes in the token at hand: what is summed must not overflow
};

[[nodiscard]] std::pair<std::unique_ptr<Bags>, Place> bags_of(const Lists& sequences, bool dicts) {
    auto bags = std::make_unique<Bags>();
    BagMaker maker(*bags);
    const Place wrong = walk(sequences, bags->bounds, [&](PyObject* token) {
        return (dicts ? PyDict_Check(token) : PyList_Check(token)) != 0 && maker.add(token);
    });
    return {std::move(bags), wrong};
}

// ---------------------------------------------------------------- rows

/// A dictionary that threads may share.
struct NameTable {
    Dictionary names;
    RwLock guard;
};

/// For Python to hold while features and weights change together.
struct Lock {
    RwLock guard;
    std::unique_ptr<RwLock::Writer> held;

    void enter() {
        const nb::gil_scoped_release release;
        // Waits before it touches `held`, which is that of another thread until then.
        auto entered = std::make_unique<RwLock::Writer>(guard);
        held = std::move(entered);
    }
};

/// (starts of rows and the end, features, values)
using Rows3 = std::tuple<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int32_t>,
                         nb::ndarray<nb::numpy, float>>;

[[nodiscard]] Rows3 given(CountRows<float>&& rows) {
    return {give(std::move(rows.ends)), give(std::move(rows.features)),
            give(std::move(rows.values))};
}

/// Runs `make` with a numbering: a dictionary, which grows or not, or hashes.
template <class Make>
[[nodiscard]] CountRows<float> numbered(NameTable& table, bool grows, std::uint32_t n_features,
                                        Make&& make) {
    const nb::gil_scoped_release release;
    CountRows<float> rows;
    rows.ends.push_back(0);
    if (n_features > 0) {
        make(Numbering(n_features), rows);
    } else if (grows) {
        const auto lock = table.guard.write();
        make(Numbering(table.names, true), rows);
    } else {
        const auto lock = table.guard.read();
        make(Numbering(table.names, false), rows);
    }
    return rows;
}

using Templates = std::vector<std::pair<std::string, std::vector<std::pair<std::size_t, int>>>>;

[[nodiscard]] std::vector<Template> templates_of(const Templates& given, std::size_t n_views) {
    std::vector<Template> templates;
    for (const auto& [text, parts] : given) {
        templates.push_back({text, {}});
        for (const auto& [view, offset] : parts) {
            if (view >= n_views) throw nb::index_error("a template needs a view that is not there");
            templates.back().parts.push_back({view, offset});
        }
    }
    return templates;
}

[[nodiscard]] Rows3 rows_of_words(const Words& words, const std::vector<View>& views,
                                  const Templates& templates, NameTable& names, bool grows,
                                  std::uint32_t n_features, bool steps) {
    const auto made = templates_of(templates, views.size());
    return given(numbered(names, grows, n_features, [&](const Numbering& numbering, auto& rows) {
        Extractor(words, views, made, numbering).run(steps, rows);
    }));
}

[[nodiscard]] Rows3 rows_of_bags(const Bags& bags, NameTable& names, bool grows,
                                 std::uint32_t n_features) {
    return given(numbered(names, grows, n_features, [&](const Numbering& numbering, auto& rows) {
        number_bags(bags, numbering, rows);
    }));
}

[[nodiscard]] Strings names_of(NameTable& self) {
    const nb::gil_scoped_release release;
    const auto lock = self.guard.read();
    return self.names.names();
}

/// (names in UTF-8 one after the other, their ends)
[[nodiscard]] std::pair<nb::bytes, nb::ndarray<nb::numpy, std::int64_t>> state_of(NameTable& self) {
    const Strings names = names_of(self);
    auto ends = names.ends();
    return {nb::bytes(names.bytes().data(), names.bytes().size()), give(std::move(ends))};
}

[[nodiscard]] std::vector<std::int64_t> add_all(NameTable& self, std::string_view text,
                                                std::span<const std::int64_t> ends) {
    const nb::gil_scoped_release release;
    const auto lock = self.guard.write();
    std::vector<std::int64_t> numbers;
    std::size_t begin = 0;
    for (const std::int64_t given : ends) {
        const auto end = static_cast<std::size_t>(given);
        if (end < begin || end > text.size()) throw std::out_of_range("names end in their bytes");
        numbers.push_back(self.names.add(text.substr(begin, end - begin)));
        begin = end;
    }
    return numbers;
}

/// The number of each of these names, which are added where they are new.
[[nodiscard]] nb::ndarray<nb::numpy, std::int64_t> add_names(NameTable& self,
                                                             const nb::bytes& bytes,
                                                             const Vector<std::int64_t>& ends) {
    const std::string_view text(bytes.c_str(), bytes.size());
    return give(add_all(self, text, view(ends)));
}

[[nodiscard]] nb::ndarray<nb::numpy, std::int64_t> array_of(std::vector<std::int64_t> numbers) {
    return give(std::move(numbers));
}

}  // namespace

void bind_sequences(nb::module_& m) {
    nb::class_<Words>(m, "Words", "Sequences of tokens of words, each word kept once.")
        .def("bounds", [](const Words& self) { return array_of(self.bounds); })
        .def(
            "distinct",
            [](const Words& self, std::size_t column) {
                return list_of(self.distinct.at(column).names());
            },
            nb::arg("column"), "The words of a column, as they arrived.");
    nb::class_<Bags>(m, "Bags", "Sequences of tokens of named values, each name kept once.")
        .def("bounds", [](const Bags& self) { return array_of(self.bounds); });
    nb::class_<View>(m, "View", "What templates see of a column of words.");
    nb::class_<NameTable>(m, "NameTable", "Names to numbers, as they arrive.")
        .def(nb::init<>())
        .def("__len__",
             [](NameTable& self) {
                 const nb::gil_scoped_release release;
                 const auto lock = self.guard.read();
                 return self.names.size();
             })
        .def(
            "names", [](NameTable& self) { return list_of(names_of(self)); },
            "All names, as they arrived.")
        .def("state", &state_of, "(names in UTF-8 one after the other, their ends)")
        .def("add", &add_names, nb::arg("names"), nb::arg("ends"),
             "The number of each of these names, which are added where they are new.");
    nb::class_<Lock>(m, "Lock", "For one thread at a time, and for none after a fork within it.")
        .def(nb::init<>())
        .def("__enter__", &Lock::enter)
        .def(
            "__exit__",
            [](Lock& self, const nb::object&, const nb::object&, const nb::object&) {
                self.held.reset();
            },
            nb::arg("kind").none(), nb::arg("error").none(), nb::arg("traceback").none());
    m.def("words_of", &words_of, nb::arg("sequences"), nb::arg("n_columns"),
          "Tokens of str, or of tuples of them; and where one is none of that.");
    m.def("bags_of", &bags_of, nb::arg("sequences"), nb::arg("dicts"),
          "Tokens of dicts of features, or of lists of str; and where one is none of that.");
    m.def("plain_view", &plain_view, nb::arg("words"), nb::arg("column"), "The words themselves.");
    m.def("words_beyond", &words_beyond, nb::arg("words"), nb::arg("column"), nb::arg("steps"),
          "The words for which Python has to take these steps.");
    m.def("stepped_view", &stepped_view, nb::arg("words"), nb::arg("column"), nb::arg("steps"),
          nb::arg("values"), "What steps make of each word; `values` of those beyond.");
    m.def("made_view", &made_view, nb::arg("words"), nb::arg("column"), nb::arg("values"),
          "What was made of each word of `distinct`.");
    m.def("rows_of_words", &rows_of_words, nb::arg("words"), nb::arg("views"), nb::arg("templates"),
          nb::arg("names"), nb::arg("grows"), nb::arg("n_features"), nb::arg("steps"),
          "(starts of rows, features, values); n_features 0: by names, else by their hashes.");
    m.def("rows_of_bags", &rows_of_bags, nb::arg("bags"), nb::arg("names"), nb::arg("grows"),
          nb::arg("n_features"), "The same for tokens that bring their features.");
}

}  // namespace surelearn::bind
