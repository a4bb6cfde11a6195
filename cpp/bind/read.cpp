// Bindings: blocks of svmlight and Vowpal Wabbit text to rows, lines of JSON to texts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "bind.hpp"
#include "surelearn/jsonl.hpp"
#include "surelearn/svmlight.hpp"
#include "surelearn/utf8.hpp"
#include "surelearn/vw.hpp"

namespace surelearn::bind {

namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

/// (line, column, begin and size of what was found, what was expected)
using Bad = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::string_view>;

[[nodiscard]] std::vector<Bad> bad_lines(const std::vector<BadLine>& lines) {
    std::vector<Bad> result;
    result.reserve(lines.size());
    for (const BadLine& bad : lines) {
        result.emplace_back(bad.line, bad.column, bad.begin, bad.size, bad.expected);
    }
    return result;
}

[[nodiscard]] std::string_view text_of(const Vector<std::uint8_t>& block) {
    // Places of features share a word with the features themselves.
    if (block.shape(0) >> 32 != 0) throw nb::value_error("a block must be smaller than 4 GiB");
    return {reinterpret_cast<const char*>(block.data()), block.shape(0)};
}

template <class T>
[[nodiscard]] auto svmlight(const Vector<std::uint8_t>& block, bool zero_based, bool grouped,
                            bool skip_bad) {
    const std::string_view text = text_of(block);
    std::int64_t n_features = 0;
    auto rows = [&] {
        const nb::gil_scoped_release release;
        return parse_svmlight<T>(text, zero_based, grouped, skip_bad, n_features);
    }();
    std::optional<Array<std::int64_t>> queries;
    if (grouped) queries = give(std::move(rows.queries), rows.n_rows);
    return std::tuple(give(std::move(rows.starts), rows.n_rows + 1),
                      give(std::move(rows.features), rows.n_entries),
                      give(std::move(rows.values), rows.n_entries), n_features,
                      give(std::move(rows.labels), rows.n_rows), queries, bad_lines(rows.bad));
}

template <class T>
[[nodiscard]] auto vw(const Vector<std::uint8_t>& block, std::uint32_t n_features,
                      bool alternate_sign, bool skip_bad) {
    const std::string_view text = text_of(block);
    auto rows = [&] {
        const nb::gil_scoped_release release;
        return parse_vw<WeightedRows<T>>(text, n_features, alternate_sign, skip_bad);
    }();
    std::optional<Array<double>> weights;
    if (rows.weighted) weights = give(std::move(rows.weights), rows.n_rows);
    return std::tuple(give(std::move(rows.starts), rows.n_rows + 1),
                      give(std::move(rows.features), rows.n_entries),
                      give(std::move(rows.values), rows.n_entries),
                      give(std::move(rows.labels), rows.n_rows), weights, bad_lines(rows.bad));
}

[[nodiscard]] auto candidates(const Vector<std::uint8_t>& block, std::uint32_t n_features,
                              bool skip_bad) {
    const std::string_view text = text_of(block);
    auto rows = [&] {
        const nb::gil_scoped_release release;
        return parse_vw<CandidateRows<float>>(text, n_features, false, skip_bad);
    }();
    const std::size_t n = rows.n_rows;
    return std::tuple(give(std::move(rows.starts), n + 1),
                      give(std::move(rows.features), rows.n_entries),
                      give(std::move(rows.values), rows.n_entries), give(std::move(rows.labels), n),
                      give(std::move(rows.names), n), give(std::move(rows.groups), n),
                      give(std::move(rows.shared), n), bad_lines(rows.bad));
}

/// (starts of texts, bytes, number of each label, labels)
using Texts = std::tuple<Array<std::int32_t>, Array<std::uint8_t>, Array<std::int32_t>,
                         std::vector<std::string>>;

[[nodiscard]] std::optional<Texts> jsonl(const nb::bytes& block, std::string_view text,
                                         std::optional<std::string_view> label, int kind) {
    const JsonFields fields{text, label, static_cast<JsonFields::Kind>(kind)};
    auto records = [&] {
        const nb::gil_scoped_release release;
        return parse_jsonl({block.c_str(), block.size()}, fields);
    }();
    if (!records) return {};
    const auto size = static_cast<std::size_t>(records->starts.back());
    return Texts(give(std::move(records->starts)), give(std::move(records->bytes), size),
                 give(std::move(records->codes)), std::move(records->labels));
}

constexpr const char* jsonl_doc =
    "(starts of texts, texts in UTF-8, number of each label, labels as they are written); None if "
    "a line is not plain.";
constexpr const char* svmlight_doc =
    "(starts, features, values, n_features, labels, queries or None, bad lines); the arrays are "
    "the caller's.";
constexpr const char* vw_doc =
    "(starts, features, values, labels, weights, bad lines); the arrays are the caller's.";
constexpr const char* candidates_doc =
    "(starts, features, values, costs, labels, groups, which are shared, bad lines); the arrays "
    "are the caller's.";

}  // namespace

void bind_read(nb::module_& m) {
    m.def(
        "count_newlines",
        [](const nb::bytes& block) {
            const std::string_view text(block.c_str(), block.size());
            const nb::gil_scoped_release release;
            return count_of(text, '\n');
        },
        nb::arg("block"), "Number of newlines.");
    m.def("parse_jsonl", &jsonl, nb::arg("block"), nb::kw_only(), nb::arg("text"),
          nb::arg("label").none(), nb::arg("kind"), jsonl_doc);
    m.def("parse_svmlight32", &svmlight<float>, nb::arg("block"), nb::kw_only(),
          nb::arg("zero_based"), nb::arg("grouped"), nb::arg("skip_bad"), svmlight_doc);
    m.def("parse_svmlight64", &svmlight<double>, nb::arg("block"), nb::kw_only(),
          nb::arg("zero_based"), nb::arg("grouped"), nb::arg("skip_bad"), svmlight_doc);
    m.def("parse_vw32", &vw<float>, nb::arg("block"), nb::kw_only(), nb::arg("n_features"),
          nb::arg("alternate_sign"), nb::arg("skip_bad"), vw_doc);
    m.def("parse_vw64", &vw<double>, nb::arg("block"), nb::kw_only(), nb::arg("n_features"),
          nb::arg("alternate_sign"), nb::arg("skip_bad"), vw_doc);
    m.def("parse_candidates", &candidates, nb::arg("block"), nb::kw_only(), nb::arg("n_features"),
          nb::arg("skip_bad"), candidates_doc);
}

}  // namespace surelearn::bind
