"""Many constraints met at once: the nearest Gaussian that obeys all; knows no label.

Nearest is in the sense of min KL(N || N_i), N_i the weights before the round. With the linear
constraints mu.g_r >= b_r + c_r g_r' Sigma g_r the solution has the shape

    mu = mu_i + Sigma_i sum_r alpha_r g_r,   Sigma^-1 = Sigma_i^-1 + 2 sum_r c_r alpha_r g_r g_r'

(diagonal: g_r^2 in place of g_r g_r'), alpha_r >= 0. In alpha the negative dual is convex; its
slope along alpha_r is the slack of constraint r,

    slack_r(alpha) = m_r + sum_s G_rs alpha_s - b_r - c_r u_r(alpha),   G_rs = g_r' Sigma_i g_s,

so the solution is where alpha_r >= 0, slack_r >= 0 and one of the two is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .diagonal import Diagonal
from .full import Full

# Largest miss of the optimality conditions, as a part of the terms they are summed from.
TOLERANCE = 1e-13
MAX_SWEEPS = 5000

Steps = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Apart:
    """Variances u_r of a diagonal covariance: u_r = sum_j a_rj / (1 + 2 sum_s t_s a_sj)."""

    shares: np.ndarray

    def after(self, t: np.ndarray) -> np.ndarray:
        """All u_r when the precision has grown by 2 sum_s t_s g_s^2."""
        return (self.shares / (1 + 2 * t @ self.shares)).sum(axis=1)

    def slope(self, t: np.ndarray) -> np.ndarray:
        """M with du_r / dt_s = -2 M_rs."""
        left = self.shares / (1 + 2 * t @ self.shares)
        return left @ left.T

    def alone(self, r: int, t: np.ndarray) -> np.ndarray:
        """Shares of u_r when the others have moved and r has not."""
        others = np.where(np.arange(len(t)) == r, 0.0, t)
        return self.shares[r] / (1 + 2 * others @ self.shares)


@dataclass(frozen=True)
class Joint:
    """Variances u_r of a whole covariance: the diagonal of G (I + 2 diag(t) G)^-1."""

    gram: np.ndarray

    def after(self, t: np.ndarray) -> np.ndarray:
        """All u_r when the precision has grown by 2 sum_s t_s g_s g_s'."""
        return np.diag(self._gram_after(t))

    def slope(self, t: np.ndarray) -> np.ndarray:
        """M with du_r / dt_s = -2 M_rs."""
        return self._gram_after(t) ** 2

    def alone(self, r: int, t: np.ndarray) -> np.ndarray:
        """The one share u_r when the others have moved and r has not."""
        others = np.where(np.arange(len(t)) == r, 0.0, t)
        return self._gram_after(others)[r, r : r + 1]

    def _gram_after(self, t: np.ndarray) -> np.ndarray:
        return np.linalg.solve(np.eye(len(t)) + 2 * self.gram * t, self.gram)


@dataclass(frozen=True)
class Problem:
    """Constraints mu.g_r >= b_r + c_r g_r' Sigma g_r, each g_r scaled to variance 1."""

    gram: np.ndarray
    m: np.ndarray
    variances: Apart | Joint
    b: np.ndarray
    c: np.ndarray

    def slack(self, alpha: np.ndarray) -> np.ndarray:
        """How far each constraint is over what it asks."""
        return self.m + self.gram @ alpha - self.b - self.c * self.after(alpha)

    def after(self, alpha: np.ndarray) -> np.ndarray:
        """Variances u_r of the margins."""
        return self.variances.after(self.c * alpha)

    def miss(self, alpha: np.ndarray) -> float:
        """By how much the optimality conditions are missed, as a part of their terms."""
        asked = np.abs(self.b) + self.c * self.after(alpha)
        size = np.max(np.abs(self.m) + self.gram @ alpha + asked)
        worst = np.max(np.abs(np.minimum(alpha, self.slack(alpha))))
        return float(worst / size) if worst > 0 else 0.0


def solved(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """The multipliers of a problem, from a first guess.

    Sweeps of dual coordinate ascent find which constraints are tight (they always converge); a
    Newton step on the tight ones after each sweep gives the last digits.
    """
    for _ in range(MAX_SWEEPS):
        alpha = _newton(problem, _sweep(problem, alpha))
        if problem.miss(alpha) <= TOLERANCE:
            return _newton(problem, alpha)
    raise ArithmeticError(f"no solution in {MAX_SWEEPS} sweeps, miss {problem.miss(alpha):.1e}.")


def _sweep(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Set each multiplier in turn to its best value for the present others."""
    alpha = alpha.copy()
    for r in range(len(alpha)):
        alpha[r] = 0.0
        excess = problem.m[r] + problem.gram[r] @ alpha - problem.b[r]
        shares = problem.variances.alone(r, problem.c * alpha)
        alpha[r] = _root(excess, problem.gram[r, r], problem.c[r], shares)
    return alpha


def _root(excess: float, v: float, c: float, shares: np.ndarray) -> float:
    """t >= 0 with excess + t v = c sum_j q_j / (1 + 2 t c q_j), or 0 if excess is enough.

    The difference of the two sides rises and is concave in t, so Newton climbs to the root from
    the left.
    """
    t = 0.0
    for _ in range(500):
        left = shares / (1 + 2 * t * c * shares)
        f = excess + t * v - c * left.sum()
        if not f < 0:
            break
        step = -f / (v + 2 * c**2 * (left**2).sum())
        t += step
        if step <= 1e-16 * t:
            break
    return t


def _newton(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """One Newton step on the constraints that are tight or broken, if it brings the end nearer."""
    slack = problem.slack(alpha)
    free = (alpha > 0) | (slack < 0)
    if not free.any():
        return alpha
    bend = 2 * np.outer(problem.c, problem.c) * problem.variances.slope(problem.c * alpha)
    change = np.linalg.solve((problem.gram + bend)[np.ix_(free, free)], -slack[free])
    tried = alpha.copy()
    tried[free] = np.maximum(0.0, alpha[free] + change)
    return tried if problem.miss(tried) < problem.miss(alpha) else alpha


def variance_steps(model: Diagonal | Full, G: Sequence[np.ndarray], phi: Sequence[float]) -> Steps:
    """(alpha_r, gain_r) of the nearest Gaussian with mu.g_r >= phi_r g_r' Sigma g_r for all r.

    gain_r = 2 phi_r alpha_r.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5; Dredze, Crammer & Pereira 2008, sec. 4.1.
    """
    problem, scale = _problem(model, G)
    phi = np.array(phi) * scale
    alpha = solved(replace(problem, c=phi), np.zeros(len(phi)))
    return alpha / scale, 2 * phi * alpha / scale**2


def stdev_steps(model: Diagonal | Full, G: Sequence[np.ndarray], phi: Sequence[float]) -> Steps:
    """(alpha_r, gain_r) of the nearest Gaussian with mu.g_r >= phi_r sqrt(g_r' Sigma g_r).

    sqrt(u) = min_c (c u + 1 / c) / 2, so constraints linear in (mu, Sigma) are solved in turn with
    c_r = 1 / sqrt(u_r) until u stands still; gain_r = alpha_r phi_r / sqrt(u_r).

    References
    ----------
    Crammer, Dredze & Pereira 2008, eq. 4 and 9, for many constraints.
    """
    problem, scale = _problem(model, G)
    phi = np.array(phi)
    alpha, u = np.zeros(len(phi)), np.ones(len(phi))
    for _ in range(MAX_SWEEPS):
        problem = replace(problem, b=phi * np.sqrt(u) / 2, c=phi / (2 * np.sqrt(u)))
        alpha = solved(problem, alpha)
        before, u = u, problem.after(alpha)
        if np.allclose(u, before, rtol=TOLERANCE, atol=0.0):
            return alpha / scale, alpha * phi / np.sqrt(u) / scale**2
    raise ArithmeticError(f"no solution in {MAX_SWEEPS} turns, phi {phi}.")


def _problem(model: Diagonal | Full, G: Sequence[np.ndarray]) -> tuple[Problem, np.ndarray]:
    """The problem with every g_r divided by its standard deviation, and these deviations."""
    flat = np.stack([g.ravel() for g in G])
    scale = np.sqrt([model.variance(g) for g in G])
    flat = flat / scale[:, np.newaxis]
    if isinstance(model, Diagonal):
        sigma = model.sigma.ravel()
        gram = (flat * sigma) @ flat.T
        variances: Apart | Joint = Apart(flat**2 * sigma)
    else:
        gram = flat @ model.sigma @ flat.T
        variances = Joint(gram)
    m = np.array([model.margin(g) for g in G]) / scale
    return Problem(gram, m, variances, np.zeros(len(G)), np.zeros(len(G))), scale


def pa_steps(
    model: Diagonal | Full,
    G: Sequence[np.ndarray],
    asked: Sequence[float],
    *,
    box: float = np.inf,
    ridge: float = 0.0,
) -> Steps:
    """(alpha_r, 0) of min |w' - w|^2 / 2 with w'.g_r >= asked_r for all r, by Hildreth's sweeps.

    Parameters
    ----------
    model : Diagonal
        Weights, of which only the mean counts.
    G : sequence of ndarray
        Difference vectors.
    asked : sequence of float
        Margins asked for.
    box : float
        Largest multiplier: C with one linear slack for each constraint (PA-I).
    ridge : float
        1 / (2 C) with one squared slack for each constraint (PA-II).

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 6.3; Crammer et al. 2006.
    """
    flat = np.stack([g.ravel() for g in G])
    gram = flat @ flat.T + ridge * np.eye(len(G))
    loss = np.array(asked) - [model.margin(g) for g in G]
    alpha = np.zeros(len(G))
    for _ in range(MAX_SWEEPS):
        before = alpha.copy()
        for r in range(len(G)):
            alpha[r] = np.clip(alpha[r] + (loss[r] - gram[r] @ alpha) / gram[r, r], 0.0, box)
        if np.max(np.abs(alpha - before)) <= 1e-15 * np.max(np.abs(loss) / np.diag(gram)):
            return alpha, np.zeros(len(G))
    raise ArithmeticError(f"no fixed point in {MAX_SWEEPS} sweeps, got {alpha}.")
