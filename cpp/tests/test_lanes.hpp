// lane_transaction.hpp: the same bits as transaction.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/constraints.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/lane_transaction.hpp"
#include "surelearn/transaction.hpp"

namespace surelearn::tests {

namespace lanes {

constexpr Shape shape{30, 6, true, true, false, 1.0};

/// A round of random steps on all margins but some; returns whether it was written.
template <class S, class T>
bool round_of(S& system, Diagonal<T>& weights, const Row<std::int32_t, double>& row,
              std::span<const Side> sides, std::uint64_t seed, double size) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return static_cast<double>(random() % 1000) / 1000.0; };
    const Projection projection =
        random() % 2 == 0 ? Projection::precision : Projection::covariance;
    system.load(weights, row, sides);
    CHECK(system.size() == sides.size() - 1);
    std::vector<double> shares;
    for (std::size_t r = 0; r < system.size(); ++r) {
        const Moments margin = system.margin(r);
        if (!finite(margin)) return false;
        double v = 0.0;
        for (const double share : system.shares(r, shares)) v += share;
        CHECK_AT_MOST(std::abs(v - margin.v), 1e-12 * margin.v);
        if (random() % 4 == 0) continue;
        const Step step{size * number(), number() * (1.0 + margin.v)};
        CHECK(system.apply(r, step, projection));
    }
    return system.commit(weights);
}

template <class T>
void compare(std::uint64_t seed, double size) {
    std::mt19937_64 random(seed);
    Diagonal<T> one(shape);
    Diagonal<T> other(shape);
    Transaction<Diagonal<T>> whole;
    LaneTransaction<T> side_by_side;
    for (std::uint64_t i = 0; i < 40; ++i) {
        std::vector<std::int32_t> index;
        std::vector<double> value;
        for (std::int32_t j = 0; j < 30; ++j) {
            if (random() % 3 != 0) continue;
            index.push_back(j);
            value.push_back(static_cast<double>(random() % 17) / 4.0 - 2.1);
        }
        const Row<std::int32_t, double> row{index, value, 4.0};
        std::array<std::size_t, 6> columns{0, 1, 2, 3, 4, 5};
        std::ranges::shuffle(columns, random);
        std::vector<Side> sides{{columns[0], 1.0}};
        const std::size_t n_rivals = 1 + random() % 3;
        for (std::size_t r = 1; r <= n_rivals; ++r) sides.push_back({columns[r], -1.0});
        CHECK(side_by_side.takes(one, sides.size()));
        const bool written = round_of(whole, one, row, sides, seed + i, size);
        CHECK(round_of(side_by_side, other, row, sides, seed + i, size) == written);
        for (std::size_t j = 0; j <= shape.n_features; ++j) {
            for (std::size_t k = 0; k < shape.n_columns; ++k) {
                CHECK(one.cell(j)[one.column(k)] == other.cell(j)[other.column(k)]);
                CHECK(one.sigma(j, k) == other.sigma(j, k));
            }
        }
    }
}

}  // namespace lanes

inline void lanes_give_the_bits_of_a_transaction() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const double size : {1.0, 1e30, 1e300}) {  // the larger ones leave the range of T
            lanes::compare<float>(seed, size);
            lanes::compare<double>(seed, size);
        }
    }
}

inline void lanes_take_up_to_four_columns_of_variances() {
    const auto takes = [](bool second_order, bool averaged, std::size_t n) {
        const Diagonal<float> weights(Shape{3, 6, true, second_order, averaged, 1.0});
        return LaneTransaction<float>::takes(weights, n);
    };
    CHECK(takes(true, false, 2) && takes(true, false, 4));
    CHECK(!takes(true, false, 1) && !takes(true, false, 5));
    CHECK(!takes(false, false, 4) && !takes(true, true, 4));
}

inline constexpr std::array lanes_tests{
    Test{"lanes give the bits of a transaction", lanes_give_the_bits_of_a_transaction},
    Test{"lanes take up to four columns of variances", lanes_take_up_to_four_columns_of_variances},
};

}  // namespace surelearn::tests
