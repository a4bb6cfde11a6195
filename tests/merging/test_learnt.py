"""Merging by evidence: its parameter, and that it never collapses where adding up does."""

from __future__ import annotations

import json
import lzma
import math
from types import SimpleNamespace

import numpy as np
import pytest

from merged import shards
from surelearn import SureTextClassifier, merge, rules
from surelearn.merging import HOWS, Evidence, MergeState, repeated, way_of
from surelearn.merging._learnt import merged_classes
from surelearn.weights import Diagonal, Layout, weights_of


def texts(n, *, n_classes=20, n_words=400, seed=0):
    """Common words by their rank, and a few of each class: what all parts learn alike."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_words + 1)
    own = [random.permutation(n_words)[:8] for _ in range(n_classes)]
    y = random.integers(n_classes, size=n)
    words = [
        np.r_[random.choice(n_words, 25, p=share / share.sum()), random.choice(own[k], 4)]
        for k in y
    ]
    return [" ".join(f"w{i}" for i in row) for row in words], y.astype(str)


def in_rounds(X, y, passes, **params):
    params = {"n_shards": 10, "passes": passes, "random_state": 0, **params}
    params |= {"rule": rules.Probit(noise=0.3), "idf": False, "constraints": "single"}
    clf = SureTextClassifier(**params)
    half = len(y) // 2
    return clf.fit(X[:half], y[:half]).score(X[half:], y[half:])


def test_ten_shards_in_rounds_do_not_collapse():
    """What all shards have learnt is added up ten times by `bayes`, and feeds itself."""
    X, y = texts(3000)
    assert in_rounds(X, y, 5, n_features=2**12) > 0.93
    assert in_rounds(X, y, 5, n_features=2**12, combine="bayes") < 0.7


@pytest.mark.slow
def test_ten_shards_of_news_in_rounds_do_not_collapse(data_folder):
    with lzma.open(data_folder / "20news-18828.jsonl.xz", "rt", encoding="utf-8") as lines:
        news = [json.loads(line) for line in lines]
    np.random.default_rng(0).shuffle(news)
    X, y = [one["text"] for one in news], np.array([one["label"] for one in news])
    one = in_rounds(X, y, 10, n_shards=1)
    assert in_rounds(X, y, 10) > one - 0.005
    with pytest.warns(UserWarning, match="merged shards must not be worse than one shard"):
        assert in_rounds(X, y, 10, combine="bayes") < 0.5


def test_tau_is_checked_and_names_are_those_of_ways():
    assert way_of("evidence") == Evidence() == Evidence(16)
    assert way_of(Evidence(3)).tau == 3.0
    assert way_of("bayes") == "bayes"
    with pytest.raises(ValueError, match=r"tau must be in \(0, inf\], got 0"):
        Evidence(0)
    with pytest.raises(ValueError, match=r"tau must be in \(0, inf\], got nan"):
        Evidence(math.nan)
    with pytest.raises(TypeError, match="tau must be a number, got 'much'"):
        Evidence("much")
    with pytest.raises(ValueError, match=r"how must be one of 'evidence', 'bayes'.*got 'sum'"):
        way_of("sum")


def test_what_is_merged_again_and_again_is_averaged():
    assert repeated("evidence", 1) == "evidence"
    assert repeated("evidence", 2) == Evidence(math.inf)
    assert repeated("bayes", 2) == "bayes"


def test_states_of_two_taus_are_not_added():
    X, y = texts(60, n_classes=3)
    clf = SureTextClassifier(random_state=0, n_features=2**8).fit(X, y)
    with pytest.raises(ValueError, match=r"the same how to be merged, got Evidence\(tau=16.0\)"):
        MergeState.of(clf) + MergeState.of(clf, Evidence(2))
    parts = [clf, SureTextClassifier(random_state=1, n_features=2**8).fit(X, y)]
    found = [merge(parts, Evidence(tau)).coef_ for tau in (1, 16, math.inf)]
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])
    np.testing.assert_allclose(found[0], merge(parts, "bayes").coef_, rtol=1e-4, atol=1e-6)


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


@pytest.mark.parametrize("labels", [["a", "b"], [3, 4]])
def test_an_empty_array_of_labels_has_no_say_in_their_type(labels):
    some, none = np.array(labels), np.array([])
    for a, b in ((some, none), (none, some)):
        merged = merged_classes(a, b)
        assert merged.tolist() == labels
        assert merged.dtype == some.dtype
    assert merged_classes(none, none).tolist() == []
