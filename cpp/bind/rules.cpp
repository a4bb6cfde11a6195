// Room 4 for Python: a rule by its name, and its step.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <utility>

#include "bind.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/rules.hpp"

namespace surelearn::bind {

namespace {

void construct(Rule* self, const std::string& name, const std::vector<double>& values) {
    const auto rule = make_rule(name, values);
    if (!rule) throw nb::value_error("no rule of this name with that many parameters");
    new (self) Rule(*rule);
}

std::pair<double, double> step(const Rule& self, double m, double v,
                               const std::vector<double>& shares) {
    const auto gather = [&] { return std::span<const double>(shares); };
    const Step s =
        std::visit([&](const auto& rule) { return weighted_step(rule, m, v, 1.0, gather); }, self);
    return {s.alpha, s.gain};
}

/// Name of every rule with the names of its parameters.
nb::dict parameters() {
    nb::dict all;
    [&]<class... R>(std::in_place_type_t<std::variant<R...>>) {
        const auto add = [&]<class Q>(std::in_place_type_t<Q>) {
            nb::list names;
            for (const std::string_view p : Q::parameters)
                names.append(nb::str(p.data(), p.size()));
            all[nb::str(Q::name.data(), Q::name.size())] = nb::tuple(names);
        };
        (add(std::in_place_type<R>), ...);
    }(std::in_place_type<Rule>);
    return all;
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::class_<Rule> rule(m, "Rule",
                          "A rule with its parameters in the order of rule_parameters().");
    rule.def("__init__", &construct, nb::arg("name"), nb::arg("values"));
    rule.def("step", &step, nb::arg("m"), nb::arg("v"), nb::arg("shares") = std::vector<double>{},
             "(alpha, gain) for margin m and variance v.");
    rule.def_prop_ro(
        "first_order",
        [](const Rule& self) {
            return std::visit([]<class R>(const R&) { return FirstOrder<R>; }, self);
        },
        "Whether the rule needs no variances.");
    rule.def_prop_ro(
        "asks",
        [](const Rule& self) {
            return std::visit([]<class R>(const R&) { return asks_of<R>() != Asks::nothing; },
                              self);
        },
        "Whether the rule asks for a margin that a cost can scale.");
    rule.def_prop_ro(
        "exact",
        [](const Rule& self) {
            return std::visit([]<class R>(const R&) { return Exact<R>; }, self);
        },
        "Whether several constraints can be met at once.");
    m.def("rule_parameters", &parameters, "Name of every rule with the names of its parameters.",
          nb::sig("def rule_parameters() -> dict[str, tuple[str, ...]]"));
    m.def("normal_cdf", &normal_cdf, nb::arg("t"));
    m.def("normal_quantile", &normal_quantile, nb::arg("p"));
}

}  // namespace surelearn::bind
