// column_units.hpp: rows of any form in other units, and moments that do not depend on blocks.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/column_units.hpp"
#include "surelearn/rows.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace column_units {

[[nodiscard]] inline std::shared_ptr<const ColumnUnits> sample(bool whole) {
    return std::make_shared<ColumnUnits>(ColumnUnits{{1, 0, 2}, {2, 0.5, 1}, whole});
}

/// The entries of a row, as a map of dense values.
template <class Value>
[[nodiscard]] std::vector<double> dense(const Matrix<std::int32_t, Value>& rows, std::size_t i) {
    RowBuffer<std::int32_t, Value> buffer;
    std::vector<double> values(rows.n_features());
    const auto row = rows.row(i, buffer);
    for (std::size_t p = 0; p < row.size(); ++p) values[row.feature(p)] = row.x(p);
    return values;
}

inline void check_dense_rows() {
    const std::vector<float> x{1, 4, 2, 3, 0, 0};
    const Matrix<std::int32_t, float> rows(x, 3, 2);
    Fault fault;
    const auto scaled = rows.in_units(sample(true), fault);
    CHECK(!fault);
    CHECK(dense(scaled, 0) == std::vector<double>({0, 2, 0}));
    CHECK(dense(scaled, 1) == std::vector<double>({4, 0, -2}));
    CHECK(dense(scaled.part(1, 2), 0) == std::vector<double>({4, 0, -2}));
    const std::array<std::int64_t, 2> order{1, 0};
    CHECK(dense(scaled.take(order), 1) == std::vector<double>({0, 2, 0}));
    RowBuffer<std::int32_t, float> buffer;
    CHECK(scaled.row(1, buffer).largest == 4.0);
}

inline void check_compressed_rows() {
    Csr<std::int32_t, double> csr{.n_features = 4};
    csr.add(0, 1);  // its z is 0
    csr.add(3, 9);  // beyond the columns with units
    csr.end_row();
    csr.add(1, 4);
    csr.end_row();
    Fault fault;
    const auto some = csr.matrix().in_units(sample(false), fault);
    CHECK(!fault);
    CHECK(some.n_entries() == 2);
    CHECK(dense(some, 0) == std::vector<double>({0, 0, 0, 9}));
    CHECK(dense(some, 1) == std::vector<double>({0, 2, 0, 0}));
    csr.n_features = 3;
    csr.index[1] = 2;
    const auto every = csr.matrix().in_units(sample(true), fault);
    CHECK(every.dense());
    CHECK(dense(every, 0) == std::vector<double>({0, 0, 7}));
    CHECK(dense(every, 1) == std::vector<double>({-2, 2, -2}));
}

inline void check_range() {
    const std::vector<double> x{1e308, 1, 1};
    const Matrix<std::int32_t, double> rows(x, 3, 1);
    Fault fault;
    (void)rows.in_units(std::make_shared<ColumnUnits>(ColumnUnits{{0, 0, 0}, {100, 1, 1}, true}),
                        fault);
    CHECK(fault.kind == Fault::Kind::not_finite && fault.row == 0);
}

inline void check_moments() {
    const std::vector<double> x{1, 5, 2, 5, 6, 5};
    const Matrix<std::int32_t, double> rows(x, 2, 3);
    std::array<std::vector<double>, 3> all;
    std::array<std::vector<double>, 3> cut;
    for (auto& one : all) one.assign(2, 0);
    for (auto& one : cut) one.assign(2, 0);
    const ColumnMoments whole{all[0], all[1], all[2]};
    const ColumnMoments parts{cut[0], cut[1], cut[2]};
    whole.add_rows(rows, 0, 3);
    parts.add_rows(rows, 0, 1);
    parts.add_rows(rows, 1, 3);
    CHECK(all == cut);
    CHECK(all[0][0] == 3 && all[1][0] == 3 && std::abs(all[2][0] - 14) < 1e-12);
    CHECK(all[1][1] == 5 && all[2][1] == 0);
    Csr<std::int32_t, double> csr{.n_features = 5};
    csr.add(1, -2);
    csr.add(4, 100);
    csr.end_row();
    std::array<std::vector<double>, 3> raw;
    for (auto& one : raw) one.assign(2, 0);
    ColumnMoments{raw[0], raw[1], raw[2], false}.add_rows(csr.matrix(), 0, 1);
    CHECK(raw[0] == std::vector<double>({0, 1}) && raw[1][1] == 0 && raw[2][1] == 4);
}

}  // namespace column_units

inline constexpr std::array column_units_tests{
    Test{"dense rows are read in place in other units", column_units::check_dense_rows},
    Test{"compressed rows in other units", column_units::check_compressed_rows},
    Test{"values beyond the range in other units are faults", column_units::check_range},
    Test{"moments do not depend on blocks", column_units::check_moments},
};

}  // namespace surelearn::tests
