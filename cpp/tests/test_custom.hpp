// rules::Custom in learn.hpp: a function from outside learns as a rule of our own, and a step that
// is no number leaves no trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "surelearn/learn.hpp"
#include "test_learn.hpp"
#include "test_rules.hpp"

namespace surelearn::tests {

namespace custom {

/// A built-in rule behind a function pointer, which fails at one call.
template <class R>
struct Outside {
    R rule;
    std::size_t fails_at = std::numeric_limits<std::size_t>::max();
    bool says_so = true;  ///< or writes what is no number
    double written = std::numeric_limits<double>::quiet_NaN();
    std::size_t calls = 0;

    static bool call(void* context, double m, double v, double* out) noexcept {
        auto& self = *static_cast<Outside*>(context);
        const Step step = self.rule.step(m, v);
        const bool fails = self.calls++ == self.fails_at;
        out[0] = step.alpha;
        out[1] = fails ? self.written : step.gain;
        return !(fails && self.says_so);
    }

    [[nodiscard]] AnyRule as_rule() { return rules::Custom{&Outside::call, this, FirstOrder<R>}; }
};

template <class T, class R>
void check_same_bits(const R& rule, Projection projection, std::size_t n_classes) {
    // Weights of rows are left out: AROW scales r by them, a function is a hard rule.
    const learning::Setting own{rule, projection, n_classes, n_classes == 3};
    Outside<R> outside{rule};
    const learning::Setting given{outside.as_rule(), projection, n_classes, n_classes == 3};
    const auto problem = learning::make_problem(n_classes);
    const auto want = learning::outcome<T>(own, problem, problem.tidy.matrix());
    CHECK(want.tally[2] > 20);
    CHECK(learning::outcome<T>(given, problem, problem.tidy.matrix()) == want);
    const Matrix<std::int64_t, double> dense(problem.dense, learning::n_features, problem.size());
    CHECK(learning::outcome<T>(given, problem, dense) == want);
}

/// The row at which the function fails changes nothing: not the weights, not the tally, not what is
/// known.
template <class R>
void check_refusal(const R& rule, std::size_t n_classes, bool says_so, double written) {
    auto problem = learning::make_problem(n_classes);
    Outside<R> outside{rule, 200, says_so, written};
    const learning::Setting failing{outside.as_rule(), Projection::covariance, n_classes, true};
    const auto stopped = learning::outcome<float>(failing, problem, problem.tidy.matrix());
    CHECK(outside.calls == 201 && stopped.tally[3] == 1);
    CHECK(stopped.tally[0] >= 200 && stopped.tally[0] < problem.size());

    problem.order.resize(stopped.tally[0]);
    const learning::Setting sound{rule, Projection::covariance, n_classes, true};
    auto rows = problem.tidy.matrix();
    CHECK(!rows.inspect());
    Diagonal<float> weights(sound.shape());
    std::vector<std::uint8_t> known(n_classes, 0);
    known[0] = known[1] = 1;
    const Targets targets{.y = problem.y, .rows = {{}, problem.order}, .known = known};
    const Tally tally = learn(weights, sound.method(), rows, targets, 0, problem.order.size());
    CHECK(!tally.refused && bits(weights) == stopped.weights && known == stopped.known);
    CHECK(tally.mistakes == stopped.tally[1] && tally.updates == stopped.tally[2]);
}

}  // namespace custom

inline void a_function_learns_as_the_rule_it_is() {
    for (const Projection projection : {Projection::precision, Projection::covariance}) {
        for (const std::size_t n_classes : {2U, 3U, 4U}) {
            custom::check_same_bits<float>(rules::AROW{0.7}, projection, n_classes);
            custom::check_same_bits<double>(rules::AROW{0.7}, projection, n_classes);
            custom::check_same_bits<float>(rules::PA1{0.7}, projection, n_classes);
        }
    }
}

inline void a_step_that_is_no_number_is_refused() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::size_t n_classes : {2U, 4U}) {
        custom::check_refusal(rules::AROW{1.0}, n_classes, true, nan);
        custom::check_refusal(rules::AROW{1.0}, n_classes, true, 1.0);  // it says that it failed
        custom::check_refusal(rules::AROW{1.0}, n_classes, false, nan);
        custom::check_refusal(rules::AROW{1.0}, n_classes, false, inf);
        custom::check_refusal(rules::PA1{1.0}, n_classes, false, nan);  // though no gain is used
    }
}

/// Without a variance there is nothing to ask.
inline void a_function_is_not_asked_about_nothing() {
    custom::Outside<rules::AROW> outside{rules::AROW{1.0}};
    CHECK(!rules_::step(outside.as_rule(), -1.0, 0.0).moves() && outside.calls == 0);
    CHECK(rules_::step(outside.as_rule(), -1.0, 1.0).moves() && outside.calls == 1);
}

/// A function knows nothing of weights, so its step is scaled as that of a hard rule.
inline void weights_scale_the_step_of_a_function() {
    custom::Outside<rules::AROW> outside{rules::AROW{1.0}};
    const AnyRule rule = outside.as_rule();
    const Step whole = rules_::step(rule, -1.0, 3.0);
    const Step part = rules_::step(rule, -1.0, 3.0, 0.25);
    const Step more = rules_::step(rule, -1.0, 3.0, 7.0);
    CHECK(part.alpha == 0.25 * whole.alpha && part.gain == 0.25 * whole.gain);
    CHECK(more.alpha == whole.alpha && more.gain == whole.gain);
}

inline constexpr std::array custom_tests{
    Test{"a function learns as the rule it is", a_function_learns_as_the_rule_it_is},
    Test{"a step that is no number is refused", a_step_that_is_no_number_is_refused},
    Test{"a function is not asked about nothing", a_function_is_not_asked_about_nothing},
    Test{"weights scale the step of a function", weights_scale_the_step_of_a_function},
};

}  // namespace surelearn::tests
