"""What is read off simulations: ratios, tasks won and lost, points ahead."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from experiments.papers.active import savings
from experiments.papers.active.tasks import ALL
from surelearn.active import Simulation

Line = namedtuple("Line", "labels ratio ratio_error")


def test_tasks_are_won_and_lost_by_their_labels():
    found = {
        task: {savings.ACL: Line(acl, ratio, 0.2), savings.CW_MARGIN: Line(margin, 1.0, 0.0)}
        for task, (acl, margin, ratio) in {
            "a": (10, 20, 0.5), "b": (20, 10, 2.0), "c": (5, 5, 1.0), "d": (8, np.inf, 0.9),
            "e": (np.inf, np.inf, 1.0),
        }.items()
    }  # fmt: skip
    found[ALL] = {savings.ACL: Line(1, 0.1, 0.0), savings.CW_MARGIN: Line(2, 1.0, 0.0)}
    assert savings.wins(found, savings.ACL, savings.CW_MARGIN) == (2, 1, 2)
    assert savings.apart(found) == ["a", "b"]
    assert savings.ratios(found, savings.ACL) == pytest.approx([50, 200, 100, 90, 100])


def test_labels_needed_and_points_ahead():
    one = Simulation(
        [2, 3],
        {("CW", "random"): [[0.5, 0.8]], ("CW", "acl"): [[0.8, 0.9]]},
        {"CW": [0.9]},
        pool=[10],
    )
    lines = savings.needed({"a": one}, 0.8)["a"]
    assert {pair: line.labels for pair, line in lines.items()} == {
        savings.CW_RANDOM: 3,
        savings.ACL: 2,
    }
    assert savings.ahead(one, savings.ACL, savings.CW_RANDOM) == pytest.approx(
        np.array([[30.0, 10.0]])
    )
