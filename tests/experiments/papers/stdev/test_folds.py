"""The parameter of a fold is chosen without its judged rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from experiments import sets
from experiments.papers.stdev.folds import FOLDS, judged


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    return sets.Rows(X, X[:, 0] > 0, np.arange(300))


def made():
    return [DummyClassifier(), LogisticRegression(), LogisticRegression()]


def test_the_first_of_the_best_models_is_taken(rows):
    found = judged(made(), rows, FOLDS)
    assert found["chosen"] == [1] * FOLDS
    assert np.mean(found["accuracy"]) > 90
    assert np.mean(found["accuracy"]) == pytest.approx(100 - len(found["wrong"]) / 3)


def test_a_row_is_wrong_that_is_wrong_in_most_runs(rows):
    once, thrice = (judged([DummyClassifier()], rows, FOLDS, runs=runs) for runs in (1, 3))
    assert len(thrice["accuracy"]) == 3 * FOLDS
    assert thrice["accuracy"][:FOLDS] == once["accuracy"]
    assert thrice["accuracy"][FOLDS:] != 2 * once["accuracy"]
    assert 0 < len(thrice["wrong"]) < len(rows.y)


def test_settings_of_fit_are_passed_on(rows):
    weight = {"sample_weight": None}
    assert judged(made(), rows, 1, **weight) == judged(made(), rows, 1)
    with pytest.raises(TypeError, match="nothing"):
        judged(made(), rows, 1, nothing=1)


def test_labels_of_the_judged_rows_choose_nothing(rows):
    _, judge = next(iter(sets.folds(rows.groups, FOLDS)))
    spoilt = rows.y.copy()
    spoilt[judge] = ~spoilt[judge]
    found, other = (judged(made(), rows._replace(y=y), 1) for y in (rows.y, spoilt))
    assert found["chosen"] == other["chosen"]
    assert found["accuracy"][0] == pytest.approx(100 - other["accuracy"][0])
    assert sorted([*found["wrong"], *other["wrong"]]) == sorted(judge)
