// structured.hpp: a decoder of another kind, the candidates of a ranker, is learnt by the same pass
// as a plain reading of the definition learns it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "surelearn/structured.hpp"

namespace surelearn::tests {

namespace structured {

/// Lists of candidates, each a dense vector; one of each list is the right one.
struct Lists {
    std::size_t n_features;
    std::vector<std::vector<std::vector<double>>> candidates;
    std::vector<std::size_t> right;
    std::vector<double> weight;

    explicit Lists(std::size_t n_lists, std::size_t n_features_ = 6) : n_features(n_features_) {
        std::mt19937_64 random(n_lists);
        const auto number = [&] { return static_cast<double>(random() % 64) / 16.0 - 2.0; };
        for (std::size_t i = 0; i < n_lists; ++i) {
            auto& list = candidates.emplace_back(i % 6);
            for (auto& x : list) {
                for (std::size_t j = 0; j < n_features; ++j) {
                    x.push_back(random() % 3 == 0 ? 0.0 : number());
                }
            }
            // At first all scores are equal, and the first candidate wins.
            right.push_back(i < 4 ? 0 : random() % std::max<std::size_t>(1, list.size()));
            weight.push_back(0.5 + 0.25 * static_cast<double>(random() % 5));
        }
    }
};

/// All that a new kind of structure has to bring.
template <class T>
class Candidates {
public:
    using Data = Lists;
    using Answer = std::size_t;
    using Truth = std::size_t;
    static constexpr bool graded = false;

    Candidates(const Diagonal<T>& weights, const Lists& lists) : weights_(weights), lists_(lists) {}

    [[nodiscard]] bool empty(std::size_t i) const { return lists_.candidates[i].empty(); }
    [[nodiscard]] Truth truth(std::size_t i) const { return lists_.right[i]; }

    void load(std::size_t i, Means means) {
        list_ = lists_.candidates[i];
        scores_.assign(list_.size(), 0.0);
        for (std::size_t c = 0; c < list_.size(); ++c) {
            for (std::size_t j = 0; j < list_[c].size(); ++j) {
                const double mu =
                    means == Means::present ? weights_.cell(j)[0] : weights_.mean(j, 0);
                scores_[c] += mu * list_[c][j];
            }
        }
    }
    [[nodiscard]] bool finite() const {
        return std::ranges::all_of(scores_, [](double s) { return std::isfinite(s); });
    }

    void best(Answer& answer) const {
        answer = static_cast<std::size_t>(std::ranges::max_element(scores_) - scores_.begin());
    }
    [[nodiscard]] bool same(Truth y, Answer answer) const { return y == answer; }
    [[nodiscard]] bool best_other(Truth y, Answer& answer) const {
        const auto ranks = k_best(2);
        answer = ranks[0] != y || ranks.size() == 1 ? ranks[0] : ranks[1];
        return answer != y;
    }
    [[nodiscard]] std::vector<Answer> k_best(std::size_t k) const {
        std::vector<Answer> ranks(scores_.size());
        std::iota(ranks.begin(), ranks.end(), std::size_t{0});
        std::ranges::stable_sort(ranks, std::greater{}, [&](Answer c) { return scores_[c]; });
        ranks.resize(std::min(k, ranks.size()));
        return ranks;
    }

    /// A wrong candidate is the worse the further its place is from the right one.
    [[nodiscard]] double distance(Truth y, Answer answer) const {
        return std::fabs(static_cast<double>(y) - static_cast<double>(answer));
    }
    void augment_loss(Truth y) {
        for (std::size_t c = 0; c < scores_.size(); ++c) scores_[c] += distance(y, c);
    }

    void difference(Truth y, Answer answer, SparseDifference<T>& g) const {
        g.clear();
        for (std::size_t j = 0; j < list_[y].size(); ++j) {
            g.add(j, 0, list_[y][j]);
            g.add(j, 0, -list_[answer][j]);
        }
        g.settle();
    }

private:
    const Diagonal<T>& weights_;
    const Lists& lists_;
    std::span<const std::vector<double>> list_;
    std::vector<double> scores_;
};

static_assert(Decoder<Candidates<double>, double>);
static_assert(!Decoder<Lists, double>);

/// The definition, read slowly: all wrong answers are ranked, and g is a dense vector.
struct Reference {
    const Lists& lists;
    const Method& method;
    std::vector<double> mu;
    std::vector<double> sigma;
    std::vector<double> sum_of_means;  ///< over rounds, for the average
    Tally tally{};
    std::uint64_t rounds = 0;

    Reference(const Lists& lists_, const Method& method_)
        : lists(lists_),
          method(method_),
          mu(lists.n_features, 0.0),
          sigma(lists.n_features, 1.0),
          sum_of_means(lists.n_features, 0.0) {}

    [[nodiscard]] double score(const std::vector<double>& x) const {
        return std::inner_product(x.begin(), x.end(), mu.begin(), 0.0);
    }

    void learn(std::size_t i) {
        const auto& list = lists.candidates[i];
        const std::size_t y = lists.right[i];
        if (list.empty()) return;
        const bool margin = asks_of(method.rule) == Asks::margin;
        const auto distance = [&](std::size_t c) {
            return std::fabs(static_cast<double>(c) - static_cast<double>(y));
        };
        std::vector<double> plain, shown;
        for (std::size_t c = 0; c < list.size(); ++c) {
            plain.push_back(score(list[c]));
            shown.push_back(plain[c] + (margin ? distance(c) : 0.0));
        }
        const bool mistaken =
            static_cast<std::size_t>(std::ranges::max_element(plain) - plain.begin()) != y;
        std::vector<std::size_t> rivals;
        for (std::size_t c = 0; c < list.size(); ++c) {
            // A single constraint on a margin that y meets by more than any distance is met.
            const bool single = method.scheme.kind == Scheme::Kind::single;
            const bool beaten =
                single && margin && (shown[c] < shown[y] || (shown[c] == shown[y] && y < c));
            if (c != y && !beaten) rivals.push_back(c);
        }
        std::ranges::stable_sort(rivals, std::greater{}, [&](std::size_t c) { return shown[c]; });
        const bool single = method.scheme.kind == Scheme::Kind::single;
        rivals.resize(std::min(rivals.size(), single ? 1 : method.scheme.k));
        if (learns_from_mistakes_only(method.rule) && !mistaken) rivals.clear();
        bool moved = false;
        for (const std::size_t c : rivals) {
            moved |= step(list[y], list[c], margin ? distance(c) : 1.0, lists.weight[i]);
        }
        tally.updates += moved ? 1 : 0;
        tally.mistakes += mistaken ? 1 : 0;
        ++rounds;
        for (std::size_t j = 0; j < mu.size(); ++j) sum_of_means[j] += mu[j];
    }

    bool step(const std::vector<double>& right, const std::vector<double>& wrong, double cost,
              double weight) {
        std::vector<double> g(mu.size()), a(mu.size());
        for (std::size_t j = 0; j < g.size(); ++j) g[j] = right[j] - wrong[j];
        Moments margin;
        for (std::size_t j = 0; j < g.size(); ++j) {
            a[j] = sigma[j] * g[j] * g[j];
            margin.m += mu[j] * g[j];
            margin.v += a[j];
        }
        const auto shares = [&] { return std::span<const double>(a); };
        const Step step = costed_step(method.rule, cost, margin, weight, shares);
        for (std::size_t j = 0; j < g.size(); ++j) {
            mu[j] += step.alpha * sigma[j] * g[j];
            sigma[j] = method.projection == Projection::precision
                           ? 1.0 / (1.0 / sigma[j] + step.gain * g[j] * g[j])
                           : sigma[j] * (1.0 - step.gain / (1.0 + step.gain * margin.v) * a[j]);
        }
        return step.moves();
    }
};

inline const std::array<Method, 8> methods{
    Method{rules::Variance{1.0}, Projection::precision, {}},
    Method{rules::VarianceExact{0.5}, Projection::precision, {}},
    Method{rules::Stdev{0.7}, Projection::covariance, {}},
    Method{rules::AROW{1.0}, Projection::covariance, {}},
    Method{rules::AROW{2.0}, Projection::precision, {Scheme::Kind::sequential, 4, {}}},
    Method{rules::Perceptron{}, Projection::precision, {}},
    Method{rules::Perceptron{}, Projection::precision, {Scheme::Kind::sequential, 2, {}}},
    Method{rules::PA1{0.1}, Projection::precision, {}},
};

[[nodiscard]] inline Diagonal<double> blank(const Lists& lists, const Method& method) {
    return Diagonal<double>(Shape{.n_features = lists.n_features,
                                  .n_columns = 1,
                                  .intercept = false,
                                  .second_order = !first_order(method.rule),
                                  .averaged = true});
}

}  // namespace structured

inline void a_decoder_is_all_that_a_structure_needs() {
    const structured::Lists lists(90);
    for (const Method& method : structured::methods) {
        auto weights = structured::blank(lists, method);
        const Examples examples{.weight = lists.weight, .order = {}};
        StructuredPass<double, structured::Candidates<double>> pass(weights, method, lists,
                                                                    examples);
        structured::Reference slow(lists, method);
        const Tally tally = pass.run(0, lists.right.size());
        for (std::size_t i = 0; i < lists.right.size(); ++i) slow.learn(i);
        CHECK(!tally.refused && tally.end == lists.right.size());
        CHECK(tally.updates == slow.tally.updates && tally.mistakes == slow.tally.mistakes);
        CHECK(weights.rounds() == slow.rounds && tally.updates > 0);
        const auto n = static_cast<double>(slow.rounds + 1);  // the zeros of the start count
        for (std::size_t j = 0; j < lists.n_features; ++j) {
            CHECK_AT_MOST(std::fabs(weights.cell(j)[0] - slow.mu[j]), 1e-12);
            CHECK_AT_MOST(std::fabs(weights.mean(j, 0) - slow.sum_of_means[j] / n), 1e-12);
            if (weights.shape().second_order) {
                CHECK_AT_MOST(std::fabs(weights.sigma(j, 0) / slow.sigma[j] - 1.0), 1e-12);
            }
        }
    }
}

/// Refused by its scores, at its first step, or at its last one: the huge candidate ranks there.
inline void a_refused_structure_ends_no_round() {
    structured::Lists lists(30);
    lists.right[23] = 1;
    for (const double huge : {std::numeric_limits<double>::infinity(), 1e200, -1e200}) {
        lists.candidates[23][0].assign(lists.n_features, huge);
        for (const Method& method : structured::methods) {
            auto weights = structured::blank(lists, method);
            const Examples examples{};
            StructuredPass<double, structured::Candidates<double>> pass(weights, method, lists,
                                                                        examples);
            CHECK(pass.run(0, 23).end == 23);
            std::vector<double> before(weights.cell(0), weights.cell(lists.n_features));
            const auto rounds = weights.rounds();
            const Tally tally = pass.run(23, 24);
            if (!tally.refused) continue;  // PA1 moves by little, however large the features
            CHECK(tally.end == 23 && tally.updates == 0 && tally.mistakes == 0);
            CHECK(weights.rounds() == rounds);
            CHECK(std::ranges::equal(before, std::span(weights.cell(0), before.size())));
        }
    }
}

inline void structures_are_learnt_in_the_order_given() {
    const structured::Lists lists(40);
    const Method& method = structured::methods[0];
    std::vector<std::int64_t> order(lists.right.size());
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
    auto weights = structured::blank(lists, method);
    const Examples examples{.weight = {}, .order = order};
    StructuredPass<double, structured::Candidates<double>> pass(weights, method, lists, examples);
    CHECK(!pass.run(0, order.size()).refused);
    auto one_by_one = structured::blank(lists, method);
    const Examples as_they_lie{};
    StructuredPass<double, structured::Candidates<double>> single(one_by_one, method, lists,
                                                                  as_they_lie);
    for (std::size_t i = order.size(); i-- > 0;) CHECK(!single.run(i, i + 1).refused);
    CHECK(std::ranges::equal(std::span(weights.cell(0), lists.n_features * weights.stride()),
                             std::span(one_by_one.cell(0), lists.n_features * weights.stride())));
}

inline constexpr std::array structured_tests{
    Test{"a decoder is all that a structure needs", a_decoder_is_all_that_a_structure_needs},
    Test{"a refused structure ends no round", a_refused_structure_ends_no_round},
    Test{"structures are learnt in the order given", structures_are_learnt_in_the_order_given},
};

}  // namespace surelearn::tests
