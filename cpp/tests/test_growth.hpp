// weight_table.hpp and column_order.hpp: columns that come one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "check.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/learn.hpp"
#include "test_diagonal.hpp"

namespace surelearn::tests {

namespace growth {

using diagonal::Entries;

inline const Entries sample{{0, 1, 3, 4, 6}, {0.5, -2.0, 1.0, 3.0, 0.125}};

/// Where each label was before one came at `place`: [0, 1, -1, 2, ...].
[[nodiscard]] inline std::vector<std::int64_t> with_label_at(std::size_t place, std::size_t n) {
    std::vector<std::int64_t> from(n);
    std::iota(from.begin(), from.end(), 0);
    from.insert(from.begin() + static_cast<std::ptrdiff_t>(place), -1);
    return from;
}

/// As a stream of new classes does it.
template <class T>
[[nodiscard]] Diagonal<T> grown(Diagonal<T>& weights, std::span<const std::int64_t> from) {
    if (auto extended = weights.extended(from)) return *std::move(extended);
    return weights.with_columns(from, weights.room_for(from.size()));
}

/// All that can be asked of weights is the same as of a copy whose columns lie in order.
template <class T>
void check_same(const Diagonal<T>& weights, const Diagonal<T>& sorted) {
    const std::size_t K = sorted.shape().n_columns;
    CHECK(weights.shape().n_columns == K && bits(weights) == bits(sorted));
    std::vector<double> a(K), b(K);
    const auto row = sample.row();
    const auto same = [&](const auto& ask) {
        ask(weights, a);
        ask(sorted, b);
        CHECK(a == b);
    };
    same([&](const auto& w, auto& s) { w.scores(row, s); });
    same([&](const auto& w, auto& s) { w.averaged_scores(row, s); });
    same([&](const auto& w, auto& s) { w.variances(row, s); });
    for (std::size_t k = 0; k < K; ++k) {
        CHECK(weights.mean(4, k) == sorted.mean(4, k) && weights.sigma(4, k) == sorted.sigma(4, k));
    }
    typename Diagonal<T>::Work work;
    const std::array g{Side{K - 1, 1.0}, Side{0, -1.0}};
    CHECK(weights.variance(row, g, work) == sorted.variance(row, g, work));
    for (std::size_t j = 0; j < 8; ++j) CHECK(weights.untouched(j) == sorted.untouched(j));
}

template <class T>
void check_one_by_one(bool averaged) {
    const Shape shape{.n_features = 7, .n_columns = 3, .averaged = averaged, .prior = 0.3};
    Diagonal<T> weights = diagonal::worn<T>(shape);
    auto sorted = diagonal::worn<T>(shape);
    Journal<T> journal;
    std::size_t place = 1;
    for (std::size_t K = 3; K < 40; ++K) {
        place = (place * 7 + 3) % (K + 1);
        const auto from = with_label_at(place, K);
        weights = grown(weights, from);
        sorted = sorted.with_columns(from);
        CHECK(sorted.capacity() == K + 1 && sorted.order().is_sorted());
        check_same(weights, sorted);
        const std::array g{Side{place, 1.0}, Side{place == 0 ? K : place - 1, -1.0}};
        for (auto* each : {&weights, &sorted}) {
            const double v = each->variance(sample.row(), g, journal);
            CHECK(each->update(sample.row(), g, {0.5, 0.25}, v, Projection::covariance, journal));
            each->end_round();
        }
        check_same(weights, sorted);
        CHECK(weights.capacity() <= (K + 1) * 3 / 2);
    }
    CHECK(!weights.order().is_sorted());
}

inline const std::array rule_list = {AnyRule{rules::AROW{1.0}}, AnyRule{rules::Stdev{0.5}}};

/// The same rows to weights that have grown and to some that are laid out afresh.
inline void check_learning(const Method& method, bool coded) {
    constexpr std::size_t K = 6;
    Diagonal<float> weights(Shape{.n_features = 7, .n_columns = 2, .averaged = true});
    for (std::size_t n = 2; n < K; ++n) weights = grown(weights, with_label_at(n == 3 ? 3 : 0, n));
    CHECK(!weights.order().is_sorted());
    Diagonal<float> sorted(Shape{.n_features = 7, .n_columns = K, .averaged = true});
    const std::vector<std::int32_t> index{0, 1, 3, 4, 6, 2, 3, 5, 0, 6};
    const std::vector<double> value{0.5, -2.0, 1.0, 3.0, 0.125, 1.0, -1.0, 2.0, -3.0, 0.25};
    const std::vector<std::int64_t> starts{0, 2, 5, 6, 8, 10};
    const Matrix<std::int32_t, double> rows(starts, index, value, 7);
    const std::vector<std::int32_t> y{5, 0, 3, 1, 5};
    std::vector<std::int8_t> code(K * K, -1);
    for (std::size_t k = 0; k < K; ++k) code[k * K + k] = 1;
    std::array<Tally, 2> tallies;
    std::size_t i = 0;
    for (auto* each : {&weights, &sorted}) {
        std::vector<std::uint8_t> known{1, 0, 1, 1, 1, 0};
        const std::span<const std::int8_t> problems =
            coded ? std::span<const std::int8_t>(code) : std::span<const std::int8_t>();
        const Targets targets{y, {}, known, {}, problems};
        tallies[i++] = learn(*each, method, rows, targets, 0, y.size());
    }
    CHECK(tallies[0].end == 5 && tallies[0].mistakes == tallies[1].mistakes);
    CHECK(tallies[0].updates == tallies[1].updates && tallies[0].updates > 0);
    check_same(weights, sorted);
}

}  // namespace growth

inline void an_order_sorts_numbers_of_columns() {
    std::vector<std::uint32_t> columns{0};
    for (std::uint32_t n = 1; n < 50; ++n) {
        columns.insert(columns.begin() + (n * 17) % (n + 1), n);
        const ColumnOrder order(columns);
        std::vector<double> numbers(columns.size());
        std::iota(numbers.begin(), numbers.end(), 0.0);
        order.sort(numbers);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            CHECK(numbers[k] == columns[k] && order.column(k) == columns[k]);
            CHECK(order.label(columns[k]) == k);
        }
    }
    CHECK(ColumnOrder({0, 1, 2}).is_sorted() && !ColumnOrder({1, 0}).is_sorted());
    CHECK(ColumnOrder().column(7) == 7 && ColumnOrder().label(7) == 7);
}

inline void columns_that_come_one_by_one_are_as_if_laid_out_afresh() {
    for (const bool averaged : {false, true}) {
        growth::check_one_by_one<float>(averaged);
        growth::check_one_by_one<double>(averaged);
    }
}

inline void grown_weights_learn_the_same_bits() {
    for (const AnyRule& rule : growth::rule_list) {
        for (const bool coded : {false, true}) {
            growth::check_learning({rule, Projection::precision, {}}, coded);
            growth::check_learning({rule, Projection::covariance, {}}, coded);
        }
        growth::check_learning({rule, Projection::precision, {Scheme::Kind::sequential, 3, {}}},
                               false);
    }
}

/// 400 columns that come one by one are copied thrice each at most, and mostly nothing is copied.
inline void new_columns_are_copied_a_few_times() {
    Diagonal<float> weights(Shape{.n_features = 7, .n_columns = 2});
    std::size_t copies = 0;
    std::size_t copied = 0;
    for (std::size_t n = 2; n < 400; ++n) {
        const float* const before = weights.cell(0);
        const auto from = growth::with_label_at(n / 2, n);
        weights = growth::grown(weights, from);
        const bool moved = weights.cell(0) != before;
        copies += moved ? 1 : 0;
        copied += moved ? n : 0;
    }
    CHECK(copies <= 15 && copied <= 3 * 400 && weights.capacity() <= 600);
}

inline void only_the_newest_of_one_memory_takes_more_room() {
    Diagonal<float> first(Shape{.n_features = 3, .n_columns = 2});
    auto roomy = first.with_columns(std::vector<std::int64_t>{0, 1}, 5);
    CHECK(!roomy.extended(std::vector<std::int64_t>{0}));         // drops a column
    CHECK(!roomy.extended(std::vector<std::int64_t>{1, 0, -1}));  // moves one
    CHECK(!roomy.extended(std::vector<std::int64_t>{0, 1, -1, -1, -1, -1}));
    const auto grown = roomy.extended(std::vector<std::int64_t>{-1, 0, 1});
    CHECK(grown && grown->cell(0) == roomy.cell(0) && roomy.cell(0) != first.cell(0));
    CHECK(!roomy.extended(std::vector<std::int64_t>{0, -1, 1}));  // the column is another's by now
    CHECK(roomy.shape().n_columns == 2 && grown->shape().n_columns == 3);
}

/// What one has learnt the other has, each of its own columns.
inline void an_older_model_sees_its_own_columns() {
    auto weights = Diagonal<float>(Shape{.n_features = 7, .n_columns = 2})
                       .with_columns(std::vector<std::int64_t>{0, 1}, 4);
    auto grown = weights.extended(std::vector<std::int64_t>{-1, 0, 1});
    Journal<float> journal;
    const auto row = growth::sample.row();
    const std::array g{Side{0, 1.0}, Side{2, -1.0}};
    CHECK(grown->update(row, g, {1.0, 1.0}, 1.0, Projection::precision, journal));
    std::array<double, 2> old{};
    std::array<double, 3> now{};
    weights.scores(row, old);
    grown->scores(row, now);
    CHECK(now[0] > 0.0 && now[1] == 0.0 && now[2] < 0.0);
    CHECK(old[0] == now[1] && old[1] == now[2]);
}

/// A class that comes after the scale has changed starts at the new prior, wherever its column is.
inline void room_keeps_to_the_scale() {
    auto weights =
        Diagonal<float>(Shape{.n_features = 4, .n_columns = 2, .intercept = false, .prior = 1e-17})
            .with_columns(std::vector<std::int64_t>{0, 1}, 4);
    weights.keep_in_range();
    CHECK(weights.prior() > 1e-3);
    const auto grown = weights.extended(std::vector<std::int64_t>{0, -1, 1});
    for (std::size_t j = 0; j < 4; ++j) {
        CHECK(grown->untouched(j) && grown->sigma(j, 1) == static_cast<float>(weights.prior()));
    }
    // Another's column counts, though it is none of ours.
    auto large = weights.with_columns(std::vector<std::int64_t>{0, 1}, 4);
    auto newest = large.extended(std::vector<std::int64_t>{0, 1, -1});
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t b = 0; b < 3; ++b) newest->cell(j)[4 + b] = b == 2 ? 0.5F : 1e-20F;
    }
    const auto before = bits(*newest);
    large.keep_in_range();
    CHECK(bits(*newest) == before);
}

inline constexpr std::array growth_tests = {
    Test{"an order sorts numbers of columns", an_order_sorts_numbers_of_columns},
    Test{"columns that come one by one", columns_that_come_one_by_one_are_as_if_laid_out_afresh},
    Test{"grown weights learn the same bits", grown_weights_learn_the_same_bits},
    Test{"new columns are copied a few times", new_columns_are_copied_a_few_times},
    Test{"only the newest takes room", only_the_newest_of_one_memory_takes_more_room},
    Test{"an older model sees its own columns", an_older_model_sees_its_own_columns},
    Test{"room keeps to the scale", room_keeps_to_the_scale},
};

}  // namespace surelearn::tests
