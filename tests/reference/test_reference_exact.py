"""The exact solutions against a convex solver, and against their optimality conditions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from . import exact
from .convex import by_solver_diagonal, by_solver_full, minimised
from .diagonal import Diagonal, Move
from .full import Full
from .learner import Learner

pytestmark = pytest.mark.slow  # the judge is judged where there is time

STEPS = {"variance": exact.variance_steps, "stdev": exact.stdev_steps}
KINDS = ["diagonal", "full"]


def problem(kind, seed, n_classes=4, n_features=2):
    """Random weights, a row's difference vectors, and a phi for each."""
    rng = np.random.default_rng(seed)
    shape = (n_classes, n_features)
    mu, x = rng.normal(size=shape), rng.normal(size=n_features)
    if kind == "full":
        root = rng.normal(size=(mu.size, 2 * mu.size))
        weights = Full(mu, root @ root.T / (2 * mu.size))
    else:
        weights = Diagonal(mu, np.exp(rng.normal(size=shape)), "precision")
    G = np.zeros((n_classes - 1, *shape))
    for r, g in enumerate(G):
        g[0], g[r + 1] = x, -x
    return weights, G, 10 ** rng.uniform(-1, 0.7) * np.array([1.0, 2.0, 0.5, 1.0])[: len(G)]


def solve(weights, G, steps, phi):
    moves = zip(G, *steps(weights, G, phi), strict=True)
    return weights.moved_at_once([Move(*move) for move in moves])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(STEPS))
def test_exact_is_the_convex_solution(name, kind, seed):
    weights, G, phi = problem(kind, seed, n_classes=3 + seed % 2)
    solver = by_solver_full if kind == "full" else by_solver_diagonal
    mu, sigma = solver(name, weights, G, phi)
    got = solve(weights, G, STEPS[name], phi)
    assert not np.allclose(got.mu, weights.mu, atol=1e-3)
    np.testing.assert_allclose(got.mu.ravel(), mu, atol=2e-5)
    np.testing.assert_allclose(got.sigma.ravel(), sigma.ravel(), atol=2e-5)


@pytest.mark.parametrize(
    ("options", "C"), [({}, None), ({"box": 0.3}, 0.3), ({"ridge": 1 / 0.6}, 0.3)]
)
@pytest.mark.parametrize("seed", range(3))
def test_passive_aggressive_is_the_convex_solution(seed, options, C):
    weights, G, asked = problem("diagonal", seed)
    alpha, gain = exact.pa_steps(weights, G, asked, **options)
    assert not gain.any()
    rows = G.reshape(len(G), -1)
    w, slack = cp.Variable(rows.shape[1]), cp.Variable(len(G), nonneg=True)
    price = {"box": lambda: C * cp.sum(slack), "ridge": lambda: C * cp.sum_squares(slack)}
    loss = cp.sum_squares(w - weights.mu.ravel()) / 2
    loss += sum(price[name]() for name in options)
    minimised(loss, [rows @ w >= asked - (slack if options else 0.0)])
    assert alpha.any()
    np.testing.assert_allclose(weights.mu.ravel() + alpha @ rows, w.value, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(STEPS))
def test_exact_meets_its_optimality_conditions(name, kind):
    """Met by all, with equality where it moves; the steps have the shape of the solution."""
    tight = loose = 0
    for seed in range(40):
        weights, G, phi = problem(kind, seed, n_classes=5, n_features=3)
        phi[seed % 4] *= seed % 3
        alpha, gain = STEPS[name](weights, G, phi)
        after = solve(weights, G, STEPS[name], phi)
        m = np.array([after.margin(g) for g in G])
        u = np.array([after.variance(g) for g in G])
        size = np.array([np.abs(after.mu * g).sum() for g in G])
        slack = m - phi * (u if name == "variance" else np.sqrt(u))
        assert (alpha >= 0).all()
        assert (slack >= -1e-9 * size).all()
        assert np.abs(slack[alpha > 0] / size[alpha > 0]).max(initial=0.0) < 1e-9
        factor = 2 * phi if name == "variance" else phi / np.sqrt(u)
        np.testing.assert_allclose(gain, factor * alpha, rtol=1e-9)
        tight, loose = tight + (alpha > 0).sum(), loose + (alpha == 0).sum()
    assert min(tight, loose) > 20


def test_hildreth_meets_its_optimality_conditions():
    for seed in range(40):
        weights, G, asked = problem("diagonal", seed, n_classes=5, n_features=3)
        for box in (np.inf, 0.2):
            alpha, _ = exact.pa_steps(weights, G, asked, box=box)
            after = weights.mu + sum(a * g for a, g in zip(alpha, G, strict=True))
            over = np.array([(after * g).sum() for g in G]) - asked
            assert ((alpha >= 0) & (alpha <= box)).all()
            assert (over[alpha < box] > -1e-9).all()
            assert (over[alpha > 0] < 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_cycling_single_updates_is_feasible_but_farther(kind):
    """Cycling ends at a point that obeys all constraints, but not at the nearest one."""
    excess = []
    for seed in range(6):
        weights, G, phi = problem(kind, seed)
        cycled = weights
        for _ in range(150):
            for g, p in zip(G, phi, strict=True):
                (alpha,), (gain,) = exact.variance_steps(cycled, [g], [p])
                cycled = cycled.moved_at_once([Move(g, alpha, gain)])
        nearest = solve(weights, G, exact.variance_steps, phi)
        for g, p in zip(G, phi, strict=True):
            assert cycled.margin(g) >= p * cycled.variance(g) - 1e-9
        excess.append(kl(cycled, weights) / kl(nearest, weights) - 1)
    assert min(excess) > -1e-9
    assert max(excess) > 0.05


def kl(new, old):
    sigma, before = (
        np.diag(w.sigma.ravel()) if isinstance(w, Diagonal) else w.sigma for w in (new, old)
    )
    shift = (new.mu - old.mu).ravel()
    ratio = np.linalg.solve(before, sigma)
    return (
        np.trace(ratio)
        - np.linalg.slogdet(ratio)[1]
        + shift @ np.linalg.solve(before, shift)
        - len(shift)
    ) / 2


def test_the_direct_solution_for_one_block_a_class_agrees():
    """With A = sum alpha_r the constraints meet in A alone: bisection inside bisection."""
    weights, G, phi = problem("diagonal", 3, n_classes=5, n_features=3)
    phi = np.full(4, phi[0])
    alpha, _ = exact.variance_steps(weights, G, phi)
    a = weights.sigma * G[0][0] ** 2
    m = np.array([weights.margin(g) for g in G])

    def V(z, t):
        return (a[z] / (1 + 2 * phi[0] * t * a[z])).sum()

    def bisect(f, high):
        low = 0.0
        while f(high) < 0:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) < 0 else (low, middle)
        return high

    def alphas(A):
        need = phi[0] * V(0, A) - A * a[0].sum() - m
        return [
            bisect(lambda t, r=r: t * a[r + 1].sum() - phi[0] * V(r + 1, t) - need[r], 1.0)
            if need[r] > -phi[0] * V(r + 1, 0.0)
            else 0.0
            for r in range(4)
        ]

    A = bisect(lambda A: A - sum(alphas(A)), 1.0)
    np.testing.assert_allclose(alpha, alphas(A), rtol=1e-11, atol=1e-12)


def test_one_constraint_on_the_diagonal_is_stdev_exact():
    """s^2 = sum_j a_j / (1 + alpha phi a_j / s) inside m + alpha v = phi s."""
    learner = Learner(3, 2, "stdev", {"phi": 1.3}, constraints="exact", fit_intercept=False)
    x = np.array([1.0, -3.0, 0.2])
    learner.learn(x, 1)
    learner.learn(np.array([2.0, 1.0, -1.0]), 0)
    before = learner.mu[0], learner.sigma[0]
    learner.learn(x, 0)
    alpha = (learner.mu[0] - before[0])[0] / -(before[1] * x)[0]
    a = before[1] * x**2
    s = (-(before[0] @ x) + alpha * a.sum()) / 1.3
    assert alpha > 0
    assert s**2 == pytest.approx((a / (1 + alpha * 1.3 * a / s)).sum(), rel=1e-11)
    np.testing.assert_allclose(1 / learner.sigma[0], 1 / before[1] + alpha * 1.3 / s * x**2)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_steps_over_equal_features_are_the_known_multiples(n):
    """Variance-Exact's alpha over Variance's, m = 0, unit variances, phi = 1."""
    steps = [
        trained_once(Learner(n, 2, name, {"phi": 1.0}, fit_intercept=False), n).mu[0, 0]
        for name in ("variance-exact", "variance")
    ]
    assert steps[0] / steps[1] == pytest.approx({5: 1.9, 20: 3.5, 100: 7.3}[n], rel=0.03)


@pytest.mark.parametrize(
    ("n", "phi", "precision", "covariance"),
    [(5, 0.5, 0.57, 0.52), (5, 1, 0.42, 0.32), (20, 2, 0.12, 0.08), (100, 1, 0.078, 0.069)],
)
def test_single_variance_reaches_the_known_part_of_its_margin(n, phi, precision, covariance):
    for projection, part in (("precision", precision), ("covariance", covariance)):
        learner = Learner(
            n, 2, "variance", {"phi": phi}, projection=projection, fit_intercept=False
        )
        (m,), (v,) = trained_once(learner, n).margin(np.ones(n))
        assert m / (phi * v) == pytest.approx(part, abs=0.005)
    exactly = Learner(n, 2, "variance", {"phi": phi}, constraints="exact", fit_intercept=False)
    (m,), (v,) = trained_once(exactly, n).margin(np.ones(n))
    assert m == pytest.approx(phi * v, rel=1e-12)


def trained_once(learner, n):
    learner.learn(np.ones(n), 1)
    return learner
