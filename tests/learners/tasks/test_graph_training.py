"""A classifier of graphs in training: labels and types are met, shards are merged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from networks import threads, typed
from surelearn import SureGraphClassifier
from surelearn.graph import Graph
from surelearn.learners.tasks.graphs import GraphSettings, GraphTrainable, LabelledGraphs
from surelearn.merging import Evidence


def learner(**params):
    options = {**SureGraphClassifier().get_params(deep=False), **params}
    return GraphTrainable(GraphSettings.of(options))


def test_a_block_is_encoded_once():
    own, block = learner(), LabelledGraphs.of(*threads(6))
    encoded = own.learn(block, starts_pass=True)
    assert own.learn(encoded, starts_pass=True) is encoded
    assert len(own.model.mistakes) == 2
    assert own.model.updates > 0


def test_labels_known_later_do_not_spoil_an_encoded_block():
    own = learner(projection="precision")
    encoded = own.learn(LabelledGraphs.of(*threads(6)))
    own.learn(LabelledGraphs.of([Graph(np.ones((1, 3)), [])], [["A"]]))
    assert own.model.classes.tolist() == ["A", "a", "b", "c"]
    before = own.model.weights.means[0].copy()
    y = own.model.places([["a", "b", "c"]])
    assert y.tolist() == [1, 2, 3]
    for _ in range(5):
        own.learn(encoded, starts_pass=True)
    assert own.model.mistakes[-1] < 6
    assert np.abs(own.model.weights.means[1:]).sum() > np.abs(before).sum()


def test_the_new_model_is_shown_before_it_learns():
    seen = []
    own = GraphTrainable(learner().settings, watch=seen.append)
    own.learn(LabelledGraphs.of(*typed(4)))
    assert seen == [own.model]
    assert seen[0].features.edge_types.tolist() == ["other", "same"]


def test_a_refused_block_leaves_the_model():
    own = learner()
    own.learn(LabelledGraphs.of(*threads(4)))
    before = own.model
    with pytest.raises(ValueError, match="nodes must have 3 columns"):
        own.learn(LabelledGraphs.of([Graph([[1.0]], [])], [["new"]]))
    with pytest.raises(TypeError, match="labels of the same type as before"):
        own.learn(LabelledGraphs.of(threads(1)[0], [[1] * 8]))
    assert own.model is before


@pytest.mark.parametrize("how", ["evidence", "bayes", "uniform"])
def test_one_shard_merged_is_itself(how):
    own = learner(average=False)
    own.learn(LabelledGraphs.of(*threads(10)))
    means = own.model.weights.means.copy()
    own.take(own.state(how))
    np.testing.assert_array_equal(own.model.weights.means, means)


@pytest.mark.parametrize("how", ["bayes", Evidence(math.inf)], ids=str)
def test_a_shard_begins_each_round_where_the_merged_model_is(how):
    whole, block = learner(average=False), LabelledGraphs.of(*threads(10))
    encoded = whole.learn(block)
    means, learnt = whole.model.weights.means.copy(), whole.model.updates
    shard = whole.fork()
    shard.learn(shard.begin_round(encoded, whole.model, how), starts_pass=True)
    updates = shard.model.updates
    shard.end_round(whole.model, how, 0)
    shard.begin_round(encoded, whole.model, how)
    assert np.array_equal(shard.model.weights.means, means)
    assert shard.model.updates == learnt < updates


def test_what_is_held_out_is_judged_by_nodes():
    own = learner()
    encoded = own.learn(LabelledGraphs.of(*threads(10)))
    shard = own.fork()
    shard.begin_round(encoded, own.model, Evidence())
    [held] = shard.end_round(own.model, Evidence(), 3).held
    assert held.records.size == 3
    assert held.right.shape == (24,)
    assert held.right.mean() > 0.3
