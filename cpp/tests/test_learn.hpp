// learn.hpp: the bits of a model depend on the rows alone, not on how they are stored or handed in.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "check.hpp"
#include "surelearn/learn.hpp"
#include "test_diagonal.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace learning {

constexpr std::size_t n_features = 60;
constexpr std::size_t n_rows = 400;

/// Rows in every form a matrix can have, with labels, weights and an order.
struct Problem {
    Csr<std::int64_t, double> tidy{.n_features = n_features};
    Csr<std::int64_t, double> messy{.n_features = n_features};  ///< unsorted, repeated, zeros
    std::vector<double> dense;
    std::vector<std::int32_t> y;
    std::vector<double> weight;
    std::vector<std::int64_t> order;

    [[nodiscard]] std::size_t size() const { return y.size(); }
};

/// Values are small multiples of 1/8, so that every form and type holds the same numbers.
inline void add_row(Problem& problem, std::mt19937_64& random) {
    std::vector<double> x(n_features, 0.0);
    const std::size_t count = random() % 9;  // now and then a row is empty
    for (std::size_t p = 0; p < count; ++p) {
        x[random() % n_features] = static_cast<double>(random() % 31) / 8.0 - 1.75;
    }
    for (std::size_t j = 0; j < n_features; ++j) {
        if (x[j] != 0.0) problem.tidy.add(j, x[j]);
    }
    for (std::size_t j = n_features; j-- > 0;) {
        if (x[j] != 0.0) problem.messy.add(j, x[j] + 0.5);
        if (x[j] != 0.0 || j % 20 == 0) problem.messy.add(j, 0.0);
    }
    for (std::size_t j = 0; j < n_features; ++j) {
        if (x[j] != 0.0) problem.messy.add(j, -0.5);
    }
    problem.tidy.end_row();
    problem.messy.end_row();
    problem.dense.insert(problem.dense.end(), x.begin(), x.end());
}

[[nodiscard]] inline Problem make_problem(std::size_t n_classes, std::size_t rows = n_rows) {
    std::mt19937_64 random(20240707 + n_classes);
    Problem problem;
    for (std::size_t i = 0; i < rows; ++i) {
        add_row(problem, random);
        // A label that the rows can tell, with some noise.
        const double* const x = problem.dense.data() + i * n_features;
        const double sum = std::accumulate(x, x + n_features / 2, 0.0);
        const std::size_t truth = sum > 0.5 ? 1 : (sum < -0.5 ? 2 : 0);
        const std::size_t label = random() % 8 == 0 ? random() : truth;
        problem.y.push_back(static_cast<std::int32_t>(label % n_classes));
        problem.weight.push_back(static_cast<double>(1 + random() % 16) / 8.0);
    }
    problem.order.resize(rows);
    std::iota(problem.order.begin(), problem.order.end(), 0);
    for (std::size_t i = rows; i > 1; --i) {
        std::swap(problem.order[i - 1], problem.order[random() % i]);
    }
    return problem;
}

template <class Index, class Value>
[[nodiscard]] Csr<Index, Value> as(const Csr<std::int64_t, double>& rows) {
    Csr<Index, Value> other{.start = {}, .n_features = rows.n_features};
    for (const auto i : rows.start) other.start.push_back(static_cast<Index>(i));
    for (const auto j : rows.index) other.index.push_back(static_cast<Index>(j));
    for (const auto x : rows.value) other.value.push_back(static_cast<Value>(x));
    return other;
}

/// One way to learn the problem.
struct Setting {
    AnyRule rule;
    Projection projection = Projection::precision;
    std::size_t n_classes = 2;
    bool averaged = false;
    bool weighted = false;

    [[nodiscard]] Method method() const { return {rule, projection, {}}; }
    [[nodiscard]] Shape shape() const {
        const bool second_order = !first_order(rule);
        return {.n_features = n_features,
                .n_columns = n_classes == 2 ? 1 : n_classes,
                .second_order = second_order,
                .averaged = averaged};
    }
};

/// What came of it: the weights, and everything else that learning reports.
struct Result {
    std::vector<unsigned char> weights;
    std::vector<std::uint8_t> known;
    std::array<std::uint64_t, 4> tally{};

    bool operator==(const Result&) const = default;
};

enum class Pieces { apart, one_pass };

/// Learn all rows, ending a piece at every cut; the pieces either know nothing of one another or
/// belong to one pass.
template <class T, class Index, class Value>
[[nodiscard]] Result outcome(const Setting& setting, const Problem& problem,
                             Matrix<Index, Value> rows, std::span<const std::size_t> cuts = {},
                             Pieces pieces = Pieces::apart) {
    CHECK(!rows.inspect());
    Diagonal<T> weights(setting.shape());
    Result result;
    result.known.assign(setting.n_classes, 0);
    result.known[0] = result.known[1] = 1;
    Targets targets{.y = problem.y, .rows = {{}, problem.order}, .known = result.known};
    if (setting.weighted) targets.rows.weight = problem.weight;
    std::vector<std::size_t> ends(cuts.begin(), cuts.end());
    ends.push_back(problem.size());
    const Method method = setting.method();
    Pass<Diagonal<T>, Matrix<Index, Value>> pass(weights, method, rows, targets, 0, problem.size());
    Tally tally;
    for (const std::size_t end : ends) {
        if (tally.refused) break;
        const Tally part = pieces == Pieces::one_pass
                               ? pass.run(end)
                               : learn(weights, setting.method(), rows, targets, tally.end, end);
        tally = {part.end, tally.mistakes + part.mistakes, tally.updates + part.updates,
                 part.refused};
    }
    result.weights = bits(weights);
    result.tally = {tally.end, tally.mistakes, tally.updates, tally.refused ? 1U : 0U};
    return result;
}

/// Every rule with usual parameters.
[[nodiscard]] inline std::vector<AnyRule> usual_rules() {
    std::vector<AnyRule> all;
    [&]<class... R>(std::in_place_type_t<std::variant<R...>>) {
        const auto add = [&]<class Q>(std::in_place_type_t<Q>) {
            const std::array<double, 2> values{0.7, 0.9};
            all.push_back(*make_rule(Q::name, std::span(values).first(Q::parameters.size())));
        };
        (add(std::in_place_type<R>), ...);
    }(std::in_place_type<NamedRule>);
    return all;
}

/// f(setting) for every rule, both projections, two classes and more, with and without extras.
template <class F>
void each_setting(F&& f) {
    for (const AnyRule& rule : usual_rules()) {
        for (const Projection projection : {Projection::precision, Projection::covariance}) {
            for (const std::size_t n_classes : {2U, 3U, 4U}) {
                f(Setting{rule, projection, n_classes, n_classes == 4, n_classes != 3});
            }
        }
    }
}

template <class T>
void check_forms(const Setting& setting, const Problem& problem) {
    const Result want = outcome<T>(setting, problem, problem.tidy.matrix());
    CHECK(want.tally[0] > 100 && want.tally[2] > 20);
    CHECK(outcome<T>(setting, problem, problem.messy.matrix()) == want);
    const Matrix<std::int64_t, double> dense(problem.dense, n_features, problem.size());
    CHECK(outcome<T>(setting, problem, dense) == want);
    const auto single = as<std::int32_t, float>(problem.tidy);
    CHECK(outcome<T>(setting, problem, single.matrix()) == want);
    const auto messy_single = as<std::int32_t, float>(problem.messy);
    CHECK(outcome<T>(setting, problem, messy_single.matrix()) == want);
    // The other types with one storage type only, to spare the compiler.
    if constexpr (sizeof(T) == sizeof(double)) {
        const auto small = as<std::int32_t, double>(problem.tidy);
        CHECK(outcome<T>(setting, problem, small.matrix()) == want);
        const std::vector<float> x(problem.dense.begin(), problem.dense.end());
        const Matrix<std::int64_t, float> single_dense(x, n_features, problem.size());
        CHECK(outcome<T>(setting, problem, single_dense) == want);
    }
}

template <class T>
void check_pieces(const Setting& setting, const Problem& problem) {
    const Result want = outcome<T>(setting, problem, problem.tidy.matrix());
    std::vector<std::size_t> all(problem.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<std::size_t> some{0, 1, 1, 2, 17, 200, 399};
    for (const Pieces pieces : {Pieces::apart, Pieces::one_pass}) {
        CHECK(outcome<T>(setting, problem, problem.tidy.matrix(), some, pieces) == want);
        CHECK(outcome<T>(setting, problem, problem.tidy.matrix(), all, pieces) == want);
        CHECK(outcome<T>(setting, problem, problem.messy.matrix(), some, pieces) == want);
    }
}

}  // namespace learning

inline void every_form_gives_the_same_bits() {
    learning::each_setting([](const learning::Setting& setting) {
        const auto problem = learning::make_problem(setting.n_classes);
        learning::check_forms<float>(setting, problem);
        learning::check_forms<double>(setting, problem);
    });
}

inline void pieces_give_the_same_bits() {
    learning::each_setting([](const learning::Setting& setting) {
        const auto problem = learning::make_problem(setting.n_classes);
        learning::check_pieces<float>(setting, problem);
        learning::check_pieces<double>(setting, problem);
    });
}

inline void rows_in_order_need_no_order() {
    auto problem = learning::make_problem(3);
    std::iota(problem.order.begin(), problem.order.end(), 0);
    const learning::Setting setting{rules::AROW{1.0}, Projection::precision, 3};
    const auto want = learning::outcome<double>(setting, problem, problem.tidy.matrix());
    problem.order.clear();
    CHECK(learning::outcome<double>(setting, problem, problem.tidy.matrix()) == want);
}

/// A row that cannot be learnt ends the pass there, and the model is that of the rows before it.
inline void learning_stops_at_a_refused_row() {
    auto problem = learning::make_problem(2);
    const learning::Setting setting{rules::AROW{1e-3}, Projection::precision};
    constexpr std::size_t at = 250;
    const auto bad = static_cast<std::size_t>(problem.order[at]);
    // An entry whose square is no double.
    const auto p = static_cast<std::size_t>(problem.tidy.start[bad]);
    CHECK(problem.tidy.start[bad + 1] > problem.tidy.start[bad]);
    const double kept = std::exchange(problem.tidy.value[p], 1e200);
    const auto stopped = learning::outcome<double>(setting, problem, problem.tidy.matrix());
    CHECK(stopped.tally[0] == at && stopped.tally[3] == 1);
    problem.tidy.value[p] = kept;
    problem.order.resize(at);
    problem.y.resize(problem.size());
    auto rows = problem.tidy.matrix();
    CHECK(!rows.inspect());
    Diagonal<double> weights(setting.shape());
    std::vector<std::uint8_t> known{1, 1};
    const Targets targets{.y = problem.y, .rows = {{}, problem.order}, .known = known};
    const Tally tally = learn(weights, setting.method(), rows, targets, 0, at);
    CHECK(!tally.refused && bits(weights) == stopped.weights);
}

/// With all means at zero every margin is zero, which is no right answer.
inline void an_undecided_row_is_a_mistake() {
    const auto problem = learning::make_problem(3);
    for (const std::size_t n_classes : {2U, 3U}) {
        const learning::Setting setting{rules::AROW{1.0}, Projection::precision, n_classes};
        auto rows = problem.tidy.matrix();
        CHECK(!rows.inspect());
        Diagonal<double> weights(setting.shape());
        std::vector<std::uint8_t> known(n_classes, 1);
        const Targets targets{.y = problem.y, .rows = {}, .known = known};
        const Tally tally = learn(weights, setting.method(), rows, targets, 0, 1);
        CHECK(tally.mistakes == 1 && tally.updates == 1 && tally.end == 1);
    }
}

/// Rows with any number of labels: a column learns what a binary problem of that label learns, from
/// the first row that has it.
inline void labels_are_problems_of_their_own() {
    constexpr std::size_t n = 200;
    const auto problem = learning::make_problem(3, n);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> y;
    const auto has = [&](std::size_t i, std::int32_t k) {
        return k == 0 ? i >= 50 && problem.y[i] == 0 : problem.y[i] >= k;
    };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::int32_t k = 0; k < 3; ++k) {
            if (has(i, k)) y.push_back(k);
        }
        starts.push_back(static_cast<std::int64_t>(y.size()));
    }
    const auto rows = problem.tidy.matrix();
    const learning::Setting setting{.rule = rules::AROW{1.0}, .n_classes = 3};
    Diagonal<double> weights(setting.shape());
    std::vector<std::uint8_t> known{0, 1, 1};
    const Targets targets{.y = y, .rows = {}, .known = known, .starts = starts};
    const Tally tally = learn(weights, setting.method(), rows, targets, 0, n);
    CHECK(tally.end == n && known[0] == 1);
    for (std::int32_t k = 0; k < 3; ++k) {
        std::vector<std::int32_t> own(n);
        for (std::size_t i = 0; i < n; ++i) own[i] = has(i, k) ? 1 : 0;
        const auto first = static_cast<std::size_t>(std::ranges::find(own, 1) - own.begin());
        learning::Setting binary = setting;
        binary.n_classes = 2;
        Diagonal<double> alone(binary.shape());
        std::vector<std::uint8_t> both{1, 1};
        const Targets one{.y = own, .rows = {}, .known = both};
        (void)learn(alone, binary.method(), rows, one, k == 0 ? first : 0, n);
        for (std::size_t j = 0; j < learning::n_features; ++j) {
            const auto column = static_cast<std::size_t>(k);
            CHECK_AT_MOST(std::fabs(weights.mean(j, column) - alone.mean(j, 0)), 1e-14);
        }
    }
}

namespace learning {

/// Calls of operator new while the first rows are learnt.
template <class T, class Index, class Value>
[[nodiscard]] std::size_t allocations_for(const Setting& setting, const Problem& problem,
                                          const Matrix<Index, Value>& rows, std::size_t count) {
    Diagonal<T> weights(setting.shape());
    std::vector<std::uint8_t> known(setting.n_classes, 1);
    const Targets targets{.y = problem.y, .rows = {{}, problem.order}, .known = known};
    const std::size_t before = allocations();
    (void)learn(weights, setting.method(), rows, targets, 0, count);
    return allocations() - before;
}

template <class T, class Index, class Value>
[[nodiscard]] double extra_allocations(const Setting& setting, const Problem& problem,
                                       Matrix<Index, Value> rows) {
    CHECK(!rows.inspect());
    const auto few = allocations_for<T>(setting, problem, rows, 10);
    const auto many = allocations_for<T>(setting, problem, rows, 1000);
    return static_cast<double>(many) - static_cast<double>(few);
}

}  // namespace learning

inline void learning_does_not_allocate_for_each_row() {
    CHECK(allocations() > 0);
    constexpr double growth = 16.0;  // buffers may still grow after the tenth row
    learning::each_setting([](const learning::Setting& setting) {
        if (std::holds_alternative<rules::Stdev>(setting.rule)) return;  // stops early on noise
        const auto problem = learning::make_problem(setting.n_classes, 1000);
        CHECK_AT_MOST(learning::extra_allocations<float>(setting, problem, problem.tidy.matrix()),
                      growth);
        const Matrix<std::int64_t, double> dense(problem.dense, learning::n_features, 1000);
        CHECK_AT_MOST(learning::extra_allocations<double>(setting, problem, dense), growth);
        CHECK_AT_MOST(learning::extra_allocations<double>(setting, problem, problem.messy.matrix()),
                      growth);
    });
}

inline constexpr std::array learn_tests{
    Test{"every form gives the same bits", every_form_gives_the_same_bits},
    Test{"pieces give the same bits", pieces_give_the_same_bits},
    Test{"rows in order need no order", rows_in_order_need_no_order},
    Test{"learning stops at a refused row", learning_stops_at_a_refused_row},
    Test{"an undecided row is a mistake", an_undecided_row_is_a_mistake},
    Test{"labels are problems of their own", labels_are_problems_of_their_own},
#if SURELEARN_OWN_NEW
    Test{"learning does not allocate for each row", learning_does_not_allocate_for_each_row},
#endif
};

}  // namespace surelearn::tests
