// Rules: margin and variance in, step out. Knows no vector, label or storage.
//
// Each rule is a small struct: its public name, the names of its parameters in the order of its
// members, and step(m, v) for v > 0. Optional:
//
// - first_order: the rule needs no variance: sigma stays the identity, v = |g|^2.
// - scale_free: (mu, sigma) -> (c mu, c^2 sigma) changes no decision.
// - asks: what its constraint demands of the margin. A cost scales the demand: the member `margin`,
//   which is 1 and not a parameter, or `phi`.
// - learns_from_mistakes_only: if the best answer to a structure is right, the rule sees nothing;
//   other rules then see the best wrong answer.
// - exact: can meet several constraints at once: the KL projection, or k-best PA with slack().
// - weighted(w): the same rule for a row of weight w. Without it the step is scaled by min(1, w).
// - step(m, v, a) in place of step(m, v): also sees the contributions a_j = sigma_j g_j^2, which
//   are collected only if triggers(m, v).
//
// A new rule is one struct here and its name in the list at the end. Custom is an exception: it has
// no name, and its step is a user's function.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "surelearn/gaussian.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// What a rule asks of a margin: nothing, m >= 1, m >= phi v, or m >= phi sqrt(v).
enum class Asks { nothing, margin, variance, deviation };

}  // namespace surelearn

namespace surelearn::rules {

/// Rosenblatt 1958: w += y x on a mistake.
struct Perceptron {
    static constexpr std::string_view name = "perceptron";
    static constexpr std::array<std::string_view, 0> parameters{};
    static constexpr bool first_order = true;
    static constexpr bool learns_from_mistakes_only = true;

    [[nodiscard]] Step step(double m, double) const noexcept {
        return m <= 0.0 ? Step{1.0, 0.0} : Step{};
    }
};

/// Crammer et al. 2006: the smallest move that gives margin 1.
struct PA {
    static constexpr std::string_view name = "pa";
    static constexpr std::array<std::string_view, 0> parameters{};
    static constexpr bool first_order = true;
    static constexpr Asks asks = Asks::margin;
    static constexpr bool exact = true;
    double margin = 1.0;

    [[nodiscard]] Slack slack() const noexcept {
        return {std::numeric_limits<double>::infinity(), 0.0};
    }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m < margin ? Step{(margin - m) / v, 0.0} : Step{};
    }
};

/// PA with a slack of linear cost.
struct PA1 {
    static constexpr std::string_view name = "pa1";
    static constexpr std::array<std::string_view, 1> parameters{"C"};
    static constexpr bool first_order = true;
    static constexpr Asks asks = Asks::margin;
    static constexpr bool exact = true;
    double C;
    double margin = 1.0;

    [[nodiscard]] PA1 weighted(double w) const noexcept { return {C * w, margin}; }
    [[nodiscard]] Slack slack() const noexcept { return {C, 0.0}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m < margin ? Step{std::min(C, (margin - m) / v), 0.0} : Step{};
    }
};

/// PA with a slack of squared cost.
struct PA2 {
    static constexpr std::string_view name = "pa2";
    static constexpr std::array<std::string_view, 1> parameters{"C"};
    static constexpr bool first_order = true;
    static constexpr Asks asks = Asks::margin;
    static constexpr bool exact = true;
    double C;
    double margin = 1.0;

    [[nodiscard]] PA2 weighted(double w) const noexcept { return {C * w, margin}; }
    [[nodiscard]] Slack slack() const noexcept {
        return {std::numeric_limits<double>::infinity(), 0.5 / C};
    }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m < margin ? Step{(margin - m) / (v + 0.5 / C), 0.0} : Step{};
    }
};

/// Cesa-Bianchi, Conconi & Gentile 2005, in the form of AROW's step (r = 1) on mistakes only. A tie
/// is a mistake, so for a structure with the right best answer it also sees the best wrong one.
struct SecondOrderPerceptron {
    static constexpr std::string_view name = "sop";
    static constexpr std::array<std::string_view, 0> parameters{};

    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m <= 0.0 ? Step{(1.0 - m) / (1.0 + v), 1.0} : Step{};
    }
};

/// Dredze, Crammer & Pereira 2008: m >= phi v. Their eq. 16 loses every digit for small phi v;
/// this is the same root by the other half of the quadratic formula.
struct Variance {
    static constexpr std::string_view name = "variance";
    static constexpr std::array<std::string_view, 1> parameters{"phi"};
    static constexpr Asks asks = Asks::variance;
    static constexpr bool exact = true;
    double phi;

    [[nodiscard]] Step step(double m, double v) const noexcept {
        if (!(m < phi * v)) return {};
        const double p = 1.0 + 2.0 * phi * m;
        const double q = 1.0 - 2.0 * phi * m;
        const double root = std::sqrt(q * q + 8.0 * phi * phi * v);
        const double alpha =
            p >= 0.0 ? 2.0 * (phi * v - m) / (v * (p + root)) : (root - p) / (4.0 * phi * v);
        return {alpha, 2.0 * alpha * phi};
    }
};

/// The same constraint met by the diagonal itself: Newton on
/// f(alpha) = m + alpha v - phi sum_j a_j / (1 + 2 alpha phi a_j) = 0.
struct VarianceExact {
    static constexpr std::string_view name = "variance-exact";
    static constexpr std::array<std::string_view, 1> parameters{"phi"};
    static constexpr Asks asks = Asks::variance;
    double phi;

    [[nodiscard]] bool triggers(double m, double v) const noexcept { return m < phi * v; }
    [[nodiscard]] Step step(double m, double v, std::span<const double> a) const noexcept {
        // f is concave and the Variance step lies left of its root, so Newton reaches the root
        // without overshoot. The most in 20,000 trials were 7 steps; 60 is a safety limit.
        double alpha = Variance{phi}.step(m, v).alpha;
        for (int i = 0; alpha > 0.0 && i < 60; ++i) {
            double f = m + alpha * v;
            double slope = v;
            for (const double a_j : a) {
                double after = a_j;
                shrink_precision(after, a_j, 2.0 * alpha * phi);
                f -= phi * after;
                slope += 2.0 * phi * phi * after * after;
            }
            if (!(f < 0.0)) break;
            const double move = -f / slope;
            alpha += move;
            if (move <= 1e-12 * alpha) break;
        }
        return {alpha, 2.0 * alpha * phi};
    }
};

/// The gain alpha phi / sqrt(u) of Crammer, Dredze & Pereira 2008, eq. 12 and 22, with sqrt(u) as
/// 2v / (..) where the printed difference cancels.
[[nodiscard]] inline double stdev_gain(double alpha, double v, double phi) noexcept {
    const double t = alpha * v * phi;
    const double sqrt_u = 2.0 * v / (t + std::sqrt(t * t + 4.0 * v));
    return alpha * phi / sqrt_u;
}

/// Crammer, Dredze & Pereira 2008: m >= phi sqrt(v). Eq. 14; for m > 0 by the conjugate root.
struct Stdev {
    static constexpr std::string_view name = "stdev";
    static constexpr std::array<std::string_view, 1> parameters{"phi"};
    static constexpr Asks asks = Asks::deviation;
    static constexpr bool exact = true;
    static constexpr bool scale_free = true;
    double phi;

    [[nodiscard]] double alpha(double m, double v) const noexcept {
        const double need = phi * std::sqrt(v);
        if (!(m < need)) return 0.0;
        const double psi = 1.0 + 0.5 * phi * phi;
        const double xi = 1.0 + phi * phi;
        const double half = 0.5 * m * phi * phi;
        const double root = std::sqrt(half * half + v * phi * phi * xi);
        return m > 0.0 ? (need - m) * (need + m) / (v * (m * psi + root))
                       : (root - m * psi) / (v * xi);
    }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        const double t = alpha(m, v);
        return t > 0.0 ? Step{t, stdev_gain(t, v, phi)} : Step{};
    }
};

/// Wang, Zhao & Hoi 2012: Stdev with a slack of linear cost.
struct SCW1 {
    static constexpr std::string_view name = "scw1";
    static constexpr std::array<std::string_view, 2> parameters{"phi", "C"};
    static constexpr Asks asks = Asks::deviation;
    double phi;
    double C;

    [[nodiscard]] SCW1 weighted(double w) const noexcept { return {phi, C * w}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        const double alpha = std::min(C, Stdev{phi}.alpha(m, v));
        return alpha > 0.0 ? Step{alpha, stdev_gain(alpha, v, phi)} : Step{};
    }
};

/// Wang, Zhao & Hoi 2012: Stdev with a slack of squared cost.
struct SCW2 {
    static constexpr std::string_view name = "scw2";
    static constexpr std::array<std::string_view, 2> parameters{"phi", "C"};
    static constexpr Asks asks = Asks::deviation;
    double phi;
    double C;

    [[nodiscard]] SCW2 weighted(double w) const noexcept { return {phi, C * w}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        const double need = phi * std::sqrt(v);
        if (!(m < need)) return {};
        const double n = v + 0.5 / C;
        const double side = m * (2.0 * n + phi * phi * v);
        const double gamma =
            phi * std::sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi));
        const double alpha = m > 0.0 ? 2.0 * (need - m) * (need + m) / (side + gamma)
                                     : (gamma - side) / (2.0 * n * (n + v * phi * phi));
        return {alpha, stdev_gain(alpha, v, phi)};
    }
};

/// Crammer, Kulesza & Dredze 2009: squared hinge and variance, each with cost 1 / (2 r).
struct AROW {
    static constexpr std::string_view name = "arow";
    static constexpr std::array<std::string_view, 1> parameters{"r"};
    static constexpr Asks asks = Asks::margin;
    double r;
    double margin = 1.0;

    [[nodiscard]] AROW weighted(double w) const noexcept { return {r / w, margin}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m < margin ? Step{(margin - m) / (v + r), 1.0 / r} : Step{};
    }
};

/// Crammer & Lee 2010: the whole Gaussian is herded by one linear map.
struct NHERD {
    static constexpr std::string_view name = "nherd";
    static constexpr std::array<std::string_view, 1> parameters{"C"};
    static constexpr Asks asks = Asks::margin;
    double C;
    double margin = 1.0;

    [[nodiscard]] NHERD weighted(double w) const noexcept { return {C * w, margin}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        return m < margin ? Step{(margin - m) / (v + 1.0 / C), C * (2.0 + C * v)} : Step{};
    }
};

/// Assumed-density filtering of label = sign(w.x + N(0, noise)): Minka 2001, Graepel et al. 2010.
struct Probit {
    static constexpr std::string_view name = "probit";
    static constexpr std::array<std::string_view, 1> parameters{"noise"};
    double noise;

    [[nodiscard]] Probit weighted(double w) const noexcept { return {noise / w}; }
    [[nodiscard]] Step step(double m, double v) const noexcept {
        const double spread = std::sqrt(noise + v);
        const Truncated z = truncated_normal(m / spread);
        return {z.mean / spread, z.lost / (noise + v * z.variance)};
    }
};

/// A step from a callback. `call` writes (alpha, gain), both finite and not negative, or reports
/// failure: then the step is NaN and the row is refused. The creator owns the context and keeps it
/// alive; the core knows nothing of its language or its errors.
struct Custom {
    using Call = bool (*)(void* context, double m, double v, double* out) noexcept;
    Call call;
    void* context;
    bool means_only;  ///< as first_order, but known only at run time

    [[nodiscard]] Step step(double m, double v) const noexcept {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        std::array<double, 2> out{none, none};
        return call(context, m, v, out.data()) ? Step{out[0], out[1]} : Step{none, none};
    }
};

}  // namespace surelearn::rules

namespace surelearn {

/// Every rule that has a name. The bindings and the shared tests iterate over this list.
using NamedRule =
    std::variant<rules::Variance, rules::VarianceExact, rules::Stdev, rules::AROW, rules::Probit,
                 rules::SCW1, rules::SCW2, rules::NHERD, rules::SecondOrderPerceptron,
                 rules::Perceptron, rules::PA, rules::PA1, rules::PA2>;

namespace detail {

template <class Named, class Other>
struct Joined;

template <class... Named, class Other>
struct Joined<std::variant<Named...>, Other> {
    using type = std::variant<Named..., Other>;
};

}  // namespace detail

/// Every rule, as a value whose kind is known at run time.
using AnyRule = detail::Joined<NamedRule, rules::Custom>::type;

template <class R>
concept FirstOrder = requires { requires R::first_order; };

template <class R>
concept ScaleFree = requires { requires R::scale_free; };

template <class R>
concept MistakeDriven = requires { requires R::learns_from_mistakes_only; };

template <class R>
concept Exact = requires { requires R::exact; };

template <class R>
[[nodiscard]] constexpr Asks asks_of() noexcept {
    if constexpr (requires { R::asks; }) {
        return R::asks;
    } else {
        return Asks::nothing;
    }
}

template <class R>
concept NeedsShares =
    requires(const R& rule, std::span<const double> a) { rule.step(0.0, 1.0, a); };

/// A rule: copyable, with step(), and with the member that a cost scales.
template <class R>
concept Rule = std::copy_constructible<R> && requires(R rule, std::span<const double> a) {
    requires NeedsShares<R> || requires {
        { rule.step(0.0, 1.0) } noexcept -> std::same_as<Step>;
    };
    requires !NeedsShares<R> || requires {
        { rule.triggers(0.0, 1.0) } noexcept -> std::same_as<bool>;
        { rule.step(0.0, 1.0, a) } noexcept -> std::same_as<Step>;
    };
    requires asks_of<R>() != Asks::margin || std::same_as<decltype(rule.margin), double>;
    requires asks_of<R>() == Asks::nothing || asks_of<R>() == Asks::margin ||
                     std::same_as<decltype(rule.phi), double>;
    requires !(Exact<R> && FirstOrder<R>) || requires {
        { rule.slack() } noexcept -> std::same_as<Slack>;
    };
};

namespace detail {

template <class... R>
[[nodiscard]] consteval bool all_rules(std::in_place_type_t<std::variant<R...>>) {
    return (Rule<R> && ...);
}
static_assert(all_rules(std::in_place_type<AnyRule>));

}  // namespace detail

[[nodiscard]] inline bool is_scale_free(const AnyRule& rule) noexcept {
    return std::visit([]<class R>(const R&) { return ScaleFree<R>; }, rule);
}

[[nodiscard]] inline bool learns_from_mistakes_only(const AnyRule& rule) noexcept {
    return std::visit([]<class R>(const R&) { return MistakeDriven<R>; }, rule);
}

[[nodiscard]] inline Asks asks_of(const AnyRule& rule) noexcept {
    return std::visit([]<class R>(const R&) { return asks_of<R>(); }, rule);
}

/// Whether the rule needs no variances.
[[nodiscard]] inline bool first_order(const AnyRule& rule) noexcept {
    return std::visit(
        []<class R>(const R& r) {
            if constexpr (std::same_as<R, rules::Custom>) return r.means_only;
            return FirstOrder<R>;
        },
        rule);
}

/// Gives the a_j of a margin; called only if needed.
using Shares = FunctionRef<std::span<const double>()>;

/// The step for a row of weight w > 0.
template <Rule R>
[[nodiscard]] Step weighted_step(const R& rule, double m, double v, double w, Shares shares) {
    if (!(v > 0.0)) return {};  // nothing to learn from: empty row
    if constexpr (requires { rule.weighted(w); }) {
        return rule.weighted(w).step(m, v);
    } else {
        Step step;
        if constexpr (NeedsShares<R>) {
            if (rule.triggers(m, v)) step = rule.step(m, v, shares());
        } else {
            step = rule.step(m, v);
        }
        const double c = std::min(1.0, w);
        return {c * step.alpha, c * step.gain};
    }
}

/// The same, but the right label must lead by `cost` times the rule's demand: a margin of `cost`,
/// or `cost` times phi.
template <Rule R>
[[nodiscard]] Step costed_step(R rule, double cost, const Moments& margin, double w,
                               Shares shares) {
    if constexpr (asks_of<R>() == Asks::margin) {
        rule.margin = cost;
    } else if constexpr (asks_of<R>() != Asks::nothing) {
        rule.phi *= cost;
    }
    return weighted_step(rule, margin.m, margin.v, w, shares);
}

[[nodiscard]] inline Step costed_step(const AnyRule& rule, double cost, const Moments& margin,
                                      double w, Shares shares) {
    return std::visit([&](const auto& r) { return costed_step(r, cost, margin, w, shares); }, rule);
}

/// The rule of that name with these parameters, in the order the rule lists them; none for an
/// unknown name or a wrong number of parameters.
[[nodiscard]] inline std::optional<AnyRule> make_rule(std::string_view name,
                                                      std::span<const double> values) {
    std::optional<AnyRule> rule;
    const auto consider = [&]<class R>(std::in_place_type_t<R>) {
        if (R::name != name || R::parameters.size() != values.size()) return;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            rule = R{values[I]...};
        }(std::make_index_sequence<R::parameters.size()>{});
    };
    [&]<class... R>(std::in_place_type_t<std::variant<R...>>) {
        (consider(std::in_place_type<R>), ...);
    }(std::in_place_type<NamedRule>);
    return rule;
}

}  // namespace surelearn
