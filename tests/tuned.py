"""Problems to tune on, and what a fit makes of them."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def problem(n_classes, *, n=300, d=12, form="dense", seed=0):
    """Rows of words, some features never seen, labels that are a little noisy."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.4) * rng.integers(1, 4, (n, d)).astype(np.float32)
    y = (X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))).argmax(axis=1)
    labels = np.array(["b", "a", "d", "c", "e"])[:n_classes]
    if form == "dense":
        return X, labels[y]
    wide = sparse.lil_array((n, 5 * d), dtype=np.float32)
    wide[:, 2 : 5 * d : 5] = X  # four in five features never occur
    return wide.tocsr(), labels[y]


def bits(clf):
    """Everything learnt, as bytes."""
    state = clf._model.weights.state()
    arrays = [np.asarray(state[name]).tobytes() for name in ("features", "cells")]
    known = {k: v for k, v in state.items() if k not in ("features", "cells")}
    counts = clf._model.counts.tolist()
    return arrays, known, counts, clf.mistakes_.tolist(), clf.n_updates_, clf.classes_.tolist()
