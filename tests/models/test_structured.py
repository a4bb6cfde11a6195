"""What learners of structures share: passes that count, and say which record was refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from surelearn.models.protocol import Refused
from surelearn.models.structured import (
    fitted_temperature,
    known_places,
    learn_in_turns,
    places_of,
    share_right,
    weighted,
    with_labels,
)


def model():
    layout = SimpleNamespace(covariance="diagonal", dtype="float32")
    return SimpleNamespace(mistakes=[], updates=0, layout=layout, projection="precision")


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
    assert (own.mistakes, own.updates) == ([3], 1)


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


def test_the_temperature_is_the_one_of_the_data():
    """Labels drawn from scores at a temperature of 2 are best explained by it."""
    random = np.random.default_rng(0)
    scores = random.normal(scale=3.0, size=(4000, 3))

    def marginals(temperature):
        p = np.exp(scores / temperature)
        return p / p.sum(axis=1, keepdims=True)

    places = np.array([random.choice(3, p=p) for p in marginals(2.0)], dtype=np.int32)
    assert fitted_temperature(marginals, places) == pytest.approx(2.0, rel=0.1)
