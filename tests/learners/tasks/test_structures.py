"""What learners of structures share: passes that count, and say which record was refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from surelearn.learners.tasks.structures import (
    check_fit,
    fitted_temperature,
    known_places,
    learn_in_turns,
    places_of,
    share_right,
    weighted,
    with_labels,
)
from surelearn.training.protocol import Refused


def model():
    layout = SimpleNamespace(covariance="diagonal", dtype="float32")
    counts = {"mistakes": [], "updates": 0, "records_learnt": 0}
    return SimpleNamespace(**counts, layout=layout, projection="precision")


def learner(stop_at=None, error_at=None):
    """Learns by counting: every record is a mistake, every other one an update."""

    def learn(span, done):
        for i in range(*span):
            if i == error_at:
                raise KeyboardInterrupt
            if i == stop_at:
                return True
            done += np.array([1, 1, i % 2], np.uint64)
        return False

    return learn


def test_a_pass_counts_and_reports():
    own, said = model(), []
    learn_in_turns(own, 7, learner(), name=lambda i: (i, i), unit="group", report=said.append)
    assert own.mistakes == [7]
    assert own.updates == 3
    assert [tuple(tally) for tally in said] == [(7, 7, 3)]
    learn_in_turns(own, 0, learner(), name=lambda i: (i, i), unit="group")
    assert own.mistakes == [7]


def test_a_refused_record_is_named_after_those_before_it_are_counted():
    own = model()
    with pytest.raises(Refused, match="group 104 must leave finite weights") as caught:
        learn_in_turns(own, 7, learner(4), name=lambda i: (100 + i, 2 * i), unit="group")
    assert caught.value.place == 8
    assert caught.value.unit == "group"
    assert own.mistakes == [4]


def test_an_interrupted_pass_counts_what_was_learnt():
    own = model()
    with pytest.raises(KeyboardInterrupt):
        learn_in_turns(own, 7, learner(error_at=3), name=lambda i: (i, i), unit="group")
    assert (own.mistakes, own.updates, own.records_learnt) == ([3], 1, 3)


def test_structures_of_weight_zero_are_left_out_and_the_others_keep_their_numbers():
    X, y = [["a"], ["b", "c"], []], [[1], [2, 3], []]
    assert weighted(X, y, None) == (X, y, None, None)
    kept, labels, weight, numbers = weighted(X, y, [0.0, 2.0, 1.0])
    assert (kept, labels) == (X[1:], y[1:])
    assert weight.tolist() == [2.0, 1.0]
    assert numbers.tolist() == [1, 2]


def test_labels_and_their_places():
    classes = np.array(["a", "c"])
    assert places_of([["c", "a"], [], ["c"]], classes).tolist() == [1, 0, 1]
    assert known_places(classes, np.array(["a", "b", "c"])).tolist() == [0, -1, 1]
    assert with_labels(classes, np.array(["d"]), np.array(["b", "a"])).tolist() == list("abcd")
    assert with_labels(classes[:0], np.array([2]), np.array([3, 1, 3])).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        with_labels(classes, np.array([1]), None)


def test_share_right_counts_parts_by_the_weight_of_their_structure():
    y, predicted = [[0, 1], [1]], [[0, 0], [1]]
    assert share_right(y, predicted, None) == pytest.approx(2 / 3)
    assert share_right(y, predicted, np.array([1.0, 3.0])) == pytest.approx(4 / 5)
    assert np.isnan(share_right([], [], None))


def softmax(scores, temperature):
    p = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return p / p.sum(axis=1, keepdims=True)


def test_the_temperature_is_the_one_of_the_data():
    """Labels drawn from scores at a temperature of 2 are best explained by it."""
    random = np.random.default_rng(0)
    scores = random.normal(scale=3.0, size=(4000, 3))
    places = np.array([random.choice(3, p=p) for p in softmax(scores, 2.0)], dtype=np.int32)
    found = fitted_temperature(lambda t: softmax(scores, t), places)
    assert found == pytest.approx(2.0, rel=0.1)

    def loss(log_temperature):
        return -np.log(softmax(scores, np.exp(log_temperature))[np.arange(4000), places]).mean()

    least = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x
    assert np.log(found) == pytest.approx(least, abs=0.001)  # many labels outweigh the prior


def test_few_labels_leave_the_temperature_near_one():
    """Two right labels fit every small temperature: the prior keeps it from being one."""
    scores = np.array([[4.0, 0.0], [0.0, 1.0]])
    found = fitted_temperature(lambda t: softmax(scores, t), np.array([0, 1], np.int32))
    assert 0.4 < found < 1.0


def test_weights_that_are_all_zero_are_named():
    block = SimpleNamespace(size=0, numbers=np.zeros(0, np.int64), labels=np.zeros(0))
    with pytest.raises(ValueError, match="positive entry, got zero weight in every graph"):
        check_fit(block, "graph")
    block.numbers = None
    with pytest.raises(ValueError, match="needs at least two classes, got 0 classes: none"):
        check_fit(block, "graph")
