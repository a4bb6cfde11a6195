// One pass over rows: decode, margin, rule, update.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <variant>

#include "surelearn/coded_steps.hpp"
#include "surelearn/constraints.hpp"
#include "surelearn/decode.hpp"
#include "surelearn/lookahead.hpp"
#include "surelearn/round.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/scratch.hpp"
#include "surelearn/targets.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

namespace detail {

/// One round: compute g, ask the rule for a step, update the weights.
template <Weights W, class M>
class Round {
public:
    using RowView = typename M::RowView;

    Round(W& weights, const Method& method, const Targets& targets, Scratch<W, M>& scratch)
        : weights_(weights), method_(method), targets_(targets), scratch_(scratch) {}

    /// Two classes, one vector: g = y x with y = -1 or +1.
    [[nodiscard]] bool binary(const RowView& row, const RowView& ahead, std::int32_t label,
                              double weight, Tally& tally) {
        const std::array g{Side{0, label == 1 ? 1.0 : -1.0}};
        const std::size_t y = label == 1 ? 1 : 0;
        const double cost = targets_.cost_of(y, 1 - y);
        if constexpr (W::bounds_variance) {
            const Moments bound = weights_.bound(row, g, scratch_.work);
            if (!finite(bound)) return false;
            if (stays(row, g, bound, cost, weight)) return close(Outcome::unmoved, bound.m, tally);
        }
        const Moments margin = weights_.moments(row, g, some_of(ahead), scratch_.work);
        if (!finite(margin)) return false;
        if constexpr (!W::meets_one_constraint) {
            if (method_.scheme.kind == Scheme::Kind::exact && projects()) {
                scratch_.rivals.assign(1, 1 - y);
                return close(many(row, g, y, weight), margin.m, tally);
            }
        }
        return close(one(row, g, margin, cost, weight), margin.m, tally);
    }

    /// One block per class: g = f(x, y) - f(x, rival) for the best wrong label, or for several.
    [[nodiscard]] bool joint(const RowView& row, const RowView& ahead, std::size_t y, double weight,
                             Tally& tally) {
        const bool arrived = targets_.known[y] == 0;
        if (arrived) {
            targets_.known[y] = 1;
            weights_.look_again();
        }
        auto& scores = scratch_.scores;
        scores.resize(targets_.known.size());
        weights_.scores(row, scores, some_of(ahead));
        for (std::size_t k = 0; k < scores.size(); ++k) {
            if (targets_.known[k] == 0) scores[k] = -std::numeric_limits<double>::infinity();
        }
        const bool single = method_.scheme.kind == Scheme::Kind::single;
        const bool learnt =
            single ? best_only(row, y, weight, tally) : ranked(row, y, weight, tally);
        if (!learnt && arrived) targets_.known[y] = 0;  // a refused row makes no class known
        return learnt;
    }

    /// Each column is a binary problem: the code says whether a class is +1, -1 or absent in it. A
    /// problem is learnt once it has a known class on each side.
    [[nodiscard]] bool coded(const RowView& row, const RowView& ahead, std::size_t y, double weight,
                             Tally& tally) {
        if constexpr (!W::holds_coded_problems) {
            return false;
        } else {
            const bool arrived = targets_.known[y] == 0;
            targets_.known[y] = 1;
            auto& steps = scratch_.steps;
            auto& problems = scratch_.problems;
            if (arrived || problems.empty()) find_problems();
            if (arrived) weights_.look_again();
            steps.resize(weights_.shape().n_columns, problems.of(y).size());
            bool won = false;
            if (problems.all_pairs()) {
                weights_.moments_of(problems.of(y), row, steps.own, steps.v, ahead);
                won = problems.wins(y, steps.own, steps.s);
                if (!won) weights_.scores(row, steps.s);  // only the count of mistakes needs them
            } else {
                weights_.moments(row, steps.s, steps.v, problems.of(y), ahead);
            }
            const std::size_t B = steps.s.size();
            const Outcome outcome = take_steps(row, y, targets_.code.subspan(y * B, B), weight);
            if (outcome == Outcome::refused && arrived) {
                targets_.known[y] = 0;
                find_problems();
            }
            return close(outcome, won ? 1.0 : problems.lead(y, steps.s, targets_.known), tally);
        }
    }

    /// Each column is a label: +1 if the row has it, -1 if not. A label is learnt from the first
    /// row that has it.
    [[nodiscard]] bool labelled(const RowView& row, const RowView& ahead,
                                std::span<const std::int32_t> labels, double weight, Tally& tally) {
        if constexpr (!W::holds_coded_problems) {
            return false;
        } else {
            meet(labels);
            auto& problems = scratch_.problems;
            auto& steps = scratch_.steps;
            steps.resize(weights_.shape().n_columns, problems.of(0).size());
            weights_.moments(row, steps.s, steps.v, problems.of(0), ahead);
            const Outcome outcome = take_steps(row, 0, scratch_.signs, weight);
            if (outcome == Outcome::refused && !scratch_.arrivals.empty()) {
                for (const std::int32_t k : scratch_.arrivals) targets_.known[index(k)] = 0;
                problems.find_each(targets_.known, weights_.order());
            }
            return close(outcome, labelled_rightly(steps.s) ? 1.0 : -1.0, tally);
        }
    }

    /// Whether the averaged means, which predictions use, give a row its labels.
    [[nodiscard]] bool labelled_rightly_by_average(const RowView& row,
                                                   std::span<const std::int32_t> labels) {
        set_signs(labels);
        auto& s = scratch_.averaged;
        s.resize(weights_.shape().n_columns);
        weights_.averaged_scores(row, s);
        return labelled_rightly(s);
    }

    /// The lead of the right label under the averaged means, which predictions use.
    [[nodiscard]] double averaged_lead(const RowView& row, std::size_t y) {
        auto& s = scratch_.averaged;
        s.resize(weights_.shape().n_columns);
        weights_.averaged_scores(row, s);
        if (!targets_.code.empty()) {
            auto& problems = scratch_.problems;
            if (problems.empty()) find_problems();
            return problems.lead(y, s, targets_.known);
        }
        if (s.size() == 1) return y == 1 ? s[0] : -s[0];
        for (std::size_t k = 0; k < s.size(); ++k) {
            if (targets_.known[k] == 0) s[k] = -std::numeric_limits<double>::infinity();
        }
        return s[y] - s[best_rival(s, y)];
    }

private:
    /// Whether no variance up to the bound makes the rule move: all named rules that need not move
    /// at some variance need not move at a smaller one.
    template <std::size_t N>
    [[nodiscard]] bool stays(const RowView& row, const std::array<Side, N>& g, const Moments& bound,
                             double cost, double weight) {
        if (std::holds_alternative<rules::Custom>(method_.rule)) return false;
        const auto gather = [&] { return weights_.shares(row, g, bound.v, scratch_.shares); };
        return !costed_step(method_.rule, cost, bound, weight, gather).moves();
    }

    /// The half of the features ahead whose weights are requested while margins are summed. The
    /// others are left for the update, so that requests are spread over the round.
    [[nodiscard]] RowView some_of(const RowView& ahead) noexcept {
        if constexpr (W::fetches_ahead) {
            later_ = ahead.part(ahead.size() / 2, ahead.size());
            return ahead.part(0, ahead.size() / 2);
        } else {
            return ahead;
        }
    }

    void find_problems() {
        if constexpr (W::holds_coded_problems) {
            scratch_.problems.find(targets_.code, targets_.known, weights_.order());
        }
    }

    [[nodiscard]] static std::size_t index(std::int32_t label) noexcept {
        return static_cast<std::size_t>(label);
    }

    void set_signs(std::span<const std::int32_t> labels) {
        scratch_.signs.assign(targets_.known.size(), -1);
        for (const std::int32_t k : labels) scratch_.signs[index(k)] = 1;
    }

    /// Makes the labels of a row known.
    void meet(std::span<const std::int32_t> labels) {
        set_signs(labels);
        auto& arrivals = scratch_.arrivals;
        arrivals.clear();
        for (const std::int32_t k : labels) {
            if (targets_.known[index(k)] != 0) continue;
            targets_.known[index(k)] = 1;
            arrivals.push_back(k);
        }
        if (!arrivals.empty() || scratch_.problems.empty()) {
            scratch_.problems.find_each(targets_.known, weights_.order());
        }
        if (!arrivals.empty()) weights_.look_again();
    }

    /// Whether the known labels with positive scores are those of the row.
    [[nodiscard]] bool labelled_rightly(std::span<const double> s) const noexcept {
        for (std::size_t k = 0; k < s.size(); ++k) {
            if (targets_.known[k] != 0 && (s[k] > 0.0) != (scratch_.signs[k] > 0)) return false;
        }
        return true;
    }

    /// Steps of the problems in place `y`; a problem has the sign of the row.
    [[nodiscard]] Outcome take_steps(const RowView& row, std::size_t y,
                                     std::span<const std::int8_t> signs, double weight) {
        auto& steps = scratch_.steps;
        const auto gather = [&](std::size_t b, double sign, double v) {
            const std::array g{Side{b, sign}};
            return weights_.shares(row, g, v, scratch_.shares);
        };
        const bool finite =
            find_steps(method_.rule, scratch_.problems, y, signs, weight, gather, steps);
        if (!finite) return Outcome::refused;
        if (steps.moving.empty()) return Outcome::unmoved;
        const bool done = column_updates_.updates.update(weights_, row, steps, method_.projection);
        return done ? Outcome::moved : Outcome::refused;
    }

    [[nodiscard]] bool best_only(const RowView& row, std::size_t y, double weight, Tally& tally) {
        const auto& scores = scratch_.scores;
        const std::size_t rival = best_rival(scores, y);
        const std::array g{Side{y, 1.0}, Side{rival, -1.0}};
        const Moments margin{scores[y] - scores[rival], weights_.variance(row, g, scratch_.work)};
        if (!finite(margin)) return false;
        return close(one(row, g, margin, targets_.cost_of(y, rival), weight), margin.m, tally);
    }

    [[nodiscard]] bool ranked(const RowView& row, std::size_t y, double weight, Tally& tally) {
        const auto& scores = scratch_.scores;
        for (std::size_t k = 0; k < scores.size(); ++k) {
            if (targets_.known[k] != 0 && !std::isfinite(scores[k])) return false;
        }
        best_rivals(scores, y, targets_.known, method_.scheme.k, scratch_.rivals);
        scratch_.sides.assign(1, {y, 1.0});
        for (const std::size_t rival : scratch_.rivals) scratch_.sides.push_back({rival, -1.0});
        const double m = scores[y] - scores[scratch_.rivals[0]];
        return close(many(row, scratch_.sides, y, weight), m, tally);
    }

    /// One constraint: updates the weights directly.
    template <std::size_t N>
    [[nodiscard]] Outcome one(const RowView& row, const std::array<Side, N>& g,
                              const Moments& margin, double cost, double weight) {
        const auto gather = [&] { return weights_.shares(row, g, margin.v, scratch_.shares); };
        const Step step = costed_step(method_.rule, cost, margin, weight, gather);
        if (!finite(step)) return Outcome::refused;
        if (!step.moves()) return Outcome::unmoved;
        return update(row, g, step, margin.v) ? Outcome::moved : Outcome::refused;
    }

    template <std::size_t N>
    [[nodiscard]] bool update(const RowView& row, const std::array<Side, N>& g, const Step& step,
                              double v) {
        const Projection projection = method_.projection;
        if constexpr (W::fetches_ahead) {
            const RowView later = std::exchange(later_, {});
            return weights_.update(row, g, step, v, projection, scratch_.work, later);
        } else {
            return weights_.update(row, g, step, v, projection, scratch_.work);
        }
    }

    /// Several constraints, or one to meet exactly: by a transaction.
    [[nodiscard]] Outcome many(const RowView& row, std::span<const Side> sides, std::size_t y,
                               double weight) {
        const auto steps = [&](auto& system, const auto& take) {
            return transact(system, row, sides, y, weight, take);
        };
        const auto in_turn = [&](auto& system, const auto& step_of) {
            return sequential(system, method_.projection, step_of);
        };
        auto& transaction = scratch_.transaction;
        switch (method_.scheme.kind) {
            case Scheme::Kind::exact:
                return steps(transaction, [&](auto&, auto&) { return all_at_once(y, weight); });
            case Scheme::Kind::parallel:
                return steps(transaction, [&](auto& system, const auto& step_of) {
                    return parallel(system, method_.projection, method_.scheme, step_of);
                });
            default:
                if constexpr (requires { scratch_.lanes; }) {
                    const bool fits = scratch_.lanes.takes(weights_, sides.size());
                    if (fits) return steps(scratch_.lanes, in_turn);
                }
                return steps(transaction, in_turn);
        }
    }

    /// Loads the weights, moves them as `take` does, and writes them.
    template <class System, class F>
    [[nodiscard]] Outcome transact(System& system, const RowView& row, std::span<const Side> sides,
                                   std::size_t y, double weight, const F& take) {
        system.load(weights_, row, sides);
        const auto step_of = [&](std::size_t r, const Moments& margin) {
            const auto gather = [&] { return system.shares(r, scratch_.shares); };
            const double cost = targets_.cost_of(y, scratch_.rivals[r]);
            return costed_step(method_.rule, cost, margin, weight, gather);
        };
        const Outcome outcome = take(system, step_of);
        const bool moved = outcome == Outcome::moved;
        return moved && !system.commit(weights_) ? Outcome::refused : outcome;
    }

    [[nodiscard]] Outcome all_at_once(std::size_t y, double weight) {
        auto& problem = scratch_.problem;
        if (!pose(scratch_.transaction, problem)) return Outcome::refused;
        return std::visit(
            [&](const auto& rule) { return all_at_once_by(rule, y, weight, problem); },
            method_.rule);
    }

    template <class R>
    [[nodiscard]] Outcome all_at_once_by(const R& rule, std::size_t y, double weight,
                                         exact::Problem& problem) {
        if constexpr (!Exact<R>) {
            return Outcome::refused;
        } else {
            const std::size_t k = problem.size();
            if (!(problem.gram[0] > 0.0)) return Outcome::unmoved;  // empty row
            for (std::size_t r = 0; r < k; ++r) {
                problem.demand[r] = targets_.cost_of(y, scratch_.rivals[r]);
            }
            const double hard = std::min(1.0, weight);
            if constexpr (FirstOrder<R>) {
                if constexpr (requires { rule.weighted(weight); }) {
                    const Slack slack = rule.weighted(weight).slack();
                    return project_means(scratch_.transaction, problem, slack, 1.0);
                } else {
                    return project_means(scratch_.transaction, problem, rule.slack(), hard);
                }
            } else {
                start_from_singles(rule, problem);
                constexpr bool deviation = asks_of<R>() == Asks::deviation;
                return project(scratch_.transaction, problem, deviation, scratch_.start, hard);
            }
        }
    }

    /// Demands phi * cost, and a start for the solver: the step of each constraint alone, reduced.
    template <class R>
    void start_from_singles(R rule, exact::Problem& problem) {
        const std::size_t k = problem.size();
        const double phi = rule.phi;
        std::size_t active = 0;
        scratch_.start.resize(k);
        for (std::size_t r = 0; r < k; ++r) {
            // If the demand is only m >= 0, the solver needs a tiny phi to divide by. Raise m by as
            // much, or a margin of 0 would move.
            const double asked = phi * problem.demand[r];
            const double v = problem.gram[r * k + r];
            problem.demand[r] = rule.phi = std::max(asked, 1e-12);
            if (asked < 1e-12) problem.m[r] += 1e-12 * std::max(v, std::sqrt(v));
            scratch_.start[r] = 0.5 * rule.step(problem.m[r], problem.gram[r * k + r]).gain;
            active += scratch_.start[r] > 0.0 ? 1 : 0;
        }
        for (double& p : scratch_.start) p *= 2.0 / static_cast<double>(1 + active);
    }

    [[nodiscard]] bool projects() const {
        return std::visit([]<class R>(const R&) { return Exact<R> && !FirstOrder<R>; },
                          method_.rule);
    }

    /// Ends the round; only classes that are rivals of one another share a scale.
    [[nodiscard]] bool close(Outcome outcome, double m, Tally& tally) {
        if constexpr (W::fetches_ahead) weights_.prefetch(later_, 0, later_.size());
        const bool apart =
            weights_.shape().n_columns == 1 || !targets_.code.empty() || !targets_.starts.empty();
        const auto known = apart ? std::span<const std::uint8_t>{} : targets_.known;
        return close_round(weights_, method_, {outcome, !(m > 0.0)}, known, tally);
    }

    W& weights_;
    const Method& method_;
    const Targets& targets_;
    Scratch<W, M>& scratch_;
    ColumnUpdatesOf<W> column_updates_;
    RowView later_{};  ///< features ahead whose weights are still to be requested
};

}  // namespace detail

/// Learns the rows of an order up to `end`, in as many pieces as the caller likes, one round per
/// row. Prefetching continues across pieces.
template <Weights W, class M>
class Pass {
public:
    Pass(W& weights, const Method& method, const M& rows, const Targets& targets, std::size_t begin,
         std::size_t end)
        : weights_(weights),
          rows_(rows),
          targets_(targets),
          lookahead_(weights, rows, targets.rows, begin, end),
          round_(weights, method, targets, scratch_),
          first_(begin),
          next_(begin) {}

    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// Learns the rows from the end of the last piece up to `end`.
    [[nodiscard]] Tally run(std::size_t end) {
        const bool judged = !targets_.missed.empty();
        const bool by_average = judged && weights_.shape().averaged;
        Tally tally{.end = next_};
        for (; next_ < end && !tally.refused; tally.end = next_) {
            const auto ahead = lookahead_.advance(next_);
            const std::size_t i = targets_.rows.at(next_);
            const auto row = rows_.row(i, scratch_.row);
            const double weight = targets_.rows.weight_of(i);
            const std::uint64_t mistakes = tally.mistakes;
            const std::uint64_t updates = tally.updates;
            const bool right = by_average && right_by_average(row, i);
            if (learn(row, ahead, i, weight, tally)) {
                const bool missed = by_average ? !right : tally.mistakes > mistakes;
                if (judged) targets_.missed[i] = missed ? 1 : 0;
                if (!targets_.scores.empty()) record(tally.updates > updates);
                ++next_;
            } else {
                tally.refused = true;
            }
        }
        if constexpr (requires { weights_.settle(); }) weights_.settle();
        return tally;
    }

private:
    using RowView = typename M::RowView;

    [[nodiscard]] bool learn(const RowView& row, const RowView& ahead, std::size_t i, double weight,
                             Tally& tally) {
        if constexpr (W::holds_classes) {
            if (!targets_.starts.empty()) {
                return round_.labelled(row, ahead, targets_.labels_of(i), weight, tally);
            }
            const auto y = static_cast<std::size_t>(targets_.y[i]);
            if (!targets_.code.empty()) return round_.coded(row, ahead, y, weight, tally);
            if (weights_.shape().n_columns > 1) return round_.joint(row, ahead, y, weight, tally);
        }
        return round_.binary(row, ahead, targets_.y[i], weight, tally);
    }

    [[nodiscard]] bool right_by_average(const RowView& row, std::size_t i) {
        if constexpr (W::holds_classes) {
            if (!targets_.starts.empty()) {
                return round_.labelled_rightly_by_average(row, targets_.labels_of(i));
            }
            return round_.averaged_lead(row, static_cast<std::size_t>(targets_.y[i])) > 0.0;
        }
        return false;
    }

    /// Notes the scores before the row and whether it moved a weight.
    void record(bool moved) {
        if constexpr (W::holds_coded_problems) {
            const auto& scores = scratch_.steps.s;
            std::ranges::copy(scores,
                              targets_.scores.subspan((next_ - first_) * scores.size()).begin());
            targets_.moved[next_ - first_] = moved ? 1 : 0;
        }
    }

    W& weights_;
    const M& rows_;
    const Targets& targets_;
    detail::Scratch<W, M> scratch_;
    detail::Lookahead<W, M> lookahead_;
    detail::Round<W, M> round_;
    std::size_t first_;
    std::size_t next_;
};

/// Learns rows [begin, end) of the order in one piece.
template <Weights W, class M>
[[nodiscard]] Tally learn(W& weights, const Method& method, const M& rows, const Targets& targets,
                          std::size_t begin, std::size_t end) {
    return Pass<W, M>(weights, method, rows, targets, begin, end).run(end);
}

}  // namespace surelearn
