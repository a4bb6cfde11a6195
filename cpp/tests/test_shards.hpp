// shards.hpp and own_features.hpp: ranges of features, shards without some of them, and what does
// not fit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "surelearn/own_features.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/shards.hpp"

namespace surelearn::tests {

namespace sharding {

constexpr std::size_t n_features = 10'000;

/// A base of `columns` columns, and shards that have each moved every third feature.
struct Example {
    RunLayout run;
    std::vector<float> base;
    std::vector<std::vector<std::int64_t>> features{3};
    std::vector<std::vector<float>> cells{3};

    explicit Example(std::size_t columns) : run{columns, true, false} {
        for (std::size_t j = 0; j < n_features; ++j) {
            for (std::size_t k = 0; k < columns; ++k) base.push_back(static_cast<float>(j % 7));
            for (std::size_t k = 0; k < columns; ++k) base.push_back(1.0F);
            const std::size_t i = j % 3;
            features[i].push_back(static_cast<std::int64_t>(j));
            for (std::size_t k = 0; k < columns; ++k)
                cells[i].push_back(static_cast<float>(j % 7 + k));
            for (std::size_t k = 0; k < columns; ++k) cells[i].push_back(0.5F);
        }
    }

    [[nodiscard]] std::vector<ShardRuns<float>> shards() const {
        std::vector<ShardRuns<float>> all;
        for (std::size_t i = 0; i < 3; ++i) {
            all.push_back({features[i], cells[i].data(), false, 1.0});
        }
        return all;
    }
};

}  // namespace sharding

/// One shard alone has moved each feature, so the result is what it has.
inline void one_shard_comes_to_itself() {
    for (const std::size_t columns : {1, 2, 4, 5}) {
        for (const double tau : {1.0, std::numeric_limits<double>::infinity()}) {
            sharding::Example example(columns);
            const auto shards = example.shards();
            const ShardMerger<float> merger(shards, example.run, {0.0, 3.0}, tau);
            auto bounds = Bounds<float>::of_prior(1.0);
            for (std::size_t begin = 0; begin < sharding::n_features; begin += 1234) {
                const std::size_t end = std::min(begin + 1234, sharding::n_features);
                CHECK(merger.merge(example.base.data(), begin, end, bounds));
            }
            std::size_t wrong = 0;
            for (std::size_t j = 0; j < sharding::n_features; ++j) {
                const float* const own = example.cells[j % 3].data() + j / 3 * 2 * columns;
                const float* const found = example.base.data() + j * 2 * columns;
                wrong += std::equal(own, own + 2 * columns, found) ? 0 : 1;
            }
            CHECK(wrong == 0);
            CHECK(bounds.mean() == static_cast<double>(6 + columns - 1));
            CHECK(bounds.precision() == 2.0);
        }
    }
}

inline void an_overflow_of_a_merge_is_told() {
    const float most = std::numeric_limits<float>::max();
    for (const std::size_t columns : {1, 2, 5}) {
        std::vector<float> base(2 * columns, 0.0F);
        std::vector<float> own(2 * columns, most);
        for (std::size_t k = 0; k < columns; ++k) base[columns + k] = 1.0F;
        for (std::size_t k = 0; k < columns; ++k) own[columns + k] = 0.5F;
        const std::vector<ShardRuns<float>> shards(3, {{}, own.data(), true, 1.0});
        auto bounds = Bounds<float>::of_prior(1.0);
        const ShardMerger<float> merger(shards, {columns, true, false}, {0.0, 3.0}, 1e-6);
        CHECK(!merger.merge(base.data(), 0, 1, bounds));
    }
}

inline void rows_under_their_own_features_are_the_same_rows() {
    const std::vector<std::int64_t> start{0, 2, 2, 5, 6};
    const std::vector<std::int32_t> index{3, 900, 3, 40, 41, 7};
    const std::vector<float> value{1, 2, 3, 4, 5, 6};
    Matrix<std::int32_t, float> rows(start, index, value, 1000);
    CHECK(!rows.inspect());
    const auto own = own_features(rows, 1, 3);
    CHECK((own.features == std::vector<std::int64_t>{3, 40, 41}));
    CHECK((own.start == std::vector<std::int64_t>{0, 0, 3}));
    CHECK((own.index == std::vector<std::int32_t>{0, 1, 2}));
    const auto some = rows.renumbered(1, own.start, own.index, 3);
    CHECK(some.size() == 2 && some.n_features() == 3);
    CHECK(some.stored(1).x(2) == 5.0);
    const std::vector<std::int64_t> two{0, 2};
    Matrix<std::int32_t, float> narrow(two, index, value, 901);
    CHECK(!narrow.inspect());
    CHECK(own_features(narrow, 0, 1).start.size() == 2);
    const std::vector<std::int32_t> both{0, 1};
    const Matrix<std::int32_t, float> most(two, both, value, 3);
    CHECK(own_features(most, 0, 1).start.empty());
}

inline constexpr std::array shards_tests{
    Test{"one shard comes to itself", one_shard_comes_to_itself},
    Test{"an overflow of a merge is told", an_overflow_of_a_merge_is_told},
    Test{"rows under their own features are the same rows",
         rows_under_their_own_features_are_the_same_rows},
};

}  // namespace surelearn::tests
