"""What learners of structures share: passes that count, and say which record was refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from surelearn.models.protocol import Refused
from surelearn.models.structured import learn_in_turns


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
