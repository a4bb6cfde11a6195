// Constraints: which rivals to learn from, and how to combine their steps. Knows
// transactions and steps; knows neither rules nor storage.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "surelearn/exact.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// A scheme of Crammer, Dredze & Kulesza 2009, sec. 5.
struct Scheme {
    enum class Kind { single, sequential, parallel, exact };
    Kind kind = Kind::single;
    std::size_t k = 0;           ///< number of rivals, best first; 0: all
    std::vector<double> mixing;  ///< weights of the parallel scheme; empty: uniform
};

/// The outcome of a round.
enum class Outcome { refused, unmoved, moved };

[[nodiscard]] inline bool finite(const Moments& margin) noexcept {
    return std::isfinite(margin.m) && std::isfinite(margin.v);
}

[[nodiscard]] inline bool finite(const Step& step) noexcept {
    return std::isfinite(step.alpha) && std::isfinite(step.gain);
}

/// The constraints of one round, for steps one after the other.
template <class S>
concept StepSystem =
    requires(S& system, const S& fixed, std::size_t r, const Step& step, Projection projection) {
        { fixed.size() } -> std::same_as<std::size_t>;
        { fixed.margin(r) } -> std::same_as<Moments>;
        { system.apply(r, step, projection) } -> std::same_as<bool>;
    };

/// The same for steps together, as every `Transaction` provides them.
template <class S>
concept ConstraintSystem =
    StepSystem<S> &&
    requires(S& system, const S& fixed, std::size_t r, Projection projection,
             std::span<const Step> steps, std::span<const double> given, std::span<double> out) {
        { fixed.gram(r, r) } -> std::same_as<double>;
        { system.apply_together(steps, given, projection) } -> std::same_as<bool>;
        fixed.shrunk(given, out, out);
    };

/// One step after the other, each from the result of the last. `step_of(r, margin)` asks the rule.
template <StepSystem S, class StepOf>
[[nodiscard]] Outcome sequential(S& transaction, Projection projection, StepOf&& step_of) {
    Outcome outcome = Outcome::unmoved;
    for (std::size_t r = 0; r < transaction.size(); ++r) {
        const Moments margin = transaction.margin(r);
        if (!finite(margin)) return Outcome::refused;
        const Step step = step_of(r, margin);
        if (!finite(step)) return Outcome::refused;
        if (!step.moves()) continue;
        if (!transaction.apply(r, step, projection)) return Outcome::refused;
        outcome = Outcome::moved;
    }
    return outcome;
}

/// Applies steps that were all computed from the start of the round.
template <ConstraintSystem S>
[[nodiscard]] Outcome together(S& transaction, std::span<const Step> steps,
                               std::span<const double> mixing, Projection projection) {
    bool moves = false;
    for (const Step& step : steps) moves |= step.moves();
    if (!moves) return Outcome::unmoved;
    return transaction.apply_together(steps, mixing, projection) ? Outcome::moved
                                                                 : Outcome::refused;
}

/// The weights of k steps, best rival first: uniform, or as given. With fewer rivals than weights,
/// the first weights are normalised.
[[nodiscard]] inline std::vector<double> mixing_of(const Scheme& scheme, std::size_t k) {
    if (scheme.mixing.empty()) return std::vector<double>(k, 1.0 / static_cast<double>(k));
    double sum = 0.0;
    for (std::size_t r = 0; r < k; ++r) sum += scheme.mixing[r];
    std::vector<double> mixing(k, 1.0 / static_cast<double>(k));
    for (std::size_t r = 0; r < k && sum > 0.0; ++r) mixing[r] = scheme.mixing[r] / sum;
    return mixing;
}

/// Each step from the start of the round; means and precisions are averaged with the weights.
template <ConstraintSystem S, class StepOf>
[[nodiscard]] Outcome parallel(S& transaction, Projection projection, const Scheme& scheme,
                               StepOf&& step_of) {
    std::vector<Step> steps(transaction.size());
    for (std::size_t r = 0; r < steps.size(); ++r) {
        const Moments margin = transaction.margin(r);
        if (!finite(margin)) return Outcome::refused;
        steps[r] = step_of(r, margin);
        if (!finite(steps[r])) return Outcome::refused;
    }
    return together(transaction, steps, mixing_of(scheme, steps.size()), projection);
}

/// The constraints of a transaction as numbers; false if one is not finite.
template <ConstraintSystem S>
[[nodiscard]] bool pose(const S& transaction, exact::Problem& problem) {
    const std::size_t k = transaction.size();
    problem.resize(k);
    bool sound = true;
    for (std::size_t r = 0; r < k; ++r) {
        const Moments margin = transaction.margin(r);
        problem.m[r] = margin.m;
        for (std::size_t s = 0; s < k; ++s) {
            problem.gram[r * k + s] = r == s ? margin.v : transaction.gram(r, s);
        }
        sound &= finite(margin);
    }
    return sound;
}

/// The KL projection on all constraints m_r >= demand_r v_r, or sqrt(v_r) for `deviation`, solved
/// from `start`; its steps are scaled by `weight`. For diagonal Gaussians it is the precision form.
template <ConstraintSystem S>
[[nodiscard]] Outcome project(S& transaction, const exact::Problem& problem, bool deviation,
                              std::span<const double> start, double weight) {
    const std::size_t k = problem.size();
    const auto shrunk = [&](std::span<const double> p, std::span<double> u,
                            std::span<double> slope) { transaction.shrunk(p, u, slope); };
    exact::KlProjection projection(problem, deviation, shrunk);
    if (!projection.solve(start)) return Outcome::refused;
    std::vector<Step> steps(k);
    for (std::size_t r = 0; r < k; ++r) {
        steps[r] = {weight * projection.alpha()[r], 2.0 * weight * projection.p()[r]};
    }
    return together(transaction, steps, std::vector<double>(k, 1.0), Projection::precision);
}

/// k-best passive-aggressive; sigma is the identity.
template <ConstraintSystem S>
[[nodiscard]] Outcome project_means(S& transaction, const exact::Problem& problem,
                                    const Slack& slack, double weight) {
    std::vector<double> alpha(problem.size());
    exact::hildreth(problem, slack, alpha);
    std::vector<Step> steps(problem.size());
    for (std::size_t r = 0; r < steps.size(); ++r) steps[r] = {weight * alpha[r], 0.0};
    return together(transaction, steps, std::vector<double>(steps.size(), 1.0),
                    Projection::precision);
}

}  // namespace surelearn
