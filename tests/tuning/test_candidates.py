"""Candidates: defaults that fit, grids, and what is refused before anything is learnt."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from surelearn import SureClassifier, rules, tune
from surelearn.constraints import Sequential
from surelearn.tuning import candidates as settings_to_try
from tuned import problem


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_there_are_enough_default_candidates(form):
    X, y = problem(2, n=100, form=form)
    _, table = tune(SureClassifier(passes=1, scale=False), X, y)
    assert len(table) == 13
    assert {} in table.parameters.tolist()
    told = " ".join(map(repr, table.parameters))
    for word in ("AROW", "Variance", "Stdev", "Probit", "NHERD", "average"):
        assert word in told
    assert ("covariance" if form == "csr" else "precision") in told
    failed = table.failure != "" if "failure" in table.columns else np.zeros(13, bool)
    assert failed.sum() <= 1
    assert np.isnan(table.error).tolist() == failed.tolist()  # the others are judged
    assert np.isnan(table.log_loss).tolist() == failed.tolist()


def test_the_estimator_is_one_of_its_candidates_whatever_its_rule():
    X, y = problem(2, n=100)
    _, table = tune(SureClassifier("pa1", passes=1, scale=False), X, y)
    assert len(table) == 14
    assert {} in table.parameters.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"covariance": "full"},
        {"cost": [[0, 2], [1, 0]]},
        {"constraints": "exact"},
        {"fit_intercept": False, "initial_variance": 0.5},
    ],
    ids=str,
)
def test_default_candidates_that_do_not_fit_are_left_out(options):
    X, y = problem(2)
    base = SureClassifier(random_state=0, passes=2, **options, scale=False)
    best, table = tune(base, X, y)
    assert 2 <= len(table) <= len(settings_to_try.default(is_sparse=False))
    if "cost" in options:
        assert "Probit" not in str(table)
    alone = clone(base).set_params(**table.parameters[0]).fit(X, y)
    np.testing.assert_array_equal(best.coef_, alone.coef_)
    assert best.mistakes_.tolist() == alone.mistakes_.tolist()


def test_an_estimator_that_fits_nothing_is_refused():
    X, y = problem(2)
    with pytest.raises(ValueError, match="passes must be at least 1, got 0"):
        tune(SureClassifier(passes=0, scale=False), X, y)


def test_a_grid_is_every_combination():
    X, y = problem(2)
    grid = {"rule": [rules.AROW(), rules.Stdev()], "average": [False, True]}
    _, table = tune(SureClassifier(scale=False), X, y, grid)
    assert len(table) == 4
    _, table = tune(SureClassifier("arow", scale=False), X, y, {"rule__r": [0.1, 1.0, 10.0]})
    assert sorted(p["rule__r"] for p in table.parameters) == [0.1, 1.0, 10.0]


@pytest.mark.parametrize(
    ("candidates", "error", "match"),
    [
        ([], ValueError, "at least one, got none"),
        ({"rule": []}, ValueError, "at least one, got none"),
        ("arow", TypeError, "must be a list of dicts of parameters, or a dict of lists"),
        (["arow"], TypeError, r"candidates\[0\] must be a dict of parameters, got 'arow'"),
        ({"rule": "arow"}, TypeError, r"candidates\['rule'\] must be a list of values"),
        ([{"passes": 3}], ValueError, "got 'passes'. Set others in the estimator"),
        ([{"random_state": 3}], ValueError, "got 'random_state'"),
        ([{"class_weight": None}], ValueError, "got 'class_weight'"),
        ([{"speed": 3}], ValueError, r"candidates\[0\] must name parameters.*got 'speed'"),
        ([{"rule": "arow"}, {"rule": "row"}], ValueError, r"candidates\[1\], row: rule must be"),
        ([{"rule": "arow", "rule__r": -1}], ValueError, r"rule__r=-1: r must be in"),
        ([{"rule": "arow", "rule__phi": 1}], TypeError, "must be given 'r', got 'phi'"),
        ([{"average": 1}], TypeError, "average must be True or False, got 1"),
        (
            [{"constraints": Sequential(7)}],
            ValueError,
            r"candidates\[0\].*needs at least 8 classes",
        ),
        (
            [{}, {"rule": rules.Probit()}],
            ValueError,
            r"candidates\[1\], Pro.*the same as as it",
        ),
        (
            [{"rule": "pa"}, {"rule": "pa", "projection": "precision"}],
            ValueError,
            "must all differ",
        ),
    ],
)
def test_candidates_are_checked_before_anything_is_learnt(candidates, error, match):
    X, y = problem(2)
    with pytest.raises(error, match=match):
        tune(SureClassifier(scale=False), X, y, candidates)
