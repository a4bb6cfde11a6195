"""Learners are tuned by mistakes, and lost runs count as all of them."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.stdev import learners
from experiments.papers.stdev.clouds import LONG, POINTS, points


@pytest.mark.parametrize("name", learners.LEARNERS)
def test_every_learner_makes_a_pass(name):
    learner = learners.LEARNERS[name]
    found = learners.mistakes(learner.make(0.3), *points(LONG, 0))
    assert 0 < found < 300


def test_a_lost_run_counts_as_all_mistakes():
    learner = learners.LEARNERS["Stdev diag, precision"]._replace(grid=[0.5, 3.0])
    kept, lost = learners.tried(learner, LONG, range(2))
    assert (kept.lost, lost.lost) == (0, 2)
    assert kept.mistakes < 300
    assert lost.mistakes == POINTS
    assert np.isnan(learners.mistakes(learner.make(3.0), *points(LONG, 0)))


def test_other_errors_are_not_lost_runs():
    with pytest.raises(ValueError, match="projection must be"):
        learners.mistakes({"rule": "stdev", "projection": "none"}, *points(LONG, 0))


def test_the_first_of_the_best_values_is_taken():
    found = [learners.Tried(*one) for one in ((0.1, 9.0, 0), (0.2, 5.0, 0), (0.3, 5.0, 0))]
    assert learners.best(found) == 0.2
