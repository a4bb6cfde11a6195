"""What a classifier says of rows, from one reading of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelled import FORMS, data, lists, model
from surelearn import SureClassifier, active
from surelearn.learners.answers.judgement import judge
from surelearn.weights import Diagonal


@pytest.mark.parametrize("settings", [{}, {"multiclass": "ovo"}, {"multiclass": "ovr"}], ids=str)
def test_a_judgement_is_what_the_methods_say(settings):
    X, y = load_digits(n_class=5, return_X_y=True)
    clf = SureClassifier(random_state=0, **settings).fit(X[:300], y[:300])
    judged = judge(clf, X[300:])
    np.testing.assert_array_equal(judged.labels, clf.predict(X[300:]))
    np.testing.assert_array_equal(judged.probabilities, clf.predict_proba(X[300:]))


@pytest.mark.parametrize("rule", ["probit", "pa1"])
@pytest.mark.parametrize("form", FORMS)
def test_a_judgement_of_many_labels(rule, form):
    X, Y = data()
    clf = model(rule).fit(X, FORMS[form](Y))
    judged = judge(clf, X)
    np.testing.assert_array_equal(judged.has, clf.decision_function(X) > 0)
    assert judged.labels == model(rule).fit(X, lists(Y)).predict(X)
    if rule == "pa1":
        assert judged.probabilities is None
        return
    np.testing.assert_array_equal(judged.probabilities, clf.predict_proba(X))
    np.testing.assert_allclose(judged.sureness, active.scores(clf, X))


def test_a_judgement_of_many_labels_by_another_library():
    X, Y = data()
    clf = OneVsRestClassifier(LogisticRegression()).fit(X, FORMS["dense"](Y))
    has = clf.predict(X) > 0
    assert 0 < has.mean() < 1
    judged = judge(clf, X)
    np.testing.assert_array_equal(judged.has, has)
    assert judged.labels == [tuple(np.flatnonzero(row)) for row in has]


#: What goes through rows in the core.
PASSES = ("leads", "margin", "scores", "winners")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"multiclass": "ovr"},
        {"multiclass": "ecoc"},
        {"multiclass": "ecoc", "decoding": "probability"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_judgement_goes_through_the_rows_once(settings, n_classes, calls):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    clf = SureClassifier(random_state=0, passes=1, **settings).fit(X[:200], y[:200])
    made = calls(Diagonal, *PASSES)
    judge(clf, X[200:])
    assert made == {"margin": 1}
