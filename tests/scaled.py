"""A table whose columns have unlike units, and the kinds of models that learn it."""

from __future__ import annotations

import numpy as np

UNITS = 10.0 ** np.array([-6, 3, 0, 6, -2])
KINDS = [
    {},
    {"rule": "arow", "dtype": "float64"},
    {"average": True},
    {"rule": "pa1"},
    {"covariance": "full", "dtype": "float64"},
    {"covariance": "full", "average": True},
    {"fit_intercept": False},
    {"multiclass": "ovr"},
    {"initial_variance": 3.0},
]


def table(n: int = 60, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unlike units, means and spreads; the last one seldom varies."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5)) * [1, 1e-3, 50, 7, 1] + [3, 0, -200, 1e3, 0]
    X[:, 4] = random.random(n) < 0.1
    scores = (X[:, :3] - X[:, :3].mean(axis=0)) @ random.standard_normal((3, classes))
    return X, (scores + random.standard_normal((n, classes))).argmax(axis=1)
