"""What merging asks of a model, without an estimator."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from surelearn.merging import MergeState
from surelearn.weights import Layout, weights_of


def test_plain_numbers_are_enough():
    layout = Layout(2, intercept=False, second_order=True, averaged=False, dtype="float64")
    states = []
    for mean, variance in [(1.0, 0.5), (4.0, 0.25)]:
        weights = weights_of(layout, 1, 1.0)
        cells = np.array([[mean, variance]])
        weights = weights.put_features({"features": np.array([1]), "cells": cells, "rounds": 1})
        model = SimpleNamespace(
            layout=layout, initial_variance=1.0, multiclass="joint", projection="precision",
            classes=np.array(["a", "b"]), weights=weights, counts=np.array([1, 0]), mistakes=[1],
            updates=1, code=None,
        )  # fmt: skip
        states.append(MergeState.of(model))
    found = (states[0] + states[1]).result()
    D, G, X = 5.0, 1.0 + 3.0, 1.0 * 1.0 + 3.0 * 4.0
    np.testing.assert_allclose(found.weights.means[0], [0, (D + 16 * X) / (1 + 16 * G)])
    precision = 1 + G * (1 + 16 * G / 2) / (1 + 16 * G)
    np.testing.assert_allclose(found.weights.variances[0], [1, 1 / precision])
    assert (found.counts.tolist(), found.mistakes, found.updates) == ([2, 0], [2], 2)
