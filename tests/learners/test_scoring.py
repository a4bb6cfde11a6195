"""How sure a model is of a label: the margin to the next best one, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.datasets import load_digits

from surelearn import SureClassifier, SureTextClassifier
from surelearn.learners.answers.classifier import scored_rows, scorer
from surelearn.learners.answers.judgement import judge

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "so odd", "odd one"]
LABELS = ["good", "good", "bad", "bad", "odd", "odd"]


@pytest.fixture(scope="module")
def clf():
    return SureTextClassifier(random_state=0).fit(TEXTS, LABELS)


def test_of_two_classes_sureness_is_behind_the_probability():
    X, y = load_digits(n_class=2, return_X_y=True)
    clf = SureClassifier(random_state=0, probability="exact", scale=False).fit(X[:200], y[:200])
    clf.calibrate(X[200:300], y[200:300])
    judged = judge(clf, X[300:])
    of_label = judged.probabilities.max(axis=1)
    np.testing.assert_allclose(ndtr(judged.sureness), of_label, rtol=1e-9)


def test_sureness_of_many_classes_by_hand(clf):
    texts = ["great", "dull odd", "new", "odd odd film"]
    mean, variance = clf.margin(texts)
    variance = variance + 0.5 * 1.0  # the noise of the default rule
    judged = judge(clf, texts)
    for row in range(len(texts)):
        second, first = np.argsort(mean[row])[-2:]
        gap = mean[row, first] - mean[row, second]
        spread = variance[row, first] + variance[row, second]
        assert judged.sureness[row] == pytest.approx(gap / spread**0.5)
        assert judged.labels[row] == clf.classes_[first]


def test_sureness_of_reductions_by_hand():
    X, y = load_digits(n_class=4, return_X_y=True)
    clf = SureClassifier("stdev", multiclass="ecoc", decoding="scores", random_state=0, scale=False)
    clf.fit(X[:200], y[:200])
    m, v = clf.margin(X[200:220])
    code = clf.code_.astype(float)
    for row, sure in enumerate(judge(clf, X[200:220]).sureness):
        second, first = np.argsort(code @ m[row])[-2:]
        g = code[first] - code[second]
        assert sure == pytest.approx(g @ m[row] / np.sqrt(g**2 @ v[row]))


def test_sureness_with_full_covariance_by_hand():
    X, y = load_digits(n_class=3, return_X_y=True)
    X = X[:, 18:24]
    clf = SureClassifier("arow", covariance="full", dtype="float64", scale=False).fit(
        X[:200], y[:200]
    )
    rows = np.hstack([X[200:220], np.ones((20, 1))])
    scores, size = clf.decision_function(X[200:220]), rows.shape[1]
    for row, sure in enumerate(judge(clf, X[200:220]).sureness):
        second, first = np.argsort(scores[row])[-2:]
        g = np.zeros((3, size))
        g[first], g[second] = rows[row], -rows[row]
        gap = scores[row, first] - scores[row, second]
        assert sure == pytest.approx(gap / np.sqrt(g.ravel() @ clf.sigma_ @ g.ravel()), rel=1e-5)


def test_a_row_of_nothing_is_a_tie():
    clf = SureClassifier("stdev", fit_intercept=False, scale=False).fit(
        [[0.0, 1.0], [1.0, 0.0]], ["a", "b"]
    )
    assert judge(clf, [[0.0, 0.0]]).sureness.tolist() == [0.0]


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("average", [False, True])
def test_sureness_is_that_of_the_core(n_classes, average):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    clf = SureClassifier("stdev", average=average, random_state=0, scale=False).fit(
        X[:200], y[:200]
    )
    X = np.vstack([X[200:], np.zeros_like(X[:1]), 1e150 * X[:5]])
    judged, found = judge(clf, X), scorer(clf).top_two(scored_rows(clf, X))
    assert judged.sureness.tobytes() == found.sureness.tobytes()
    np.testing.assert_array_equal(judged.labels, clf.classes_[found.best])


@pytest.mark.parametrize("probability", ["softmax", "exact"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_losses_are_those_of_the_probabilities_at_a_temperature(probability, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X / 16
    clf = SureClassifier(probability=probability, random_state=0, scale=False).fit(X[:200], y[:200])
    clf.calibrate(X[200:300], y[200:300])
    losses = scorer(clf).log_losses(scored_rows(clf, X[300:]), y[300:])(clf.temperature_)
    own = np.arange(len(losses)), y[300:]
    np.testing.assert_allclose(losses, -clf.predict_log_proba(X[300:])[own])


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("size", [1e200, 1e301, 1e307])
def test_the_most_probable_class_of_huge_scores_is_the_predicted_one(multiclass, size):
    X, y = load_digits(n_class=4, return_X_y=True)
    X = X / 16
    clf = SureClassifier(multiclass=multiclass, random_state=0, scale=False).fit(X[:200], y[:200])
    rows = np.eye(64)[X[:200].any(axis=0)] * size
    p = clf.predict_proba(rows)
    np.testing.assert_allclose(p.max(axis=1), 1.0)
    assert (clf.classes_[p.argmax(axis=1)] == clf.predict(rows)).all()
    assert not np.isnan(clf.predict_log_proba(rows)).any()
    other = clf.predict_proba(X[:3])
    assert (clf.predict_proba(np.vstack([rows, X[:3]]))[-3:] == other).all()
