"""Groups of candidates that tests of rankers share."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def candidates(n_groups=60, n_features=6, seed=0, size=4):
    """Rows, relevance and group sizes; the first features tell which candidate is right."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, size + 1, n_groups)
    X = random.normal(size=(sizes.sum(), n_features))
    score = X @ np.linspace(1.0, -0.4, n_features) + random.normal(scale=0.3, size=len(X))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    y = np.zeros(len(X))
    for a, b in pairwise(starts):
        y[a + score[a:b].argmax()] = 1.0
    return X, y, sizes


def stacked(groups):
    """The groups of `strategies.rankings` as arguments of `fit`."""
    X = np.concatenate([X for X, _, _ in groups])
    cost = np.concatenate([cost for _, cost, _ in groups])
    group = [len(cost) for _, cost, _ in groups]
    return X, {"cost": cost, "group": group, "sample_weight": [w for _, _, w in groups]}
