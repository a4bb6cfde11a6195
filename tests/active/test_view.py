"""Rows as a model sees them: means that count, and what a model lacks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import MultinomialNB

from queried import fitted, problem
from surelearn import SureClassifier
from surelearn.active import query, scores


def test_averaged_means_are_the_ones_that_count():
    X, y = problem(3)
    clf = SureClassifier("arow", average=True, passes=2).fit(X[:100], y[:100])
    mean, variance = clf.margin(X[100:])
    for row, found in enumerate(scores(clf, X[100:])):
        b, a = np.argsort(mean[row])[-2:]
        gap = mean[row, a] - mean[row, b]
        assert found == pytest.approx(gap / np.sqrt(variance[row, a] + variance[row, b]))


@pytest.mark.parametrize("how", ["joint", "ovr"])
@pytest.mark.parametrize("rule", ["arow", "pa1"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_margin_is_the_gap_of_the_mean_scores(rule, n_classes, how):
    clf, X = fitted(n_classes, rule=rule, multiclass=how)
    s = clf.decision_function(X)
    want = np.abs(s) if s.ndim == 1 else np.diff(np.sort(s, axis=1)[:, -2:]).ravel()
    np.testing.assert_allclose(scores(clf, X, "margin"), want, rtol=1e-12)


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron(), MultinomialNB()], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_of_scikit_learn_take_what_needs_no_variance(model, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = model.fit(X[:100], y[:100])
    if hasattr(model, "decision_function"):
        s = model.decision_function(X)
        want = np.abs(s) if s.ndim == 1 else np.diff(np.sort(s, axis=1)[:, -2:]).ravel()
        np.testing.assert_allclose(scores(model, X, "margin"), want)
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X).max(axis=1)
        np.testing.assert_allclose(scores(model, X, "least-confident"), p)
        assert query(model, X, 2, "entropy").shape == (2,)
    assert query(model, X, 3, "random", random_state=0).shape == (3,)


@pytest.mark.parametrize("strategy", ["acl", "entropy"])
def test_first_order_rules_have_no_variances(strategy):
    clf, X = fitted(2, rule="pa")
    needs = "variances" if strategy == "acl" else "probabilities"
    with pytest.raises(ValueError, match=f"needs no {needs}, got '{strategy}': the rule 'pa'"):
        query(clf, X, 1, strategy)


def test_what_a_model_lacks_is_named():
    X, y = problem(2)
    model = Perceptron().fit(X, y)
    with pytest.raises(ValueError, match="needs no variances, got 'acl': Perceptron keeps none"):
        query(model, X)
    with pytest.raises(ValueError, match="needs no variances, got 'acl': Perceptron keeps none"):
        query(model, X, 2, batch=True)
    with pytest.raises(ValueError, match="got 'entropy': Perceptron has no predict_proba"):
        scores(model, X, "entropy")
    bayes = MultinomialNB().fit(np.abs(X), y)
    with pytest.raises(ValueError, match="got 'margin': MultinomialNB has no decision_function"):
        scores(bayes, X, "margin")
