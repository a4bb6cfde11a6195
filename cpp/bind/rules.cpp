// Bindings: a rule by its name, one made of a Python function, and their steps.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "bind.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/rules.hpp"

namespace surelearn::bind {

namespace {

void construct(AnyRule* self, const std::string& name, const std::vector<double>& values) {
    const auto rule = make_rule(name, values);
    if (!rule) throw nb::value_error("no rule of this name with that many parameters");
    new (self) AnyRule(*rule);
}

std::pair<double, double> step(const AnyRule& self, double m, double v,
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
    }(std::in_place_type<NamedRule>);
    return all;
}

/// One float or int of Python's, but no bool; nothing else is read here.
bool read_number(PyObject* number, double& out) noexcept {
    if (!PyFloat_Check(number) && !PyLong_CheckExact(number)) return false;
    out = PyFloat_AsDouble(number);
    if (out != -1.0 || PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();  // an int too large for a double
    return false;
}

bool read_pair(const nb::object& got, double* out) noexcept {
    PyObject* const pair = got.ptr();
    return PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 &&
           read_number(PyTuple_GET_ITEM(pair, 0), out[0]) &&
           read_number(PyTuple_GET_ITEM(pair, 1), out[1]);
}

/// A rule that is a Python function, and the same function compiled where there is that.
///
/// The core calls it while a model is locked for writing, without the GIL; it takes the GIL to call
/// Python. So a thread must never wait for a model's lock while it holds the GIL.
class CustomRule : public AnyRule {
public:
    /// The compiled form: writes (alpha, gain), gives 0 where the function raises.
    using Compiled = std::int32_t (*)(double m, double v, double* out);

    CustomRule(nb::object function, nb::object judge, bool first_order, nb::object compiled)
        : AnyRule(rules::Custom{&CustomRule::call, this, first_order}),
          function_(std::move(function)),
          judge_(std::move(judge)),
          owner_(std::move(compiled)),
          first_order_(first_order) {
        if (owner_.is_none()) return;
        const auto address = nb::cast<std::uintptr_t>(owner_.attr("address"));
        compiled_ = reinterpret_cast<Compiled>(address);
    }

    CustomRule(const CustomRule&) = delete;
    CustomRule& operator=(const CustomRule&) = delete;

    /// The exception that ended this thread's last learning, if one did; it is forgotten here.
    [[nodiscard]] nb::object take_error() {
        const auto error = errors_.extract(std::this_thread::get_id());
        return error.empty() ? nb::none() : error.mapped();
    }

    [[nodiscard]] int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(function_.ptr());
        Py_VISIT(judge_.ptr());
        Py_VISIT(owner_.ptr());
        for (const auto& [thread, error] : errors_) Py_VISIT(error.ptr());
        return 0;
    }

    void clear() noexcept {
        function_.reset();
        judge_.reset();
        errors_.clear();
    }

private:
    static bool call(void* context, double m, double v, double* out) noexcept {
        auto& self = *static_cast<CustomRule*>(context);
        const bool compiled = self.compiled_ != nullptr && self.compiled_(m, v, out) != 0;
        // What the compiled form will not do, Python does, or says why not.
        return (compiled && self.lawful(out)) || self.ask_python(m, v, out);
    }

    [[nodiscard]] bool lawful(const double* step) const noexcept {
        const double alpha = step[0];
        const double gain = step[1];
        if (!std::isfinite(alpha) || !std::isfinite(gain)) return false;
        return alpha >= 0.0 && (first_order_ ? gain == 0.0 : gain >= 0.0);
    }

    [[nodiscard]] bool ask_python(double m, double v, double* out) noexcept {
        const nb::gil_scoped_acquire acquire;
        try {
            const nb::object got = function_(m, v);
            if (read_pair(got, out) && lawful(out)) return true;
            return read_pair(judge_(m, v, got), out);  // raises for what is no step
        } catch (nb::python_error& error) {
            keep(error);
        } catch (const std::exception&) {  // out of memory: refused all the same
        }
        return false;
    }

    void keep(const nb::python_error& error) {
        const nb::object raised = nb::borrow(error.value());
        if (const nb::object trace = error.traceback(); trace.is_valid()) {
            PyException_SetTraceback(raised.ptr(), trace.ptr());
        }
        errors_.insert_or_assign(std::this_thread::get_id(), raised);
    }

    nb::object function_;
    nb::object judge_;  ///< (m, v, what the function gave) -> a step, or raises
    nb::object owner_;  ///< of the compiled code
    Compiled compiled_ = nullptr;
    bool first_order_;
    std::map<std::thread::id, nb::object> errors_;  ///< touched under the interpreter's lock only
};

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<CustomRule>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<CustomRule>(self)->clear();
    return 0;
}

// The function may see, through its globals, the model that keeps the rule.
PyType_Slot custom_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                              {0, nullptr}};

void bind_custom(nb::module_& m) {
    nb::class_<CustomRule, AnyRule> custom(m, "CustomRule", nb::type_slots(custom_slots),
                                           "A rule that is a Python function, maybe compiled.");
    custom.def(nb::init<nb::object, nb::object, bool, nb::object>(), nb::arg("function"),
               nb::arg("judge"), nb::kw_only(), nb::arg("first_order"), nb::arg("compiled").none());
    custom.def("take_error", &CustomRule::take_error,
               "What was raised when this thread's last row was refused, or None.",
               nb::sig("def take_error(self) -> BaseException | None"));
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::class_<AnyRule> rule(m, "Rule",
                             "A rule with its parameters in the order of rule_parameters().");
    rule.def("__init__", &construct, nb::arg("name"), nb::arg("values"));
    rule.def("step", &step, nb::arg("m"), nb::arg("v"), nb::arg("shares") = std::vector<double>{},
             "(alpha, gain) for margin m and variance v.");
    rule.def(
        "take_error", [](const AnyRule&) { return nb::none(); }, "None: only a function can raise.",
        nb::sig("def take_error(self) -> BaseException | None"));
    rule.def_prop_ro(
        "first_order", [](const AnyRule& self) { return first_order(self); },
        "Whether the rule needs no variances.");
    rule.def_prop_ro(
        "asks",
        [](const AnyRule& self) {
            return std::visit([]<class R>(const R&) { return asks_of<R>() != Asks::nothing; },
                              self);
        },
        "Whether the rule asks for a margin that a cost can scale.");
    rule.def_prop_ro(
        "exact",
        [](const AnyRule& self) {
            return std::visit([]<class R>(const R&) { return Exact<R>; }, self);
        },
        "Whether several constraints can be met at once.");
    bind_custom(m);
    m.def("rule_parameters", &parameters, "Name of every rule with the names of its parameters.",
          nb::sig("def rule_parameters() -> dict[str, tuple[str, ...]]"));
    m.def("normal_cdf", &normal_cdf, nb::arg("t"));
    m.def("normal_quantile", &normal_quantile, nb::arg("p"));
}

}  // namespace surelearn::bind
