"""Support vector machines over listed outputs, by three solvers that share nothing.

    min_w  1/2 sum_j (w_j - mean_j)^2 / variance_j + C sum_i weight_i hinge_i(w)

With mean 0 and variance 1 this is the lecture's 1/2 |w|^2 + C sum hinge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse

from .losses import Example


class Prior(NamedTuple):
    """Where the weights are without examples, and how far they may go."""

    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def plain(cls, n_weights: int) -> Prior:
        return cls(np.zeros(n_weights), np.ones(n_weights))

    def penalty(self, w: np.ndarray) -> float:
        return float(np.sum((w - self.mean) ** 2 / self.variance) / 2)


class Solved(NamedTuple):
    """Weights with the value of the problem there, and a lower bound on all values."""

    w: np.ndarray
    primal: float
    dual: float


def objective(
    examples: Sequence[Example], C: float, w: np.ndarray, prior: Prior | None = None
) -> float:
    prior = Prior.plain(len(w)) if prior is None else prior
    hinges = [e.weight * np.max(e.delta - e.differences @ w) for e in examples]
    return prior.penalty(w) + C * math.fsum(hinges)


def by_solver(examples: Sequence[Example], C: float, prior: Prior | None = None) -> Solved:
    """The quadratic program in w and a slack for each example, by an interior point method."""
    examples = [example for example in examples if example.weight > 0]
    n = examples[0].psi.shape[1]
    prior = Prior.plain(n) if prior is None else prior
    slack = np.repeat(np.arange(len(examples)), [len(e.delta) for e in examples])
    G = np.vstack([e.differences for e in examples])
    A = -np.hstack([G, np.eye(len(examples))[slack]])
    P = np.concatenate([1 / prior.variance, np.zeros(len(examples))])
    q = np.concatenate([-prior.mean / prior.variance, [C * e.weight for e in examples]])
    x = _quadratic(P, q, A, -np.concatenate([e.delta for e in examples]))
    w = x[:n]
    value = objective(examples, C, w, prior)
    return Solved(w, value, value)


def hard_margin(examples: Sequence[Example]) -> np.ndarray:
    """The shortest w whose margins are all at least Delta (eq. 13, 14)."""
    G = np.vstack([e.differences for e in examples])
    delta = np.concatenate([e.delta for e in examples])
    return _quadratic(np.ones(G.shape[1]), np.zeros(G.shape[1]), -G, -delta)


def _quadratic(P: np.ndarray, q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x of least x' diag(P) x / 2 + q.x with A x <= b."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(b))]
    P, A = sparse.csc_matrix(np.diag(P)), sparse.csc_matrix(A)
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
    return np.array(solution.x)


def frank_wolfe(
    examples: Sequence[Example], C: float, passes: int, *, prior: Prior | None = None, seed: int = 0
) -> Solved:
    """Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013): each example's part of the dual
    moves towards its worst output, as far as is best."""
    n = examples[0].psi.shape[1]
    prior = Prior.plain(n) if prior is None else prior
    w = prior.mean.copy()
    parts, linear = np.zeros((len(examples), n)), np.zeros(len(examples))
    random = np.random.default_rng(seed)
    for _ in range(passes):
        for i in random.permutation(len(examples)):
            example, bound = examples[i], C * examples[i].weight
            worst = int(np.argmax(example.delta - example.differences @ w))
            to, cost = bound * example.differences[worst], bound * example.delta[worst]
            away = to - parts[i]
            length = float(np.sum(prior.variance * away**2))
            if length > 0:
                gamma = np.clip((cost - linear[i] - away @ w) / length, 0.0, 1.0)
                parts[i] += gamma * away
                linear[i] += gamma * (cost - linear[i])
                w = prior.mean + prior.variance * parts.sum(axis=0)
    dual = linear.sum() - prior.penalty(w) - np.sum((w - prior.mean) * prior.mean / prior.variance)
    return Solved(w, objective(examples, C, w, prior), float(dual))


def pegasos(examples: Sequence[Example], C: float, passes: int, *, seed: int = 0) -> np.ndarray:
    """Stochastic sub-gradient steps 1 / (lambda t), lambda = 1 / (C N); the mean of the weights,
    later ones counted more."""
    w = np.zeros(examples[0].psi.shape[1])
    mean = w.copy()
    scale = C * len(examples)
    random, t = np.random.default_rng(seed), 0
    for _ in range(passes):
        for i in random.permutation(len(examples)):
            t += 1
            example = examples[i]
            g = example.differences
            worst = int(np.argmax(example.delta - g @ w))
            w = (1 - 1 / t) * w + scale / t * example.weight * g[worst]
            mean += 2 / (t + 1) * (w - mean)
    return mean
