"""Scores of many labels per row: what a row has, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from labelled import data, lists, model
from surelearn import rules
from surelearn.learners.label_scoring import LabelScorer, indicator, scorer_of
from surelearn.learners.labels import row_labels
from surelearn.learners.scoring import Scorer
from surelearn.rows import rows_of

X, Y = data()
ROWS = rows_of(X)


def scorer(rule="probit", **settings):
    return scorer_of(model(rule).fit(X, Y).model_, rules.get(rule), **settings)


def test_the_model_decides_which_scorer():
    assert type(scorer()) is LabelScorer
    one = model().fit(X, Y[:, 0]).model_
    assert type(scorer_of(one, rules.get("probit"))) is Scorer


def test_a_row_has_labels_above_their_thresholds():
    scores = scorer().class_scores(ROWS)
    assert np.array_equal(scorer().has(ROWS), scores > 0)
    cut = np.array([0.5, -0.5, 0, 9, -9])
    assert np.array_equal(scorer(thresholds=cut).has(ROWS), scores > cut)


@pytest.mark.parametrize("rule", ["probit", "arow"])
def test_probabilities_take_noise_and_temperature_for_every_label(rule):
    mean, variance = scorer(rule).moments(ROWS)
    noise = rules.get(rule).label_noise
    expected = ndtr(mean / (3.0 * np.sqrt(variance + noise)))
    assert np.allclose(scorer(rule, temperature=3.0).probabilities(ROWS), expected)
    assert (noise > 0) == (rule == "probit")


def test_no_probability_is_rounded_to_certainty():
    asked = scorer("arow", temperature=1e-2)
    p, log_p = asked.probabilities(ROWS), asked.probabilities(ROWS, log=True)
    assert ((p > 0) & (p < 1)).all()
    assert p.max() > 1 - 1e-15
    assert log_p.min() < -1e3


@pytest.mark.parametrize("rule", ["probit", "arow"])
def test_the_sureness_of_a_row_is_that_of_its_least_sure_label(rule):
    asked = scorer(rule)
    mean, variance = asked.moments(ROWS)
    each = np.abs(mean) / np.sqrt(variance + rules.get(rule).label_noise)
    found = asked.top_two(ROWS)
    assert np.allclose(found.sureness, each.min(axis=1))
    assert np.array_equal(found.best, each.argmin(axis=1))
    assert np.allclose(found.own, variance[np.arange(120), found.best])
    some = np.array([5, 2], np.int64)
    assert np.array_equal(asked.top_two(ROWS, some).gap, found.gap[some])
    told = asked.top_two(ROWS, some, places=np.array([3, 4]))
    assert np.array_equal(told.gap, np.abs(mean[some, [3, 4]]))
    scored = asked.score(ROWS)
    assert np.allclose(scored.sureness, each.min(axis=1))
    assert np.array_equal(scored.best, asked.has(ROWS))
    assert np.array_equal(scored.probabilities, asked.probabilities(ROWS))


def test_rules_without_variances_give_label_sets_only():
    found = scorer("pa1").score(ROWS)
    assert found.best.shape == (120, 5)
    assert (found.probabilities, found.sureness) == (None, None)


def test_a_prediction_is_right_if_all_labels_are():
    asked = scorer()
    truth = asked.has(ROWS)
    labels = row_labels(lists(truth), form="lists")[0]
    assert asked.right(ROWS, labels).all()
    other = truth.copy()
    other[7, 2] ^= True
    labels = row_labels(lists(other), form="lists")[0]
    assert np.flatnonzero(~asked.right(ROWS, labels)).tolist() == [7]
    unknown = lists(truth)
    unknown[4] = [*unknown[4], 99]
    labels = row_labels(unknown, form="lists")[0]
    assert np.flatnonzero(~asked.right(ROWS, labels)).tolist() == [4]


def test_an_indicator_leaves_other_labels_out():
    labels = row_labels([["b"], [], ["z", "a"]])[0]
    table = indicator(labels, np.array(["a", "b", "c"]))
    assert table.tolist() == [[False, True, False], [False] * 3, [True, False, False]]
