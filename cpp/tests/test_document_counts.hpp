// document_counts.hpp: rows weighed by the counts so far, and counts that can be taken back.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "surelearn/document_counts.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace document_counts {

/// Rows of distinct features; feature j is in about one row of j + 1.
template <class Index, class Value>
[[nodiscard]] Csr<Index, Value> documents(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    Csr<Index, Value> rows{.n_features = 40};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < rows.n_features; ++j) {
            if (random() % (j + 1) == 0) rows.add(j, 1.0 + static_cast<double>(random() % 4));
        }
        rows.end_row();
    }
    return rows;
}

[[nodiscard]] inline bool same(const DocumentCounts& a, const DocumentCounts& b) {
    return a.n() == b.n() && std::ranges::equal(a.documents(), b.documents());
}

/// Row i alone, as part of all.
template <class Index, class Value>
[[nodiscard]] Csr<Index, Value> only(const Csr<Index, Value>& rows, std::size_t i) {
    Csr<Index, Value> one{.n_features = rows.n_features};
    const auto row = rows.matrix().stored(i);
    for (std::size_t p = 0; p < row.size(); ++p) one.add(row.feature(p), row.x(p));
    one.end_row();
    return one;
}

template <class Index, class Value>
void check_running(Counting::Norm norm) {
    const auto rows = documents<Index, Value>(200, 1);
    DocumentCounts running(rows.n_features);
    DocumentCounts counted(rows.n_features);
    std::vector<Value> out(rows.value.size());
    running.count_and_weigh(rows.matrix(), norm, std::span(out));
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.matrix().size(); ++i) {
        const auto one = only(rows, i);
        counted.count(one.matrix());
        std::vector<Value> wanted(one.value.size());
        counted.weigh(one.matrix(), norm, 1, std::span(wanted));
        CHECK(std::ranges::equal(wanted, std::span(out).subspan(at, wanted.size())));
        at += wanted.size();
    }
    CHECK(same(running, counted));
}

}  // namespace document_counts

inline void every_row_is_weighed_by_the_rows_up_to_it() {
    for (const auto norm : {Counting::Norm::none, Counting::Norm::l1, Counting::Norm::l2}) {
        document_counts::check_running<std::int32_t, float>(norm);
        document_counts::check_running<std::int64_t, double>(norm);
    }
}

inline void weights_are_those_of_the_formula() {
    const auto rows = document_counts::documents<std::int32_t, double>(300, 2);
    DocumentCounts counts(rows.n_features);
    counts.count(rows.matrix());
    std::vector<double> out(rows.value.size());
    counts.weigh(rows.matrix(), Counting::Norm::none, 3, std::span(out));
    for (std::size_t p = 0; p < out.size(); ++p) {
        const auto documents = std::ranges::count(rows.index, rows.index[p]);
        const auto idf = std::log(301.0L / (1.0L + static_cast<long double>(documents))) + 1.0L;
        CHECK_AT_MOST(relative(out[p], static_cast<long double>(rows.value[p]) * idf), 1e-14);
    }
}

inline void threads_change_no_bit() {
    const auto rows = document_counts::documents<std::int64_t, float>(100, 3);
    DocumentCounts counts(rows.n_features);
    counts.count(rows.matrix());
    std::vector<float> one(rows.value.size());
    counts.weigh(rows.matrix(), Counting::Norm::l2, 1, std::span(one));
    for (const std::size_t threads : {2U, 7U, 200U}) {
        std::vector<float> many(rows.value.size());
        counts.weigh(rows.matrix(), Counting::Norm::l2, threads, std::span(many));
        CHECK(one == many);
    }
}

inline void forgetting_undoes_counting() {
    const auto before = document_counts::documents<std::int32_t, float>(50, 4);
    const auto rows = document_counts::documents<std::int32_t, float>(70, 5);
    DocumentCounts counts(rows.n_features);
    counts.count(before.matrix());
    DocumentCounts wanted(rows.n_features);
    wanted.count(before.matrix());
    counts.count(rows.matrix());
    counts.forget(rows.matrix());
    CHECK(document_counts::same(counts, wanted));
    std::vector<float> out(rows.value.size());
    counts.count_and_weigh(rows.matrix(), Counting::Norm::l2, std::span(out));
    counts.forget(rows.matrix(), 20);
    for (std::size_t i = 0; i < 20; ++i) {
        wanted.count(document_counts::only(rows, i).matrix());
    }
    CHECK(document_counts::same(counts, wanted));
}

inline void counters_do_not_overflow() {
    const auto rows = document_counts::documents<std::int32_t, float>(3, 6);
    DocumentCounts counts(rows.n_features);
    const std::array<std::int64_t, 1> feature{7};
    const std::array<std::int64_t, 1> often{4'294'967'293};
    counts.add(4'294'967'293, feature, often);
    bool refused = false;
    try {
        counts.count(rows.matrix());
    } catch (const std::length_error&) {
        refused = true;
    }
    CHECK(refused);
    CHECK(counts.n() == 4'294'967'293);
    CHECK_AT_MOST(std::fabs(counts.idf(7) - 1.0), 0.0);
}

inline constexpr std::array document_counts_tests{
    Test{"every row is weighed by the rows up to it", every_row_is_weighed_by_the_rows_up_to_it},
    Test{"weights are those of the formula", weights_are_those_of_the_formula},
    Test{"threads change no bit", threads_change_no_bit},
    Test{"forgetting undoes counting", forgetting_undoes_counting},
    Test{"counters do not overflow", counters_do_not_overflow},
};

}  // namespace surelearn::tests
