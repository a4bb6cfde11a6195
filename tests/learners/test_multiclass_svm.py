"""MulticlassSVM against scikit-learn, its bound, costs, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from classifiers import spread
from surelearn import MulticlassSVM, SoftmaxClassifier


def overlapping(n_classes=3, n=150, d=4, seed=0):
    X, y = spread(n, d, n_classes, seed)
    return X / 3, y


def hinges(clf, X, y, cost=None):
    """The generalised hinge of each row."""
    scores = clf.decision_function(X)
    if scores.ndim == 1:
        scores = np.stack([0 * scores, scores], axis=1)
    K = scores.shape[1]
    delta = (1 - np.eye(K) if cost is None else np.asarray(cost))[y]
    return (delta + scores).max(axis=1) - scores[np.arange(len(y)), y]


def objective(clf, X, y, *, C, cost=None, weight=1.0):
    norm = (clf.coef_**2).sum() + (clf.intercept_**2).sum()
    return norm / 2 + C * (weight * hinges(clf, X, y, cost)).sum()


@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_optimum_is_that_of_liblinear(C, n_classes):
    X, y = overlapping(n_classes)
    ours = MulticlassSVM(C, tol=1e-5, max_iter=100_000, random_state=0).fit(X, y)
    loss = {"loss": "hinge"} if n_classes == 2 else {"multi_class": "crammer_singer"}
    theirs = LinearSVC(C=C, tol=1e-8, max_iter=1_000_000, random_state=0, **loss).fit(X, y)
    values = [objective(clf, X, y, C=C) for clf in (ours, theirs)]
    assert ours.objective_ == pytest.approx(values[0], rel=1e-9)
    assert values[0] == pytest.approx(values[1], rel=1e-3)
    assert ours.gap_ <= 1e-5 * ours.objective_


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0.01, 3.0))
def test_the_hinge_bounds_the_cost_of_the_prediction(seed, n_classes, C):
    random = np.random.default_rng(seed)
    X, y = overlapping(n_classes, n=40, seed=seed % 7)
    y = np.unique(y, return_inverse=True)[1]
    K = y.max() + 1
    cost = random.uniform(0.2, 3, (K, K)) * (1 - np.eye(K))
    clf = MulticlassSVM(C, cost=cost, tol=1e-3, max_iter=10_000, random_state=0).fit(X, y)
    losses, paid = hinges(clf, X, y, cost), cost[y, clf.predict(X)]
    assert (losses >= paid - 1e-9).all()
    assert clf.objective_ == pytest.approx(objective(clf, X, y, C=C, cost=cost), rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sgd_reaches_the_same_objective(n_classes):
    X, y = overlapping(n_classes)
    best = MulticlassSVM(0.05, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
    clf = MulticlassSVM(0.05, solver="sgd", tol=2e-4, max_iter=4096, random_state=0).fit(X, y)
    assert best.objective_ * (1 - 1e-6) <= clf.objective_ <= best.objective_ * (1 + 1e-3)
    assert clf.objective_ == pytest.approx(objective(clf, X, y, C=0.05), rel=1e-9)
    assert clf.gap_ is None


def test_the_margin_becomes_hard_as_c_grows():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]])
    clf = MulticlassSVM(100.0, tol=1e-4, max_iter=100_000).fit(X, [0, 0, 1, 1])
    margins = clf.decision_function(X) * [-1, -1, 1, 1]
    assert margins.min() == pytest.approx(1, abs=1e-3)
    soft = MulticlassSVM(0.1).fit(X, [0, 0, 1, 1]).decision_function(X) * [-1, -1, 1, 1]
    assert soft.min() < 0.9


def test_costs_decide_which_mistakes_are_made():
    X, y = overlapping(3, seed=1)
    cost = np.ones((3, 3)) - np.eye(3)
    cost[0] *= 20  # never miss the first class
    plain = MulticlassSVM(random_state=0).fit(X, y)
    careful = MulticlassSVM(cost=cost, random_state=0, max_iter=10_000).fit(X, y)
    missed = [np.sum(clf.predict(X[y == 0]) != 0) for clf in (plain, careful)]
    assert missed[1] < missed[0]
    same = MulticlassSVM(cost=1 - np.eye(3), random_state=0).fit(X, y)
    np.testing.assert_allclose(same.coef_, plain.coef_, rtol=1e-9)


def test_costs_of_two_classes_are_the_margins_they_ask_for():
    X, y = overlapping(2)
    cost = np.array([[0.0, 3.0], [0.5, 0.0]])
    clf = MulticlassSVM(0.3, cost=cost, tol=1e-6, max_iter=100_000).fit(X, y)
    m = clf.decision_function(X) * (2 * y - 1)
    losses = np.maximum(0, np.where(y == 0, 3.0, 0.5) - m)
    norm = (clf.coef_**2).sum() + (clf.intercept_**2).sum()
    assert clf.objective_ == pytest.approx(norm / 2 + 0.3 * losses.sum(), rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_variances_are_those_of_the_log_loss_at_its_scores(n_classes):
    X, y = overlapping(n_classes)
    clf = MulticlassSVM(0.5, random_state=0).fit(X, y)
    scores = clf.decision_function(X)
    if n_classes == 2:
        scores = np.stack([0 * scores, scores], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    curvature = (p * (1 - p)).T @ X**2
    np.testing.assert_allclose(clf.sigma_, 1 / (1 / 0.5 + curvature[-len(clf.coef_) :]))


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_a_stream_does_not_forget_what_a_batch_has_learnt(C):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    svm = MulticlassSVM(C, random_state=0, max_iter=10_000).fit(X[:300], y[:300])
    before = svm.score(X, y)
    assert svm.online().partial_fit(X[300:350], y[300:350]).score(X, y) > before - 0.1
    assert svm.partial_fit(X[300:350], y[300:350]).score(X, y) > before - 0.1


def test_c_is_the_variance_of_the_prior_bit_for_bit():
    assert 1 / (1 / 49.0) != 49.0
    svm = MulticlassSVM(49.0, max_iter=10_000, tol=0.1).fit(*overlapping(n=20))
    assert svm.model_.initial_variance == 49.0


def test_c_is_the_variance_of_the_prior_and_must_stay():
    X, y = overlapping()
    svm = MulticlassSVM(0.3).fit(X, y)
    assert svm.model_.initial_variance == 0.3
    with pytest.raises(ValueError, match=r"C must stay 0.3 in a fitted model, got 0.4"):
        svm.set_params(C=0.4).partial_fit(X, y)


def test_the_intercept_is_a_feature():
    X, y = overlapping(3)
    with_ = MulticlassSVM(tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
    ones = np.hstack([X, np.ones((len(y), 1))])
    params = {"tol": 1e-6, "max_iter": 100_000, "random_state": 0}
    without = MulticlassSVM(fit_intercept=False, **params).fit(ones, y)
    assert with_.objective_ == pytest.approx(without.objective_, rel=1e-5)
    assert not without.intercept_.any()


def test_separable_rows_have_no_hinge_left():
    X = np.vstack([np.eye(4)] * 3)
    y = np.tile(np.arange(4), 3)
    clf = MulticlassSVM(100.0, tol=1e-4, max_iter=10_000).fit(X, y)
    assert hinges(clf, X, y).max() < 1e-3


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"C": 0.0}, ValueError, r"C must be in \[1e-30, 1e30\], got 0.0"),
        ({"C": -2}, ValueError, r"C must be in \[1e-30, 1e30\], got -2"),
        ({"C": None}, TypeError, "C must be a number, got None"),
        ({"cost": -np.ones((3, 3))}, ValueError, r"cost must hold numbers in \[0, 1e6\]"),
        ({"cost": np.ones((3, 3))}, ValueError, "cost must be 0 where the label is right"),
        ({"cost": np.ones((2, 3))}, ValueError, r"cost must be a square matrix, got shape"),
        ({"cost": 1 - np.eye(2)}, ValueError,
         r"cost must be a \(3, 3\) matrix for classes 0, 1, 2, got shape \(2, 2\)"),
        ({"cost": "high"}, TypeError, "cost must be a square matrix of numbers, got 'high'"),
        ({"solver": "lbfgs"}, ValueError, "solver must be one of 'frank-wolfe', 'sgd'"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(params, error, message):
    X, y = overlapping()
    with pytest.raises(error, match=message):
        MulticlassSVM(**params).fit(X, y)


def test_a_class_without_costs_is_refused_in_a_stream():
    X, y = overlapping()
    svm = MulticlassSVM(cost=1 - np.eye(2)).partial_fit(X[y < 2], y[y < 2])
    before = svm.coef_.copy()
    with pytest.raises(ValueError, match=r"cost must be a \(3, 3\) matrix.*declare all classes"):
        svm.partial_fit(X, y)
    np.testing.assert_array_equal(svm.coef_, before)


def test_the_same_seed_gives_the_same_bits():
    X, y = overlapping()
    one, two, other = (MulticlassSVM(random_state=seed).fit(X, y).coef_ for seed in (1, 1, 2))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


def test_it_predicts_nearly_as_softmax_does():
    X, y = overlapping(3, n=600)
    svm, soft = MulticlassSVM(random_state=0).fit(X, y), SoftmaxClassifier().fit(X, y)
    assert np.mean(svm.predict(X) == soft.predict(X)) > 0.9
