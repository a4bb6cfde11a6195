// Bindings: a scheme by its name.
#include "surelearn/constraints.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>

#include "bind.hpp"

namespace surelearn::bind {

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
}

}  // namespace surelearn::bind
