"""Parameters are chosen on rows that are not judged, and errors are counted by pass and row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.variance import learners
from experiments.papers.variance.learners import LEARNERS, PASSES, Learner
from experiments.sets import Rows


@pytest.fixture
def data():
    """Two classes that a linear model tells apart but for a few rows."""
    random = np.random.default_rng(0)
    X = sparse.random_array((120, 40), density=0.3, rng=random, format="csr", dtype=np.float32)
    y = X @ random.normal(size=40) + 0.1 * random.normal(size=120) > 0
    return Rows(X, y, np.arange(120))


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_judged(name, data):
    row = learners.judged(LEARNERS[name], data, 4, 2)
    assert len(row["missed"]) == row["rows"] == 120
    assert row["errors"][-1] == pytest.approx(100 * sum(map(int, row["missed"])) / 240)
    assert row["errors"][-1] < 40
    assert len(row["errors"]) == (PASSES if hasattr(LEARNERS[name].make(0.1), "rule") else 1)
    assert set(row["parameters"]) <= set(LEARNERS[name].grid)


class Told:
    """A model that says which rows it has learnt, and predicts a constant."""

    def __init__(self, parameter, seen):
        self.parameter, self.seen = parameter, seen

    def fit(self, X, y):
        self.seen.append((self.parameter, X[:, 0]))
        return self

    def predict(self, X):
        return np.full(len(X), self.parameter > 0)


def test_no_row_is_judged_with_a_parameter_that_was_chosen_on_it(monkeypatch):
    """Row i has value i; what `tuned` is given never holds rows that are judged with its result."""
    given = []
    tuned = learners.tuned
    monkeypatch.setattr(
        learners, "tuned", lambda *args: given.append(set(args[2].tolist())) or tuned(*args)
    )
    data = Rows(np.arange(40)[:, None], np.arange(40) % 4 == 0, np.arange(40))
    learner = Learner(lambda parameter: Told(parameter, []), (0.0, 1.0))
    found = list(learners._tuned_folds(learner, data, 4, 0))
    assert [len(rows) for rows in given] == [20, 20]
    for place, (_, learn, judge) in enumerate(found):
        assert not given[place // 2] & {*judge.tolist()}
        assert not {*learn.tolist()} & {*judge.tolist()}
    assert sorted(np.concatenate([judge for *_, judge in found])) == list(range(40))


def test_the_parameter_with_the_fewest_errors_is_chosen():
    data = Rows(np.arange(40)[:, None], np.arange(40) % 4 == 0, np.arange(40))
    learner = Learner(lambda parameter: Told(parameter, []), (1.0, 0.0, 2.0))
    assert learners.tuned(learner, data, np.arange(40)) == 0.0


def test_runs_have_other_folds(data):
    once, twice = (learners.judged(LEARNERS["PA"], data, 4, n) for n in (1, 2))
    more = np.subtract([int(digit) for digit in twice["missed"]], [int(d) for d in once["missed"]])
    assert set(more) <= {0, 1}
    assert more.tolist() != [int(digit) for digit in once["missed"]]
