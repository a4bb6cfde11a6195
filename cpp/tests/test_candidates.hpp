// candidates.hpp and crossing.hpp: rivals and partners by their definition, covariances and leads
// of groups, and the products of two rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/candidates.hpp"
#include "surelearn/crossing.hpp"

namespace surelearn::tests {

namespace candidates {

using Sparse = Matrix<std::int32_t, double>;

/// Groups of zero to five candidates with grades of cost, over few features.
struct Groups {
    static constexpr std::size_t n_features = 9;
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> index;
    std::vector<double> value;
    std::vector<std::int64_t> bounds{0};
    std::vector<double> cost;

    explicit Groups(std::size_t n) {
        std::mt19937_64 random(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t c = 0; c < i % 6; ++c) {
                for (std::int32_t j = 0; j < static_cast<std::int32_t>(n_features); ++j) {
                    if (random() % 2 == 0) continue;
                    index.push_back(j);
                    value.push_back(static_cast<double>(random() % 31) / 8.0 - 1.9);
                }
                start.push_back(static_cast<std::int64_t>(index.size()));
                cost.push_back(static_cast<double>(random() % 3));
            }
            bounds.push_back(static_cast<std::int64_t>(cost.size()));
        }
    }

    [[nodiscard]] Sparse rows() const { return {start, index, value, n_features}; }
    [[nodiscard]] std::vector<double> dense(std::size_t row) const {
        std::vector<double> x(n_features, 0.0);
        for (auto p = static_cast<std::size_t>(start[row]);
             p < static_cast<std::size_t>(start[row + 1]); ++p) {
            x[static_cast<std::size_t>(index[p])] = value[p];
        }
        return x;
    }
};

[[nodiscard]] inline Diagonal<double> weights_of(bool averaged = false) {
    return Diagonal<double>(
        Shape{.n_features = Groups::n_features, .intercept = false, .averaged = averaged});
}

[[nodiscard]] inline double score(const Diagonal<double>& weights, std::span<const double> x) {
    double sum = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += weights.mean(j, 0) * x[j];
    return sum;
}

/// Learns all groups in two passes.
inline Tally teach(Diagonal<double>& weights, const Groups& data, const Sparse& rows,
                   bool all_right, std::size_t k = 1) {
    const Scheme::Kind kind = k == 1 ? Scheme::Kind::single : Scheme::Kind::sequential;
    const Method method{.rule = rules::AROW{0.5}, .scheme = {kind, k, {}}};
    const CandidateGroups<std::int32_t, double> groups{rows, data.bounds, data.cost, all_right};
    const Examples examples{};
    StructuredPass<double, CandidateDecoder<double, std::int32_t, double>> pass(weights, method,
                                                                                groups, examples);
    (void)pass.run(0, groups.size());
    return pass.run(0, groups.size());
}

}  // namespace candidates

/// best_other, k_best, distance and partner against a plain search.
inline void rivals_and_partners_are_those_of_the_definition() {
    const candidates::Groups data(60);
    const auto rows = data.rows();
    auto weights = candidates::weights_of();
    (void)candidates::teach(weights, data, rows, true);
    for (const bool all_right : {true, false}) {
        const CandidateGroups<std::int32_t, double> groups{rows, data.bounds, data.cost, all_right};
        CandidateDecoder<double, std::int32_t, double> decoder(weights, groups);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (decoder.empty(i)) continue;
            decoder.load(i, Means::present);
            const RowRange range = groups.rows_of(i);
            const double y = decoder.truth(i);
            const auto cost = [&](std::size_t c) { return data.cost[range.begin + c]; };
            for (const std::size_t wrong : decoder.k_best(range.size())) {
                double partner = all_right ? HUGE_VAL : -HUGE_VAL;
                double distance = 0.0;
                for (std::size_t c = 0; c < range.size(); ++c) {
                    const double s = decoder.scores()[c];
                    if (cost(c) >= cost(wrong) || !(all_right ? s < partner : s > partner))
                        continue;
                    partner = s;
                    distance = cost(wrong) - cost(c);
                }
                CHECK(cost(wrong) > y && decoder.distance(y, wrong) == distance);
                SparseDifference<double> g;
                decoder.difference(y, wrong, g);
                const double margin = partner - decoder.scores()[wrong];
                CHECK_AT_MOST(std::fabs(g.moments(weights).m - margin), 1e-12);
            }
            std::size_t best = 0;
            CHECK(decoder.best_other(y, best) && best == decoder.k_best(1)[0]);
        }
    }
}

inline void groups_of_equal_costs_are_no_rounds() {
    candidates::Groups data(40);
    std::ranges::fill(data.cost, 2.0);
    const auto rows = data.rows();
    auto weights = candidates::weights_of();
    const Tally tally = candidates::teach(weights, data, rows, true);
    CHECK(tally.end == 40 && tally.updates == 0 && tally.mistakes == 0 && weights.rounds() == 0);
}

/// After learning with all rivals, fewer groups are led by a wrong candidate than at the start.
inline void more_rivals_learn_more() {
    const candidates::Groups data(80);
    const auto rows = data.rows();
    auto single = candidates::weights_of();
    auto several = candidates::weights_of();
    const Tally one = candidates::teach(single, data, rows, true);
    const Tally all = candidates::teach(several, data, rows, true, 5);
    CHECK(one.mistakes < 40 && all.mistakes < 40 && one.updates > 0);
    CHECK(several.cell(0)[0] != single.cell(0)[0]);
}

inline void leads_and_covariances_are_those_of_the_scores() {
    const candidates::Groups data(60);
    const auto rows = data.rows();
    auto weights = candidates::weights_of(true);
    (void)candidates::teach(weights, data, rows, true);
    const CandidateGroups<std::int32_t, double> groups{rows, data.bounds};
    std::size_t seen = 0;
    each_lead(weights, groups, {0, groups.size()}, [&](std::size_t i, const CandidateLead& lead) {
        const RowRange range = groups.rows_of(i);
        std::vector<double> C(range.size() * range.size());
        score_covariances(weights, groups, i, C);
        const std::size_t a = lead.best - range.begin;
        const std::size_t b = lead.next - range.begin;
        const double gap = candidates::score(weights, data.dense(lead.best)) -
                           candidates::score(weights, data.dense(lead.next));
        const auto at = [&](std::size_t p, std::size_t q) { return C[p * range.size() + q]; };
        CHECK(a != b && lead.gap.m >= 0.0);
        CHECK_AT_MOST(std::fabs(lead.gap.m - gap), 1e-12);
        CHECK_AT_MOST(std::fabs(lead.gap.v - (at(a, a) + at(b, b) - 2.0 * at(a, b))), 1e-12);
        ++seen;
    });
    CHECK(seen == 40);  // groups of no or one candidate have no lead
}

inline void crossed_rows_are_products() {
    const candidates::Groups data(12);
    const auto rows = data.rows();
    constexpr std::size_t d = candidates::Groups::n_features;
    for (const bool hashed : {false, true}) {
        const PairPlaces place{hashed ? std::uint64_t{7} : std::uint64_t{d * d}, d, hashed};
        CrossedRow row(place);
        for (std::size_t a = 0; a < rows.size(); ++a) {
            const std::size_t b = rows.size() - 1 - a;
            std::map<std::uint64_t, double> want;
            for (std::size_t i = 0; i < d; ++i) {
                for (std::size_t j = 0; j < d; ++j) {
                    const double x = data.dense(a)[i] * data.dense(b)[j];
                    if (x != 0.0) want[place(i, j)] += x;
                }
            }
            const auto got = row.cross(rows.stored(a), rows.stored(b));
            CHECK(got.size() == want.size());
            auto next = want.begin();
            for (const auto& [feature, value] : got) {
                CHECK(feature == next->first && feature < place.n_features);
                CHECK_AT_MOST(std::fabs(value - (next++)->second), 1e-12);
            }
        }
    }
}

inline constexpr std::array candidates_tests{
    Test{"rivals and partners are those of the definition",
         rivals_and_partners_are_those_of_the_definition},
    Test{"groups of equal costs are no rounds", groups_of_equal_costs_are_no_rounds},
    Test{"more rivals learn more", more_rivals_learn_more},
    Test{"leads and covariances are those of the scores",
         leads_and_covariances_are_those_of_the_scores},
    Test{"crossed rows are products", crossed_rows_are_products},
};

}  // namespace surelearn::tests
