"""Models of other scales are merged in one unit, or refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from merged import shards
from surelearn import merge
from surelearn.merging import HOWS, MergeState
from surelearn.weights import Diagonal, Layout, weights_of


def rescaled(model, power):
    """The same model as a rule free of scale keeps it after some rescalings."""
    state = model._model.weights.state()
    n = state["n_columns"]
    state["cells"][:, :n] *= 2.0**power
    state["cells"][:, n:] *= 4.0**power
    state["prior"] *= 4.0**power
    model._model.weights = Diagonal.from_state(state)
    return model


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("K", [2, 3])
def test_models_of_other_scales_are_merged_in_one(K, how):
    plain = merge(shards(2, K=K, rule="stdev", dtype="float64"), how)
    models = shards(2, K=K, rule="stdev", dtype="float64")
    one = merge([rescaled(models[0], 5), rescaled(models[1], 8)], how)
    assert one._model.weights.prior == 4.0**8
    assert (one.coef_ == plain.coef_ * 2.0**8).all()
    assert (one.sigma_ == plain.sigma_ * 4.0**8).all()


def test_a_scale_that_is_lost_is_refused_unless_it_is_alone():
    models = shards(2, rule="stdev")
    state = models[0]._model.weights.state()
    models[0]._model.weights = Diagonal.from_state({**state, "prior": 3.4e35})
    with pytest.raises(ValueError, match="variances of a known scale"):
        merge(models)
    assert merge(models[:1])._model.weights.prior == 3.4e35


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
