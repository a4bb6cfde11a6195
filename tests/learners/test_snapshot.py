"""Copies of weights, also in other layouts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surelearn import SureClassifier
from surelearn.learners.snapshot import copied, recast
from surelearn.weights import Diagonal, Layout


def test_a_copy_does_not_follow():
    clf = SureClassifier(random_state=0, scale=False).fit(np.eye(3), [0, 1, 2])
    weights = clf.model_.weights
    before, copy = weights.means.tobytes(), copied(weights)
    clf.partial_fit(-np.eye(3), [0, 1, 2])
    assert weights.means.tobytes() != before
    assert copy.means.tobytes() == before
    assert copied(None) is None


@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_are_recast_with_their_means_and_variances(second_order, averaged, dtype):
    layout = Layout(3, intercept=False, second_order=True, averaged=False, dtype="float64")
    weights = Diagonal(layout, 2, prior=0.5)
    runs = np.array([[1.0, 2.0, 0.25, 0.125], [-3.0, 0.0, 0.5, 0.0625]])
    weights.put_features({"features": np.array([0, 2]), "cells": runs, "rounds": 0})
    kept = replace(layout, second_order=second_order, averaged=averaged, dtype=dtype)
    found = recast(weights, kept)
    assert found.layout == kept
    np.testing.assert_array_equal(found.means, weights.means)
    if second_order:
        np.testing.assert_array_equal(found.variances, weights.variances)
    assert found.prior == 0.5
