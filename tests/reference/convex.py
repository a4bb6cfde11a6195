"""The KL projection by a general convex solver: slow, and sure to about six digits."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

# The solver's gap is in the objective: its solution is right to about the root of it. On some
# processors it stalls before the first of these, and its answer is then worse than at the second.
GAPS = (1e-10, 1e-9)


def minimised(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    for gap in GAPS:
        tight = {"tol_gap_abs": gap, "tol_gap_rel": gap, "tol_feas": gap}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL, **tight)
        if problem.status == cp.OPTIMAL:
            return
    raise AssertionError(f"the solver must end optimal, got {problem.status}")


def by_solver_diagonal(name, weights, G, phi):
    """In variances for Variance, in standard deviations for Stdev: there each is convex."""
    mu0, sigma0 = weights.mu.ravel(), weights.sigma.ravel()
    mu, spread = cp.Variable(mu0.size), cp.Variable(mu0.size)
    shift = cp.sum_squares((mu - mu0) / np.sqrt(sigma0)) / 2
    rows = list(zip(phi, G.reshape(len(G), -1), strict=True))
    if name == "variance":
        kl = (cp.sum(spread / sigma0) - cp.sum(cp.log(spread))) / 2
        minimised(kl + shift, [mu @ g >= p * (g**2 @ spread) for p, g in rows])
        return mu.value, spread.value
    kl = cp.sum_squares(spread / np.sqrt(sigma0)) / 2 - cp.sum(cp.log(spread))
    minimised(kl + shift, [mu @ g >= p * cp.norm(cp.multiply(spread, g)) for p, g in rows])
    return mu.value, spread.value**2


def by_solver_full(name, weights, G, phi):
    """In Sigma for Variance, in its root for Stdev."""
    mu0, precision = weights.mu.ravel(), np.linalg.inv(weights.sigma)
    root = np.linalg.cholesky(precision).T
    mu, spread = cp.Variable(mu0.size), cp.Variable(weights.sigma.shape, PSD=True)
    shift = cp.sum_squares(root @ (mu - mu0)) / 2
    rows = list(zip(phi, G.reshape(len(G), -1), strict=True))
    if name == "variance":
        kl = (cp.trace(precision @ spread) - cp.log_det(spread)) / 2
        limits = [mu @ g >= p * cp.trace(np.outer(g, g) @ spread) for p, g in rows]
        minimised(kl + shift, limits)
        return mu.value, spread.value
    kl = cp.sum_squares(root @ spread) / 2 - cp.log_det(spread)
    minimised(kl + shift, [mu @ g >= p * cp.norm(spread @ g) for p, g in rows])
    return mu.value, spread.value @ spread.value
