"""Models that were trained on shards, to be merged."""

from __future__ import annotations

import numpy as np

from surelearn import SureClassifier


def shards(n, *, K=2, seed=0, n_features=4, **params):
    """Models of n shards, and the rows of each."""
    random = np.random.default_rng(seed)
    answers = random.normal(size=(n_features, K))
    models = []
    for _ in range(n):
        X = random.normal(size=(15, n_features)) * (random.random((15, n_features)) < 0.6)
        y = (X @ answers + random.normal(size=(15, K))).argmax(axis=1)
        y[:K] = range(K)
        settings = {"rule": "arow", "passes": 1, "shuffle": False, **params}
        models.append(SureClassifier(**settings, scale=False).fit(X, y))
    return models
