"""The table of weights of a classifier of graphs: what its rows mean, and how it grows."""

from __future__ import annotations

import numpy as np
import pytest

from networks import threads, typed
from surelearn import SureGraphClassifier
from surelearn.graph import Graph
from surelearn.learners.base import settings_of
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.learners.tasks.graphs import EncodedGraphs, LabelledGraphs


def trained(**params):
    X, y = typed(20)
    return SureGraphClassifier(random_state=0, average=False, **params).fit(X, y).model_


def numbered(model):
    """A copy whose mean of row r and column k is 10 r + k."""
    model = model.copy()
    rows = np.arange(model.layout.n_features)
    means = 10.0 * rows[:, None] + np.arange(len(model.classes))
    runs = np.concatenate([means, np.ones_like(means)], axis=1).astype(np.float32)
    model.weights.put_features({"features": rows, "cells": runs, "rounds": 0})
    return model


def test_rows_of_edges_come_first():
    model = numbered(trained())
    assert model.first == (1 + 2) * 2
    assert model.layout.n_features == 6 + 1 + 1
    assert model.pairs().tolist() == [
        [[0, 1], [10, 11]], [[20, 21], [30, 31]], [[40, 41], [50, 51]]
    ]  # fmt: skip
    assert model.nodes().tolist() == [[60, 70], [61, 71]]


def test_without_directions_a_pair_has_the_weight_of_its_smaller_label_first():
    model = numbered(trained(directed=False))
    assert model.pairs()[0].tolist() == [[0, 1], [1, 11]]


def test_a_model_grows_by_labels_and_types_at_once():
    model = numbered(trained())
    late = Graph([[0.0], [0.0]], [[0, 1]], edge_types=["at"])
    features = model.features.register([late])
    grown = model.fitting(np.array([-1, 0, 1]), features)
    assert features.edge_types.tolist() == ["at", "other", "same"]
    pairs = grown.pairs()
    assert pairs.shape == (4, 3, 3)
    assert pairs[0, 1:, 1:].tolist() == [[0, 1], [10, 11]]
    assert not pairs[1].any()
    assert pairs[2, 1:, 1:].tolist() == [[20, 21], [30, 31]]
    assert pairs[3, 1:, 1:].tolist() == [[40, 41], [50, 51]]
    assert not pairs[:, 0].any()
    assert not pairs[:, :, 0].any()
    assert grown.nodes()[1:].tolist() == [[60, 70], [61, 71]]
    assert model.pairs().shape == (3, 2, 2)  # as it was


def test_a_model_that_need_not_grow_keeps_its_weights():
    model = trained()
    same = model.fitting(model.classes, model.features)
    assert same.weights is model.weights


def test_a_copy_does_not_follow():
    model = trained()
    other = numbered(model)
    assert not np.array_equal(model.nodes(), other.nodes())
    other.mistakes.append(7)
    assert model.mistakes[-1] != 7 or len(model.mistakes) != len(other.mistakes)
    assert np.array_equal(model.copy().nodes(), model.nodes())


def test_labels_and_weights_of_graphs():
    X, y = threads(4)
    block = LabelledGraphs.of(X, y, [1.0, 0.0, 2.0, 1.0])
    assert block.size == 3
    assert block.numbers.tolist() == [0, 2, 3]
    assert block.labels.tolist() == ["a", "b", "c"]
    assert not block.is_sparse
    assert LabelledGraphs.of([Graph(X[0].nodes, [])], y[:1]).is_sparse


def test_a_part_keeps_the_numbers_of_its_graphs():
    X, _ = threads(5)
    features = GraphFeatures(True).register(X)
    whole = EncodedGraphs(features.table(X), np.zeros(40, np.int32), np.array(["a"]))
    assert whole.part(2, 5).numbers.tolist() == [2, 3, 4]
    dropped = whole._replace(numbers=np.array([0, 2, 4, 6, 8]), weight=np.arange(5.0))
    assert dropped.part(1, 3).numbers.tolist() == [2, 4]
    assert dropped.part(1, 3).weight.tolist() == [1.0, 2.0]


def test_an_untrained_model_says_so():
    untrained = settings_of(SureGraphClassifier()).untrained()
    for weights in (untrained.nodes, untrained.pairs):
        with pytest.raises(ValueError, match="learning needs at least two known classes"):
            weights()
