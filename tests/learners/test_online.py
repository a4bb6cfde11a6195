"""What estimators that learn by a rule share: its parameters, and copies that go on."""

from __future__ import annotations

import copy
import pickle

import pandas
import pytest
from sklearn.model_selection import GridSearchCV

import conll
from classifiers import fingerprint, spread
from surelearn import (
    SureClassifier,
    SureGraphClassifier,
    SureKernelClassifier,
    SureRanker,
    SureTagger,
    SureTextClassifier,
    rules,
)
from surelearn.graph import Graph


def test_what_was_fitted_tells_what_there_is():
    X, y = spread()
    clf = SureClassifier("perceptron", average=True, scale=False).fit(X, y).set_params(rule="arow")
    assert not hasattr(clf, "sigma_")
    assert not hasattr(clf, "margin")
    clf = SureClassifier("arow", scale=False).fit(X, y).set_params(rule="perceptron")
    assert clf.sigma_.shape == (*clf.margin(X)[1][0].shape, 6)


def test_rule_parameters_can_be_set_and_searched():
    X, y = spread()
    clf = SureClassifier(rules.Stdev(eta=0.9), scale=False)
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
    clf = SureClassifier(average=True, scale=False).partial_fit(X, y)
    clf.learn_one(X[0], y[0])
    twins = [pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]
    clf.partial_fit(X, y)
    for twin in twins:
        assert fingerprint(twin) != fingerprint(clf)
        assert fingerprint(twin.partial_fit(X, y)) == fingerprint(clf)


# A rule whose step is always 0: its margin has to be right with a probability of one half.
IDLE = rules.Stdev(eta=0.5)
CHAINS = [["a", "b"], ["b", "a"]] * 3, [["x", "y"], ["y", "x"]] * 3
GRAPHS = [Graph([[1.0], [-1.0]], [(0, 1)])] * 3, [["x", "y"]] * 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "fit",
    [
        pytest.param(lambda rule: SureClassifier(rule, scale=False).fit(*spread()), id="rows"),
        pytest.param(
            lambda rule: SureClassifier(rule, n_shards=2, scale=False).fit(*spread()), id="shards"
        ),
        pytest.param(
            lambda rule: SureClassifier(rule, multiclass="ovr", scale=False).fit(*spread()),
            id="code",
        ),
        pytest.param(
            lambda rule: SureTextClassifier(rule).fit(["good", "bad"], [0, 1]), id="texts"
        ),
        pytest.param(
            lambda rule: SureTextClassifier(rule).fit(["good", "bad"], [["x"], ["x", "y"]]),
            id="many labels",
        ),
        pytest.param(
            lambda rule: SureTextClassifier(rule).fit_stream(
                pandas.DataFrame({"text": ["good", "bad"] * 9, "label": [0, 1] * 9})
            ),
            id="stream",
        ),
        pytest.param(lambda rule: SureKernelClassifier(rule).fit(*spread()), id="kernel"),
        pytest.param(lambda rule: SureTagger(rule).fit(*CHAINS), id="sequences"),
        pytest.param(lambda rule: SureGraphClassifier(rule).fit(*GRAPHS), id="graphs"),
        pytest.param(
            lambda rule: SureRanker(rule).fit([[1.0], [2.0]] * 3, [1, 0] * 3, group=[2] * 3),
            id="groups",
        ),
    ],
)
def test_a_fit_that_moves_no_weight_warns(fit):
    with pytest.warns(UserWarning, match=r"got Stdev\(phi=0.0\), which moved none in"):
        assert fit(IDLE).n_updates_ == 0
    assert fit("stdev").n_updates_ > 0  # a warning would be an error


def test_rows_without_features_move_no_weight():
    with pytest.warns(UserWarning, match="rows need features that are not 0"):
        SureClassifier(fit_intercept=False, scale=False).fit([[0.0], [0.0]], [0, 1])


@pytest.mark.filterwarnings("error")
def test_a_fit_without_anything_to_learn_does_not_warn():
    one_label = pandas.DataFrame({"text": ["good", "bad"], "label": ["x", "x"]})
    clf = SureTextClassifier(IDLE)
    clf.partial_fit(one_label["text"], one_label["label"])
    assert clf.n_updates_ == 0


@pytest.mark.filterwarnings("error")
def test_a_stream_that_goes_on_without_a_mistake_does_not_warn():
    rows = pandas.DataFrame({"text": ["good", "bad"] * 50, "label": ["x", "y"] * 50})
    clf = SureTextClassifier("perceptron").fit_stream(rows)
    before = clf.n_updates_
    assert clf.fit_stream(rows, resume=True).n_updates_ == before


def test_only_a_classifier_that_calibrates_its_stream_keeps_records_back(tmp_path):
    path = tmp_path / "corpus.conll"
    path.write_text(conll.TEXT)
    rows = pandas.DataFrame({"text": ["good", "bad"] * 50, "label": ["x", "y"] * 50})
    for learner, source, last in (
        (SureTagger(passes=3), path, 0),
        (SureTextClassifier(passes=3, probability="exact"), rows, 0),
        (SureTextClassifier(passes=3), rows, 3),
    ):
        assert learner.fit_stream(source).stream_.kept_until == last
