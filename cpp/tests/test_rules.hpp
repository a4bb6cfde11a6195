// rules.hpp: every member of the variant obeys the laws of a step, however extreme its input.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "check.hpp"
#include "surelearn/rules.hpp"

namespace surelearn::tests {

namespace rules_ {

constexpr std::array settings{1e-3, 0.3, 1.0, 8.0, 1e3};
/// Not all powers of one another: sums and differences of them round.
constexpr std::array sizes{5e-324, 3e-320, 7e-300, 1e-200, 3e-150, 1e-75, 2e-50,  1e-20,
                           1e-10,  1e-3,   0.7,    1.0,    1.9,    1e3,   1e10,   3e20,
                           1e50,   1e75,   3e150,  1e154,  1e200,  7e300, 1.7e308};

/// One rule of each kind for every choice of its first parameter from the settings.
[[nodiscard]] inline std::vector<AnyRule> every_rule() {
    std::vector<AnyRule> all;
    const auto add = [&]<class R>(std::in_place_type_t<R>) {
        for (const double first : settings) {
            std::vector<double> values(R::parameters.size(), 2.0);
            if (!values.empty()) values[0] = first;
            const std::optional<AnyRule> rule = make_rule(R::name, values);
            CHECK(rule.has_value() && std::holds_alternative<R>(*rule));
            if (rule) all.push_back(*rule);
        }
    };
    [&]<class... R>(std::in_place_type_t<std::variant<R...>>) {
        (add(std::in_place_type<R>), ...);
    }(std::in_place_type<NamedRule>);
    return all;
}

[[nodiscard]] inline Step step(const AnyRule& rule, double m, double v, double w = 1.0) {
    // The shares of two equal weights, except where half of v is no number.
    const std::array<double, 2> halves{0.5 * v, v - 0.5 * v};
    const auto shares = [&] { return std::span<const double>(halves); };
    return std::visit([&](const auto& r) { return weighted_step(r, m, v, w, shares); }, rule);
}

/// f(m, v) over all pairs of sizes, both signs of m, and m = 0.
template <class F>
void each_input(F&& f) {
    for (const double v : sizes) {
        f(0.0, v);
        for (const double m : sizes) {
            f(m, v);
            f(-m, v);
        }
    }
}

[[nodiscard]] inline bool moderate(double x) {
    return x == 0.0 || (std::fabs(x) >= 1e-75 && std::fabs(x) <= 1e75);
}

}  // namespace rules_

static_assert(!Rule<Step> && !Rule<rules::Perceptron*>);

inline void only_the_perceptron_is_never_shown_a_right_structure() {
    for (const AnyRule& rule : rules_::every_rule()) {
        CHECK(learns_from_mistakes_only(rule) == std::holds_alternative<rules::Perceptron>(rule));
    }
}

inline void steps_are_never_negative() {
    for (const AnyRule& rule : rules_::every_rule()) {
        rules_::each_input([&](double m, double v) {
            const Step step = rules_::step(rule, m, v);
            CHECK(!(step.alpha < 0.0) && !(step.gain < 0.0));
            // Beyond, the true step may be no double; what is not finite the weights refuse.
            if (!rules_::moderate(m) || !rules_::moderate(v)) return;
            CHECK(std::isfinite(step.alpha) && std::isfinite(step.gain));
        });
    }
}

inline void rows_of_no_variance_give_no_step() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const AnyRule& rule : rules_::every_rule()) {
        for (const double m : {-1.7e308, -1.0, 0.0, 1.0, 1.7e308}) {
            for (const double v : {0.0, -0.0, -1.0, nan}) {
                CHECK(!rules_::step(rule, m, v).moves());
                CHECK(!rules_::step(rule, m, v, 0.5).moves());
            }
        }
    }
}

inline void satisfied_rules_do_not_step() {
    for (const AnyRule& rule : rules_::every_rule()) {
        const Step step = rules_::step(rule, 1e6, 1.0);  // phi is at most 1e3
        CHECK(!step.moves());
    }
}

inline void weight_one_is_no_weight() {
    for (const AnyRule& rule : rules_::every_rule()) {
        rules_::each_input([&](double m, double v) {
            const Step weighted = rules_::step(rule, m, v, 1.0);
            const Step plain = std::visit(
                [&]<class R>(const R& r) {
                    if constexpr (NeedsShares<R>) {
                        const std::array<double, 2> halves{0.5 * v, v - 0.5 * v};
                        return r.triggers(m, v) ? r.step(m, v, halves) : Step{};
                    } else {
                        return r.step(m, v);
                    }
                },
                rule);
            std::vector<unsigned char> a, b;
            append_bytes(a, &weighted, 1);
            append_bytes(b, &plain, 1);
            CHECK(a == b);
        });
    }
}

inline void smaller_weights_make_smaller_steps() {
    for (const AnyRule& rule : rules_::every_rule()) {
        // Not for m > 0, where a surer Probit row is the better explained one.
        for (const double m : {-5.0, -0.3, 0.0}) {
            for (const double v : {0.01, 1.0, 30.0}) {
                double before = 0.0;
                for (const double w : {1e-6, 0.01, 0.5, 1.0, 2.0, 100.0}) {
                    const Step step = rules_::step(rule, m, v, w);
                    CHECK(step.alpha >= before);
                    before = step.alpha;
                }
            }
        }
    }
}

inline void shares_are_gathered_only_where_needed() {
    for (const AnyRule& rule : rules_::every_rule()) {
        int calls = 0;
        const std::array<double, 1> all{1.0};
        const auto shares = [&] {
            ++calls;
            return std::span<const double>(all);
        };
        const auto ask = [&](double m) {
            return std::visit([&](const auto& r) { return weighted_step(r, m, 1.0, 1.0, shares); },
                              rule);
        };
        CHECK(!ask(1e6).moves() && calls == 0);
        (void)ask(-1.0);
        CHECK(calls == (std::holds_alternative<rules::VarianceExact>(rule) ? 1 : 0));
    }
}

inline void exact_variance_meets_its_constraint() {
    const std::array<double, 4> a{0.7, 1e-3, 2.5, 0.04};
    const double v = a[0] + a[1] + a[2] + a[3];
    for (const double phi : {1e-3, 0.5, 1.0, 3.0, 50.0}) {
        for (const double m : {-20.0, -1.0, 0.0, 0.5 * phi * v, 0.999 * phi * v}) {
            const double alpha = rules::VarianceExact{phi}.step(m, v, a).alpha;
            double after = 0.0;
            for (const double a_j : a) after += a_j / (1.0 + 2.0 * alpha * phi * a_j);
            CHECK(alpha > 0.0);
            CHECK_AT_MOST(std::fabs(m + alpha * v - phi * after), 1e-9 * (std::fabs(m) + phi * v));
        }
    }
}

inline void make_rule_knows_names_and_counts() {
    const auto none = [](std::string_view name, std::vector<double> values) {
        return !make_rule(name, values).has_value();
    };
    CHECK(none("", {}) && none("AROW", {1.0}) && none("arow ", {1.0}) && none("aro", {1.0}));
    CHECK(none("arow", {}) && none("arow", {1.0, 2.0}));
    CHECK(none("perceptron", {1.0}) && none("scw1", {1.0}) && none("scw1", {1.0, 2.0, 3.0}));
    const std::array<double, 2> values{0.25, 4.0};
    const auto rule = make_rule("scw2", values);
    CHECK(rule && std::get<rules::SCW2>(*rule).phi == 0.25 &&
          std::get<rules::SCW2>(*rule).C == 4.0);
    CHECK(make_rule("pa", {}).has_value());
}

inline constexpr std::array rules_tests{
    Test{"only the perceptron is never shown a right structure",
         only_the_perceptron_is_never_shown_a_right_structure},
    Test{"steps are never negative", steps_are_never_negative},
    Test{"rows of no variance give no step", rows_of_no_variance_give_no_step},
    Test{"satisfied rules do not step", satisfied_rules_do_not_step},
    Test{"weight one is no weight", weight_one_is_no_weight},
    Test{"smaller weights make smaller steps", smaller_weights_make_smaller_steps},
    Test{"shares are gathered only where needed", shares_are_gathered_only_where_needed},
    Test{"exact variance meets its constraint", exact_variance_meets_its_constraint},
    Test{"make_rule knows names and counts", make_rule_knows_names_and_counts},
};

}  // namespace surelearn::tests
