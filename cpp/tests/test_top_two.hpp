// top_two.hpp: threads share nothing but what they read, no row allocates, one variance is that of
// all, and a hypothetical update moves no mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/top_two.hpp"
#include "test_diagonal.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace top_twos {

constexpr std::size_t n_features = 60;

[[nodiscard]] inline Csr<std::int32_t, float> rows(std::size_t n) {
    Csr<std::int32_t, float> made{.n_features = n_features};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i % 7; j < n_features; j += 3 + i % 5) {
            made.add(j, 0.25 + static_cast<double>((i + j) % 4));
        }
        made.end_row();
    }
    return made;
}

[[nodiscard]] inline Diagonal<float> weights(std::size_t n_columns) {
    return diagonal::worn<float>(Shape{.n_features = n_features, .n_columns = n_columns});
}

/// (best, next, gap, v) of every row.
template <class W>
[[nodiscard]] std::vector<TopTwo> all(const W& weights, const Csr<std::int32_t, float>& made,
                                      std::size_t threads) {
    auto matrix = made.matrix();
    if (matrix.inspect()) return {};
    std::vector<TopTwo> all(matrix.size());
    each_top_two(weights, matrix, {}, threads,
                 [&](std::size_t i, const TopTwo& row) { all[i] = row; });
    return all;
}

[[nodiscard]] inline bool same(const TopTwo& a, const TopTwo& b) {
    return a.best == b.best && a.next == b.next && a.gap == b.gap && a.v == b.v;
}

}  // namespace top_twos

inline void threads_do_not_show_in_leads() {
    const auto made = top_twos::rows(5000);
    for (const std::size_t n_columns : {1U, 6U}) {
        const auto weights = top_twos::weights(n_columns);
        const auto one = top_twos::all(weights, made, 1);
        const auto four = top_twos::all(weights, made, 4);
        CHECK(one.size() == 5000 && std::ranges::equal(one, four, top_twos::same));
    }
}

inline void leads_allocate_for_no_row() {
    const auto weights = top_twos::weights(6);
    const auto calls = [&](std::size_t n) {
        const auto made = top_twos::rows(n);
        const std::size_t before = allocations();
        (void)top_twos::all(weights, made, 1);
        return allocations() - before;
    };
    CHECK(calls(1000) == calls(10));
}

template <class W>
inline void check_one_variance(const W& weights) {
    const auto made = top_twos::rows(40);
    auto matrix = made.matrix();
    CHECK(!matrix.inspect());
    const std::size_t K = weights.shape().n_columns;
    std::vector<double> v(K), work;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const auto row = matrix.stored(i);
        weights.variances(row, std::span(v));
        for (std::size_t k = 0; k < K; ++k) CHECK(variance_of(weights, row, k, work) == v[k]);
    }
}

inline void the_variance_of_a_column_has_the_bits_of_all() {
    for (const std::size_t n_columns : {1U, 6U, 30U}) {
        const Shape shape{.n_features = top_twos::n_features, .n_columns = n_columns};
        check_one_variance(top_twos::weights(n_columns));
        check_one_variance(diagonal::worn<double>(shape));
        // Columns in another order than their labels, as where classes came late.
        Shape fewer = shape;
        fewer.n_columns = 1;
        const Diagonal<float> one = diagonal::worn<float>(fewer);
        std::vector<std::int64_t> from(n_columns, -1);
        from.back() = 0;
        auto roomy = one.with_columns(std::array{std::int64_t{0}}, n_columns);
        auto late = roomy.extended(from);
        CHECK(late.has_value());
        if (late) check_one_variance(*late);
    }
    Full<double> full(Shape{.n_features = top_twos::n_features, .n_columns = 3, .prior = 0.7});
    check_one_variance(full);
}

inline void the_surest_column_is_the_first_of_equals() {
    const auto column = [](std::vector<double> s, bool two_sided) {
        return surest_column(s, two_sided);
    };
    CHECK(column({-3.0, 1.0, 1.0}, false) == 1 && column({-3.0, 1.0, 1.0}, true) == 0);
    CHECK(column({1.0, -3.0, 3.0}, false) == 2 && column({1.0, -3.0, 3.0}, true) == 1);
    CHECK(column({-2.0}, false) == 0 && column({-2.0}, true) == 0);
    CHECK(column({0.0, -0.0}, false) == 0 && column({-0.0, 0.0}, true) == 0);
}

inline void a_hypothetical_update_moves_variances_only() {
    const auto made = top_twos::rows(1);
    auto matrix = made.matrix();
    CHECK(!matrix.inspect());
    const auto row = matrix.stored(0);
    const auto before = top_twos::weights(6);
    auto weights = top_twos::weights(6);
    const std::array g{Side{4, 1.0}, Side{1, -1.0}};
    CHECK(hypothetical_update(weights, rules::AROW{1.0}, Projection::precision, row, g));
    for (std::size_t j = 0; j < weights.shape().n_rows(); ++j) {
        const bool touched =
            j == top_twos::n_features || std::ranges::find(row.index, j) != row.index.end();
        for (std::size_t k = 0; k < 6; ++k) {
            CHECK(weights.mean(j, k) == before.mean(j, k));
            const bool falls = touched && (k == 4 || k == 1);
            CHECK((weights.sigma(j, k) < before.sigma(j, k)) == falls);
            CHECK(weights.sigma(j, k) <= before.sigma(j, k));
        }
    }
}

inline void a_row_that_would_leave_no_variance_is_not_supposed() {
    const auto made = top_twos::rows(1);
    auto matrix = made.matrix();
    CHECK(!matrix.inspect());
    auto weights = top_twos::weights(1);
    weights.cell(0)[1] = std::numeric_limits<float>::denorm_min();
    const auto before = bits(weights);
    const std::array g{Side{0, 1.0}};
    CHECK(!hypothetical_update(weights, rules::AROW{1e-300}, Projection::precision,
                               matrix.stored(0), g));
    CHECK(bits(weights) == before);
}

inline constexpr std::array top_two_tests{
    Test{"threads do not show in leads", threads_do_not_show_in_leads},
    Test{"leads allocate for no row", leads_allocate_for_no_row},
    Test{"the variance of a column has the bits of all",
         the_variance_of_a_column_has_the_bits_of_all},
    Test{"the surest column is the first of equals", the_surest_column_is_the_first_of_equals},
    Test{"to suppose a row moves its variances only", a_hypothetical_update_moves_variances_only},
    Test{"a row that would leave no variance is not supposed",
         a_row_that_would_leave_no_variance_is_not_supposed},
};

}  // namespace surelearn::tests
