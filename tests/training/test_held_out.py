"""What shards keep back: never learnt, and a warning where merging has lost."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from merging.test_learnt import texts
from surelearn import SureClassifier, SureTagger, SureTextClassifier, rules
from surelearn.merging import Evidence
from surelearn.training.held_out import HeldOut, n_held_out, warn_if_worse


def test_one_record_in_a_hundred_is_kept_back():
    assert [n_held_out(n) for n in (0, 99, 100, 299, 5000, 10**6)] == [0, 0, 1, 2, 50, 50]


def numbers(n=400):
    random = np.random.default_rng(0)
    y = random.integers(3, size=n)
    return random.normal(size=(n, 4)) + 2 * np.eye(4)[y], y


@pytest.mark.parametrize("passes", [1, 3])
def test_what_is_kept_back_is_never_learnt(passes):
    X, y = numbers()
    clf = SureClassifier(n_shards=2, passes=passes, shuffle=False, scale=False).fit(X, y)
    assert clf.model_.counts.sum() == 396
    strange = X.copy()
    strange[198:200], strange[398:] = 100.0, -100.0  # the last two of both shards
    other = SureClassifier(n_shards=2, passes=passes, shuffle=False, scale=False).fit(strange, y)
    assert np.array_equal(clf.coef_, other.coef_)


def test_a_merged_model_that_is_worse_than_its_parts_is_told_of():
    X, y = texts(8000)
    params = {"n_shards": 10, "passes": 5, "random_state": 0, "n_features": 2**12}
    params |= {"rule": rules.Probit(noise=0.3), "idf": False, "constraints": "single"}
    figures = r"got \d+\.\d % right .* have \d+\.\d %, on 80 records .*combine='evidence'"
    with pytest.warns(UserWarning, match=rf"^merged shards must not be worse.* {figures}"):
        SureTextClassifier(combine="bayes", **params).fit(X, y)
    with warnings.catch_warnings(action="error"):
        SureTextClassifier(**params).fit(X, y)


@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo", "ecoc"])
def test_models_of_all_kinds_are_judged(multiclass):
    X, y = numbers()
    clf = SureClassifier(n_shards=4, multiclass=multiclass, random_state=0, scale=False).fit(X, y)
    assert clf.score(X, y) > 0.8
    X, y = [["a", "b"], ["b"]] * 100, [["x", "y"], ["y"]] * 100
    assert SureTagger(n_shards=2, random_state=0).fit(X, y).score(X, y) == 1.0


def test_chance_is_no_loss():
    """Beyond two standard errors of what differs."""

    def held(lost, won):
        return [HeldOut((lost, won), np.array([True] * lost + [False] * won))]

    def right(records):
        lost, won = records
        return np.array([False] * lost + [True] * won)

    with warnings.catch_warnings(action="error"):
        warn_if_worse([], right, "bayes")
        warn_if_worse(held(4, 0), right, "bayes")
        warn_if_worse(held(20, 12), right, "bayes")
    with pytest.warns(UserWarning, match=r"got 0\.0 % right where .* have 100\.0 %, on 5 records"):
        warn_if_worse(held(5, 0), right, "bayes")
    for how in ("evidence", Evidence(4.0)):  # which is not told to use itself
        with pytest.warns(UserWarning, match=r"Use fewer shards, or more passes"):
            warn_if_worse(held(5, 0), right, how)
