"""Questions as the algorithm sheet has them, one row at a time; knows no rule but its gain.

A row of three or more classes is judged by the two labels of the largest mean scores, ties by the
label's index: with g the difference of their joint features, the score is m / sqrt(v), m = mu.g,
v = g' Sigma g. A code is a matrix [class, problem]: a label's score is its row times the problems'
scores, and g has (code_a - code_b) x in the columns of the problems. Two classes: g = x.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .diagonal import Diagonal, Move
from .full import Full

Gain = Callable[[float, np.ndarray], float]


def rivals(weights: Diagonal | Full, x: np.ndarray, code: np.ndarray | None) -> tuple[int, int]:
    """The two labels of the largest mean scores."""
    s = weights.scores(x)
    labels = s if code is None else code @ s
    order = sorted(range(len(labels)), key=lambda k: (-labels[k], k))
    return order[0], order[1]


def difference(weights: Diagonal | Full, x: np.ndarray, code: np.ndarray | None) -> np.ndarray:
    """g of the best two labels, of shape (n_columns, D)."""
    if len(weights.mu) == 1:
        return x[None, :]
    a, b = rivals(weights, x, code)
    rows = np.eye(len(weights.mu)) if code is None else code
    return (rows[a] - rows[b])[:, None] * x


def acl(
    weights: Diagonal | Full, x: np.ndarray, code: np.ndarray | None = None, noise: float = 0.0
) -> float:
    """|m| / sqrt(v), inf where v = 0. `noise` is that of one problem's margin."""
    g = difference(weights, x, code)
    v = weights.variance(g)
    if v <= 0:
        return math.inf
    times = 1.0 if code is None else float(np.sum((g[:, -1] / x[-1]) ** 2))
    return abs(weights.margin(g)) / math.sqrt(v + times * noise)


def shrunk(
    weights: Diagonal | Full, x: np.ndarray, gain: Gain, code: np.ndarray | None = None
) -> Diagonal | Full:
    """The weights with the variances of a row that was learnt, and the means of before."""
    steps = [difference(weights, x, code)]
    if code is not None:
        a, b = rivals(weights, x, code)
        problems = np.flatnonzero((code[a] != 0) | (code[b] != 0))
        steps = [np.eye(len(weights.mu))[:, [k]] * x for k in problems]
    for g in steps:
        weights = weights.moved(Move(g, 0.0, gain(weights.variance(g), weights.shares(g))))
    return weights


def expected(
    start: Diagonal | Full,
    weights: Diagonal | Full,
    x: np.ndarray,
    code: np.ndarray | None = None,
    noise: float = 0.0,
) -> float:
    """Root mean square of m / sqrt(v) once the labels are known that took v from its start.

    The variance of a margin before is that after plus the variance of the mean's own move.
    """
    g = difference(start, x, code)
    before, v = start.variance(g), weights.variance(g)
    if before <= 0:
        return math.inf
    times = 1.0 if code is None else float(np.sum((g[:, -1] / x[-1]) ** 2))
    return math.sqrt((start.margin(g) ** 2 + max(0.0, before - v)) / (v + times * noise))


def batch(
    weights: Diagonal | Full,
    X: np.ndarray,
    n: int,
    gain: Gain,
    code: np.ndarray | None = None,
    noise: float = 0.0,
) -> list[int]:
    """The n rows to ask about together: every row scored anew after every choice."""
    start = weights
    chosen: list[int] = []
    while len(chosen) < n:
        left = [i for i in range(len(X)) if i not in chosen]
        chosen.append(min(left, key=lambda i: (expected(start, weights, X[i], code, noise), i)))
        weights = shrunk(weights, X[chosen[-1]], gain, code)
    return chosen
