"""What estimators that learn by a rule share: its parameters, and copies that go on."""

from __future__ import annotations

import copy
import pickle

import pytest
from sklearn.model_selection import GridSearchCV

from classifiers import fingerprint, spread
from surelearn import SureClassifier, rules


def test_what_was_fitted_tells_what_there_is():
    X, y = spread()
    clf = SureClassifier("perceptron", average=True).fit(X, y).set_params(rule="arow")
    assert not hasattr(clf, "sigma_")
    assert not hasattr(clf, "margin")
    clf = SureClassifier("arow").fit(X, y).set_params(rule="perceptron")
    assert clf.sigma_.shape == (*clf.margin(X)[1][0].shape, 6)


def test_rule_parameters_can_be_set_and_searched():
    X, y = spread()
    clf = SureClassifier(rules.Stdev(eta=0.9))
    assert clf.get_params()["rule__phi"] == rules.Stdev(eta=0.9).phi
    clf.set_params(rule__eta=0.5)
    assert clf.rule == rules.Stdev(phi=0.0)
    clf.set_params(rule="arow", rule__r=5.0)
    assert clf.rule == rules.AROW(r=5.0)
    with pytest.raises(TypeError, match=r"AROW\(r=5.0\) must be given 'r', got 'eta'"):
        clf.set_params(rule__eta=0.9)
    with pytest.raises(ValueError, match="Invalid parameter 'rules'"):
        clf.set_params(rules=1)
    for grid in ({"rule__r": [0.1, 10.0]}, {"rule": [rules.AROW(r=0.1), rules.AROW(r=10.0)]}):
        search = GridSearchCV(clf, grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.5


def test_pickle_and_copy_go_on_learning_alike():
    X, y = spread()
    clf = SureClassifier(average=True).partial_fit(X, y)
    clf.learn_one(X[0], y[0])
    twins = [pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]
    clf.partial_fit(X, y)
    for twin in twins:
        assert fingerprint(twin) != fingerprint(clf)
        assert fingerprint(twin.partial_fit(X, y)) == fingerprint(clf)
