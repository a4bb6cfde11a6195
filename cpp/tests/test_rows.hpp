// rows.hpp: whatever the form of a matrix, the same rows come out, and no fault goes unseen.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "check.hpp"
#include "surelearn/rows.hpp"

namespace surelearn::tests {

/// A compressed matrix that owns its arrays.
template <class Index, class Value>
struct Csr {
    std::vector<std::int64_t> start{0};
    std::vector<Index> index{};
    std::vector<Value> value{};
    std::size_t n_features = 0;

    [[nodiscard]] Matrix<Index, Value> matrix() const { return {start, index, value, n_features}; }
    void end_row() { start.push_back(static_cast<std::int64_t>(index.size())); }
    void add(std::size_t j, double x) {
        index.push_back(static_cast<Index>(j));
        value.push_back(static_cast<Value>(x));
    }
};

namespace rows {

template <class Index, class Value>
[[nodiscard]] Csr<Index, Value> one_row(std::vector<Index> index, std::vector<Value> value) {
    Csr<Index, Value> rows{.index = std::move(index), .value = std::move(value), .n_features = 9};
    rows.end_row();
    return rows;
}

/// Is row i of the matrix (1, 2), (4, -1.5), (7, 0.25)?
template <class Index, class Value>
[[nodiscard]] bool is_sample(const Matrix<Index, Value>& matrix, std::size_t i) {
    const std::array<Index, 3> index{1, 4, 7};
    const std::array<Value, 3> value{Value(2), Value(-1.5), Value(0.25)};
    RowBuffer<Index, Value> buffer;
    const Row<Index, Value> row = matrix.row(i, buffer);
    return std::ranges::equal(row.index, index) && std::ranges::equal(row.value, value);
}

template <class Index, class Value>
void check_forms() {
    const std::array forms{
        one_row<Index, Value>({1, 4, 7}, {2, Value(-1.5), Value(0.25)}),
        one_row<Index, Value>({7, 1, 4}, {Value(0.25), 2, Value(-1.5)}),
        one_row<Index, Value>({1, 4, 1, 7, 4},
                              {Value(1.5), -1, Value(0.5), Value(0.25), Value(-0.5)}),
        one_row<Index, Value>({0, 1, 4, 7, 8}, {0, 2, Value(-1.5), Value(0.25), Value(-0.0)}),
        one_row<Index, Value>({8, 1, 4, 7, 8}, {3, 2, Value(-1.5), Value(0.25), -3}),
    };
    for (const auto& form : forms) {
        auto matrix = form.matrix();
        CHECK(!matrix.inspect());
        CHECK(matrix.size() == 1 && !matrix.dense() && is_sample(matrix, 0));
    }
    const std::vector<Value> x{0, 2, 0, Value(-0.0), Value(-1.5), 0, 0, Value(0.25), 0};
    Matrix<Index, Value> dense(x, 9, 1);
    CHECK(!dense.inspect());
    CHECK(dense.size() == 1 && dense.dense() && is_sample(dense, 0));
}

using Kind = Fault::Kind;

template <class M>
[[nodiscard]] bool finds(M matrix, Kind kind, std::size_t row) {
    const Fault fault = matrix.inspect();
    return fault.kind == kind && fault.row == row;
}

/// Two rows, (0, 1), (2, 5) | (1, -1), with something put in place of one number.
template <class Index, class Value>
struct Sample {
    Csr<Index, Value> rows{
        .start = {0, 2, 3}, .index = {0, 2, 1}, .value = {1, 5, -1}, .n_features = 3};

    [[nodiscard]] bool with_value(std::size_t p, Value x, std::size_t row) {
        rows.value[p] = x;
        return finds(rows.matrix(), Kind::not_finite, row);
    }
    [[nodiscard]] bool with_index(std::size_t p, Index j, std::size_t row) {
        rows.index[p] = j;
        return finds(rows.matrix(), Kind::bad_index, row);
    }
    [[nodiscard]] bool with_start(std::size_t i, Index begin, std::size_t row) {
        rows.start[i] = begin;
        return finds(rows.matrix(), Kind::bad_start, row);
    }
};

template <class Index, class Value>
void check_faults() {
    using Rows = Sample<Index, Value>;
    constexpr Value infinity = std::numeric_limits<Value>::infinity();
    constexpr Value nan = std::numeric_limits<Value>::quiet_NaN();
    CHECK(finds(Rows{}.rows.matrix(), Kind::none, 0));
    CHECK(Rows{}.with_value(0, nan, 0) && Rows{}.with_value(1, infinity, 0));
    CHECK(Rows{}.with_value(2, -infinity, 1) && Rows{}.with_value(2, nan, 1));
    CHECK(Rows{}.with_index(0, -1, 0) && Rows{}.with_index(1, 3, 0));
    CHECK(Rows{}.with_index(2, 3, 1) && Rows{}.with_index(2, -1, 1));
    CHECK(Rows{}.with_index(2, std::numeric_limits<Index>::max(), 1));
    CHECK(Rows{}.with_index(1, std::numeric_limits<Index>::min(), 0));
    CHECK(Rows{}.with_start(0, 1, 0) && Rows{}.with_start(0, -1, 0));
    CHECK(Rows{}.with_start(1, 4, 1) && Rows{}.with_start(1, -1, 0));
    CHECK(Rows{}.with_start(2, 1, 1) && Rows{}.with_start(2, 4, 1));
    CHECK(Rows{}.with_start(2, std::numeric_limits<Index>::max(), 1));
    Rows short_values;
    short_values.rows.value.pop_back();
    CHECK(finds(short_values.rows.matrix(), Kind::bad_start, 1));
    // Beyond the last row's end nothing is read: scipy allows longer arrays.
    Rows longer;
    longer.rows.index.push_back(-7);
    longer.rows.value.push_back(nan);
    CHECK(finds(longer.rows.matrix(), Kind::none, 0));
    const std::vector<Value> x{1, 0, 2, 0, nan, 0};
    CHECK(finds(Matrix<Index, Value>(x, 2, 3), Kind::not_finite, 2));
}

}  // namespace rows

inline void every_form_gives_the_same_row() {
    rows::check_forms<std::int32_t, float>();
    rows::check_forms<std::int32_t, double>();
    rows::check_forms<std::int64_t, float>();
    rows::check_forms<std::int64_t, double>();
}

inline void inspect_finds_every_fault() {
    rows::check_faults<std::int32_t, float>();
    rows::check_faults<std::int32_t, double>();
    rows::check_faults<std::int64_t, float>();
    rows::check_faults<std::int64_t, double>();
}

inline void sums_may_overflow() {
    constexpr float big = 3e38F;
    const auto once = rows::one_row<std::int32_t, float>({2, 1}, {big, -big});
    CHECK(rows::finds(once.matrix(), rows::Kind::none, 0));
    const auto twice = rows::one_row<std::int32_t, float>({2, 1, 2}, {big, 1, big});
    CHECK(rows::finds(twice.matrix(), rows::Kind::not_finite, 0));
    const auto wide = rows::one_row<std::int32_t, double>({2, 2}, {1.7e308, 1.7e308});
    CHECK(rows::finds(wide.matrix(), rows::Kind::not_finite, 0));
    // Sums are in double, so floats may pass through infinity's neighbourhood and come back.
    const auto back = rows::one_row<std::int32_t, float>({2, 2, 2}, {big, big, -big});
    CHECK(rows::finds(back.matrix(), rows::Kind::none, 0));
}

inline void tidy_rows_are_read_in_place() {
    Csr<std::int32_t, double> tidy{.n_features = 10};
    for (std::size_t i = 0; i < 50; ++i) {  // every third row is empty, ends fall and rise
        for (std::size_t j = i % 4; i % 3 != 0 && j < 10; j += 1 + i % 5) tidy.add(j, 0.5);
        tidy.end_row();
    }
    for (const std::size_t j : {2U, 5U, 5U, 9U}) {  // rows that begin above, at, above the last end
        tidy.add(j, 1.0);
        tidy.end_row();
    }
    auto matrix = tidy.matrix();
    CHECK(!matrix.inspect());
    RowBuffer<std::int32_t, double> buffer;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const auto row = matrix.row(i, buffer);
        CHECK(row.value.data() == tidy.value.data() + tidy.start[i]);
        CHECK(row.size() == static_cast<std::size_t>(tidy.start[i + 1] - tidy.start[i]));
    }
    CHECK(buffer.index.capacity() == 0);
}

inline void one_untidy_row_spoils_no_other() {
    Csr<std::int64_t, double> mixed{.n_features = 9};
    const auto sample = [&] {
        mixed.add(1, 2.0);
        mixed.add(4, -1.5);
        mixed.add(7, 0.25);
        mixed.end_row();
    };
    sample();
    mixed.end_row();
    mixed.add(7, 0.125);
    mixed.add(4, -1.5);
    mixed.add(7, 0.125);
    mixed.add(1, 2.0);
    mixed.end_row();
    sample();
    auto matrix = mixed.matrix();
    CHECK(!matrix.inspect());
    RowBuffer<std::int64_t, double> buffer;
    CHECK(rows::is_sample(matrix, 0) && rows::is_sample(matrix, 2) && rows::is_sample(matrix, 3));
    CHECK(matrix.row(1, buffer).size() == 0);
}

/// Indices fall inside one row and rise between rows: as often as rows begin, but not there.
inline void a_fall_inside_a_row_is_not_missed() {
    Csr<std::int32_t, double> rows{.n_features = 9};
    for (const std::size_t j : {3U, 1U}) rows.add(j, 1.0);
    rows.end_row();
    rows.add(5, 1.0);
    rows.end_row();
    auto matrix = rows.matrix();
    CHECK(!matrix.inspect());
    RowBuffer<std::int32_t, double> buffer;
    const auto row = matrix.row(0, buffer);
    CHECK(row.size() == 2 && row.feature(0) == 1 && row.feature(1) == 3);
}

namespace rows {

/// Many entries at places all over the range, each index about twice, against a map.
template <class Index>
void check_long_row(std::size_t count, std::size_t n_features) {
    Csr<Index, double> messy{.n_features = n_features};
    std::map<std::size_t, double> sums;
    std::mt19937_64 random(count);
    for (std::size_t p = 0; p < count; ++p) {
        const std::size_t j = random() % (count / 2 + 1) * (n_features / (count + 1));
        // Sums that depend on the order of their terms: it must be the one they are stored in.
        const double x = (random() % 2 == 0 ? 1.0 : -1.0) * std::exp2(random() % 60);
        messy.add(j, x);
        sums[j] += x;
    }
    messy.end_row();
    std::erase_if(sums, [](const auto& entry) { return entry.second == 0.0; });
    auto matrix = messy.matrix();
    CHECK(!matrix.inspect());
    RowBuffer<Index, double> buffer;
    const auto row = matrix.row(0, buffer);
    CHECK(row.size() == sums.size());
    std::size_t p = 0;
    for (const auto& [j, x] : sums) {
        if (p >= row.size()) break;
        CHECK(row.feature(p) == j && row.x(p) == x);
        ++p;
    }
}

}  // namespace rows

inline void long_rows_are_put_in_order_too() {
    for (const std::size_t count : {2U, 47U, 48U, 49U, 255U, 256U, 1000U, 5000U}) {
        rows::check_long_row<std::int32_t>(count, 20'000);
        rows::check_long_row<std::int32_t>(count, 2'000'000'000);
        rows::check_long_row<std::int64_t>(count, std::size_t{1} << 45);
    }
}

/// What was put in order belongs to every copy of the matrix and outlives the first.
inline void copies_share_what_was_put_in_order() {
    const auto messy = rows::one_row<std::int32_t, double>({7, 1, 4}, {0.25, 2.0, -1.5});
    const auto copied = [&] {
        auto matrix = messy.matrix();
        CHECK(!matrix.inspect());
        return Matrix<std::int32_t, double>(matrix);
    };
    auto matrix = copied();
    CHECK(rows::is_sample(matrix, 0));
    CHECK(!matrix.inspect() && rows::is_sample(matrix, 0));
    CHECK(messy.index[0] == 7 && messy.value[0] == 0.25);  // the caller's arrays stay as they are
}

inline void matrices_may_be_empty() {
    RowBuffer<std::int32_t, double> buffer;
    Csr<std::int32_t, double> empty;
    auto no_rows = empty.matrix();
    CHECK(!no_rows.inspect() && no_rows.size() == 0);
    empty.end_row();
    empty.end_row();
    auto no_entries = empty.matrix();
    CHECK(!no_entries.inspect() && no_entries.size() == 2 && no_entries.row(1, buffer).size() == 0);
    Matrix<std::int32_t, double> no_start({}, {}, {}, 4);
    CHECK(!no_start.inspect() && no_start.size() == 0);
    Matrix<std::int32_t, double> no_columns({}, 0, 3);
    CHECK(!no_columns.inspect() && no_columns.size() == 3 && no_columns.row(2, buffer).size() == 0);
    const std::vector<double> zeros(6, 0.0);
    Matrix<std::int32_t, double> blank(zeros, 3, 2);
    CHECK(!blank.inspect() && blank.row(1, buffer).size() == 0);
}

/// A part outlives the matrix it was cut from, also where that was put in order in a copy.
inline void parts_and_copies_of_rows_are_rows() {
    Csr<std::int64_t, double> messy{.index = {7, 4, 1, 1}, .value = {0.25, -1.5, 1.5, 0.5}};
    messy.n_features = 9;
    messy.start = {0, 0, 4, 4};
    const auto made = [&](auto f) {
        auto matrix = messy.matrix();
        CHECK(!matrix.inspect());
        return f(matrix);
    };
    CHECK(rows::is_sample(made([](const auto& matrix) { return matrix.part(1, 3); }), 0));
    const std::vector<std::int64_t> numbers{2, 1, 1};
    const auto copies = made([&](const auto& matrix) { return matrix.take(numbers); });
    CHECK(copies.size() == 3 && rows::is_sample(copies, 1) && rows::is_sample(copies, 2));
    CHECK(copies.part(1, 2).size() == 1 && rows::is_sample(copies.part(1, 2), 0));
    CHECK(made([](const auto& matrix) { return matrix.part(3, 3); }).size() == 0);
    CHECK(made([](const auto& matrix) { return matrix.take({}); }).size() == 0);
}

inline constexpr std::array rows_tests{
    Test{"every form gives the same row", every_form_gives_the_same_row},
    Test{"inspect finds every fault", inspect_finds_every_fault},
    Test{"sums may overflow", sums_may_overflow},
    Test{"tidy rows are read in place", tidy_rows_are_read_in_place},
    Test{"one untidy row spoils no other", one_untidy_row_spoils_no_other},
    Test{"a fall inside a row is not missed", a_fall_inside_a_row_is_not_missed},
    Test{"long rows are put in order too", long_rows_are_put_in_order_too},
    Test{"copies share what was put in order", copies_share_what_was_put_in_order},
    Test{"parts and copies of rows are rows", parts_and_copies_of_rows_are_rows},
    Test{"matrices may be empty", matrices_may_be_empty},
};

}  // namespace surelearn::tests
