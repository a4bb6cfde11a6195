// Bindings: a scheme by its name, and what a code makes of scores.
#include "surelearn/constraints.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bind.hpp"
#include "surelearn/column_order.hpp"
#include "surelearn/decode.hpp"

namespace surelearn::bind {

namespace {

/// How many rows do not have the best label, given the scores of all problems of a code before each
/// row was learnt. All classes are known.
std::uint64_t mistakes_of_code(const Vector<std::int8_t>& code, const Vector<std::int32_t>& y,
                               const Vector<double>& scores, std::size_t n_classes) {
    const std::size_t B = n_classes == 0 ? 0 : code.shape(0) / n_classes;
    if (B == 0 || code.shape(0) != B * n_classes || scores.shape(0) != B * y.shape(0)) {
        throw nb::value_error("code, y and scores do not fit each other");
    }
    for (const std::int32_t k : view(y)) {
        if (k < 0 || static_cast<std::size_t>(k) >= n_classes) {
            throw nb::value_error("y must hold numbers of classes");
        }
    }
    const nb::gil_scoped_release release;
    const std::vector<std::uint8_t> known(n_classes, 1);
    Problems problems;
    problems.find(view(code), known, ColumnOrder{});
    std::uint64_t mistakes = 0;
    for (std::size_t i = 0; i < y.shape(0); ++i) {
        const auto label = static_cast<std::size_t>(y.data()[i]);
        mistakes += problems.lead(label, view(scores).subspan(i * B, B), known) > 0.0 ? 0U : 1U;
    }
    return mistakes;
}

}  // namespace

void bind_constraints(nb::module_& m) {
    nb::class_<Scheme> scheme(m, "Scheme", "Which rivals are learnt from, and how.");
    scheme.def(
        "__init__",
        [](Scheme* self, const std::string& name, std::size_t k,
           const std::vector<double>& mixing) {
            using enum Scheme::Kind;
            const std::map<std::string, Scheme::Kind> kinds{{"single", single},
                                                            {"sequential", sequential},
                                                            {"parallel", parallel},
                                                            {"exact", exact}};
            const auto kind = kinds.find(name);
            if (kind == kinds.end()) throw nb::value_error("no scheme of this name");
            if (!mixing.empty() && mixing.size() < k) throw nb::value_error("too few weights");
            new (self) Scheme{kind->second, k, mixing};
        },
        nb::arg("name"), nb::arg("k") = 0, nb::arg("mixing") = std::vector<double>{});
    scheme.def_prop_ro(
        "exact", [](const Scheme& self) { return self.kind == Scheme::Kind::exact; },
        "Whether all constraints are met at once.");
    m.def("mistakes_of_code", &mistakes_of_code, nb::arg("code").noconvert(),
          nb::arg("y").noconvert(), nb::arg("scores").noconvert(), nb::arg("n_classes"),
          "How many rows do not have the best label by these scores of problems.");
}

}  // namespace surelearn::bind
