// The exact scheme: meets several constraints at once, in as many dimensions as there are
// constraints. Knows numbers only: no weights, no labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/types.hpp"

namespace surelearn::exact {

/// k constraints on margins whose means are `m` and whose covariances g_r' sigma g_s are `gram`.
struct Problem {
    std::vector<double> m;
    std::vector<double> demand;  ///< demand of each constraint: phi, or the margin
    std::vector<double> gram;    ///< k x k, at the start of the round

    [[nodiscard]] std::size_t size() const noexcept { return m.size(); }
    void resize(std::size_t k) {
        m.resize(k);
        demand.resize(k);
        gram.resize(k * k);
    }
};

/// Solves A x = b in place (b becomes x) by elimination; false if A is singular.
[[nodiscard]] inline bool solve_linear(std::span<double> A, std::span<double> b) {
    const std::size_t n = b.size();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r) {
            if (std::fabs(A[r * n + c]) > std::fabs(A[pivot * n + c])) pivot = r;
        }
        if (!(std::fabs(A[pivot * n + c]) > 0.0)) return false;
        if (pivot != c) {
            std::swap(b[c], b[pivot]);
            for (std::size_t k = c; k < n; ++k) std::swap(A[c * n + k], A[pivot * n + k]);
        }
        for (std::size_t r = c + 1; r < n; ++r) {
            const double f = A[r * n + c] / A[c * n + c];
            for (std::size_t k = c; k < n; ++k) A[r * n + k] -= f * A[c * n + k];
            b[r] -= f * b[c];
        }
    }
    for (std::size_t c = n; c-- > 0;) {
        for (std::size_t k = c + 1; k < n; ++k) b[c] -= A[c * n + k] * b[k];
        b[c] /= A[c * n + c];
    }
    return true;
}

/// The KL projection on m_r >= phi_r u_r (or phi_r sqrt(u_r)) for all r.
///
/// Its solution has mu += sigma sum_r alpha_r g_r and sigma^-1 += 2 sum_r p_r g_r g_r' with
/// p_r = phi_r alpha_r, or p_r = phi_r alpha_r / (2 sqrt(u_r)): Lagrange, as in Crammer, Dredze &
/// Kulesza 2009, sec. 5.2. So p determines the solution, and is found from
///
///     F_r(p) = m_r + sum_s gram_rs alpha_s(p) - phi_r u_r(p)  >= 0,   p_r >= 0,   p_r F_r = 0
///
/// by Newton's method on the active constraints. If that makes no progress, one round of dual
/// coordinate ascent follows (Hildreth: each p_r in turn becomes the root of F_r). Coordinate
/// ascent alone would converge as well, but takes tens of rounds where Newton takes five steps.
///
/// `Shrunk` gives the variances after the update: shrunk(p, u, slope), slope_rs = du_r / dp_s.
template <class Shrunk>
class KlProjection {
public:
    KlProjection(const Problem& problem, bool deviation, Shrunk shrunk)
        : problem_(problem),
          deviation_(deviation),
          shrunk_(std::move(shrunk)),
          k_(problem.size()) {}

    /// The solution as (alpha_r, p_r); false if none was found.
    [[nodiscard]] bool solve(std::span<const double> start) {
        Point here = at({start.begin(), start.end()});
        for (int i = 0; i < 100 && !(here.residual < 1e-13); ++i) {
            if (newton(here)) continue;
            if (here.residual < good) break;  // as close as rounding allows
            // A sweep increases the dual, though the largest residual may grow for a while.
            here = swept(std::move(here));
        }
        alpha_ = std::move(here.alpha);
        p_ = std::move(here.p);
        return here.residual < good;
    }

    [[nodiscard]] std::span<const double> alpha() const noexcept { return alpha_; }
    [[nodiscard]] std::span<const double> p() const noexcept { return p_; }

private:
    static constexpr double good = 1e-10;

    struct Point {
        std::vector<double> p;
        std::vector<double> alpha;
        std::vector<double> F;
        std::vector<double> J;  ///< dF_r / dp_s
        double residual = 0.0;  ///< largest |min(p_r J_rr, F_r)|, each in units of its demand
    };

    [[nodiscard]] Point at(std::vector<double> p) {
        Point to{std::move(p), std::vector<double>(k_), problem_.m, std::vector<double>(k_ * k_)};
        u_.resize(k_);
        slope_.resize(k_ * k_);
        shrunk_(std::span<const double>(to.p), std::span(u_), std::span(slope_));
        // `change_` gets da_r / dp_s; u and its slope become those of the demanded quantity.
        change_.assign(k_ * k_, 0.0);
        for (std::size_t r = 0; r < k_; ++r) {
            const double phi = problem_.demand[r];
            const double root = std::sqrt(u_[r]);
            const double unit = deviation_ ? 2.0 * root / phi : 1.0 / phi;
            to.alpha[r] = unit * to.p[r];
            for (std::size_t s = 0; s < k_ && deviation_; ++s) {
                slope_[r * k_ + s] /= 2.0 * root;
                change_[r * k_ + s] = 2.0 * to.p[r] / phi * slope_[r * k_ + s];
            }
            change_[r * k_ + r] += unit;
            if (deviation_) u_[r] = root;
        }
        for (std::size_t r = 0; r < k_; ++r) measure(to, r);
        return to;
    }

    void measure(Point& to, std::size_t r) const {
        const double phi = problem_.demand[r];
        for (std::size_t s = 0; s < k_; ++s) {
            const double gram = problem_.gram[r * k_ + s];
            to.F[r] += gram * to.alpha[s];
            to.J[r * k_ + s] -= phi * slope_[r * k_ + s];
            for (std::size_t t = 0; t < k_; ++t) {
                to.J[r * k_ + t] += gram * change_[s * k_ + t];
            }
        }
        to.F[r] -= phi * u_[r];
        const double size = std::fabs(problem_.m[r]) + phi * u_[r];
        const double off = std::fabs(std::min(to.p[r] * to.J[r * k_ + r], to.F[r])) / size;
        to.residual = std::isnan(off) ? off : std::max(to.residual, off);
    }

    /// One step of Newton's method on min(p_r J_rr, F_r) = 0, halved until the residual falls.
    [[nodiscard]] bool newton(Point& here) {
        std::vector<std::size_t> active;
        for (std::size_t r = 0; r < k_; ++r) {
            if (here.F[r] < here.p[r] * here.J[r * k_ + r]) active.push_back(r);
        }
        const std::size_t n = active.size();
        std::vector<double> A(n * n);
        std::vector<double> b(n);
        for (std::size_t i = 0; i < n; ++i) {
            b[i] = -here.F[active[i]];
            for (std::size_t s = 0; s < k_; ++s) b[i] += here.J[active[i] * k_ + s] * here.p[s];
            for (std::size_t j = 0; j < n; ++j) A[i * n + j] = here.J[active[i] * k_ + active[j]];
        }
        if (!solve_linear(A, b)) return false;
        std::vector<double> aim(k_, 0.0);
        for (std::size_t i = 0; i < n; ++i) aim[active[i]] = b[i];
        for (double t = 1.0; t > 1e-3; t *= 0.5) {
            std::vector<double> p = here.p;
            for (std::size_t r = 0; r < k_; ++r) p[r] = std::max(0.0, p[r] + t * (aim[r] - p[r]));
            Point there = at(std::move(p));
            if (there.residual < here.residual * (1.0 - 1e-3 * t)) {
                here = std::move(there);
                return true;
            }
        }
        return false;
    }

    /// Sets each p_r in turn to the root of F_r with the others fixed: Newton within a bracket.
    [[nodiscard]] Point swept(Point here) {
        for (std::size_t r = 0; r < k_; ++r) {
            const double first = here.p[r];
            here = moved(std::move(here), r, 0.0);
            if (!(here.F[r] < 0.0)) continue;
            double low = 0.0;
            double high = 0.0;  // no upper bound yet
            double x = first > 0.0 ? first : 1.0 / problem_.gram[r * k_ + r];
            for (int i = 0; i < 200; ++i) {
                here = moved(std::move(here), r, x);
                (here.F[r] < 0.0 ? low : high) = x;
                double next = x - here.F[r] / here.J[r * k_ + r];
                if (high == 0.0 && !(next > low)) next = 2.0 * x;
                if (high > 0.0 && !(next > low && next < high)) next = 0.5 * (low + high);
                if (std::fabs(next - x) <= 1e-13 * x) break;
                x = next;
            }
        }
        return here;
    }

    [[nodiscard]] Point moved(Point here, std::size_t r, double x) {
        here.p[r] = x;
        return at(std::move(here.p));
    }

    const Problem& problem_;
    bool deviation_;
    Shrunk shrunk_;
    std::size_t k_;
    std::vector<double> u_;
    std::vector<double> slope_;
    std::vector<double> change_;
    std::vector<double> alpha_;
    std::vector<double> p_;
};

/// k-best PA: min |w' - w|^2 / 2 subject to w'.g_r >= demand_r, by Hildreth's method (Censor &
/// Zenios 1997; Crammer & Singer 2003). One slack for each constraint.
inline void hildreth(const Problem& problem, const Slack& slack, std::span<double> alpha) {
    const std::size_t k = problem.size();
    std::vector<double> m = problem.m;
    std::ranges::fill(alpha, 0.0);
    for (int sweep = 0; sweep < 10'000; ++sweep) {
        double largest = 0.0;
        for (std::size_t r = 0; r < k; ++r) {
            const double missing = problem.demand[r] - m[r] - alpha[r] * slack.ridge;
            const double span = problem.gram[r * k + r] + slack.ridge;
            const double next = std::clamp(alpha[r] + missing / span, 0.0, slack.most);
            const double change = next - alpha[r];
            for (std::size_t s = 0; s < k; ++s) m[s] += change * problem.gram[s * k + r];
            alpha[r] = next;
            const double size = std::fabs(problem.demand[r]) + std::fabs(problem.m[r]);
            largest = std::max(largest, std::fabs(change) * span / size);
        }
        if (!(largest > 1e-14)) break;
    }
}

}  // namespace surelearn::exact
