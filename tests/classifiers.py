"""Small problems, and every bit of what a classifier has learnt from them."""

from __future__ import annotations

import numpy as np

from surelearn import SureClassifier, rules

X4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.5, 3.0]])
Y4 = np.array(["no", "yes", "yes", "no"])


def classifier(rule, **options):
    name, params = rule
    options = {"constraints": "single", "scale": False, **options}
    return SureClassifier(rules.RULES[name](**params), **options)


def fingerprint(clf):
    """Every bit of what a classifier has learnt."""
    model = clf._model
    state = model.weights.state() if model.weights else {}
    units = [np.asarray(part).tobytes() for part in state.pop("units", ())]
    cells = {k: np.asarray(v).tobytes() for k, v in state.items() if k != "layout"}
    scale = model.scale and [part.tobytes() for part in (model.scale.n, model.scale.square)]
    return (model.classes.tolist(), model.projection, model.mistakes, model.updates,
            model.counts.tolist(), cells, units, scale)  # fmt: skip


def spread(n=200, d=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centres = rng.normal(size=(n_classes, d)) * 2
    return centres[y] + rng.normal(size=(n, d)), y
