"""SoftmaxClassifier against scikit-learn, Laplace's approximation, and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit, log_softmax, logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from classifiers import spread
from surelearn import SoftmaxClassifier, SureClassifier


def overlapping(n_classes=3, n=200, d=4, seed=0):
    X, y = spread(n, d, n_classes, seed)
    return X / 3, y


def objective(X, y, coef, intercept, *, l2, weight=1.0, l1=0.0):
    scores = X @ coef.T + intercept
    if len(coef) == 1:
        scores = np.hstack([0 * scores, scores])
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    return (weight * losses).sum() + l2 / 2 * (coef**2).sum() + l1 * np.abs(coef).sum()


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("l2", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_objective_is_that_of_logistic_regression(n_classes, l2, fit_intercept):
    X, y = overlapping(n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    ours = SoftmaxClassifier(l2, fit_intercept=fit_intercept, tol=1e-8).fit(X, y, weight)
    theirs = LogisticRegression(C=1 / l2, fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000)
    theirs.fit(X, y, weight)
    values = [objective(X, y, clf.coef_, clf.intercept_, l2=l2, weight=weight)
              for clf in (ours, theirs)]  # fmt: skip
    assert ours.objective_ == pytest.approx(values[0], rel=1e-12)
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


def test_the_gap_bounds_the_distance_to_the_optimum():
    X, y = overlapping(4)
    best = SoftmaxClassifier(tol=1e-12, fit_intercept=False).fit(X, y).objective_
    for tol in (0.1, 1e-2, 1e-4):
        clf = SoftmaxClassifier(tol=tol, fit_intercept=False).fit(X, y)
        assert best <= clf.objective_ <= best + clf.gap_ + 1e-9
        assert clf.gap_ <= tol * clf.objective_


def test_l1_leaves_exact_zeros_and_meets_the_conditions_of_an_optimum():
    X, y = overlapping(3, d=8)
    X[:, 4:] = np.random.default_rng(0).normal(size=(200, 4))  # which tell nothing
    clf = SoftmaxClassifier(l2=0.1, l1=8.0, tol=1e-10).fit(X, y)
    assert not clf.coef_[:, 4:].any()
    assert clf.coef_[:, :4].any()
    assert clf.intercept_.any()
    p = clf.predict_proba(X) - np.eye(3)[y]
    slope = p.T @ X + 0.1 * clf.coef_
    zero = clf.coef_ == 0
    assert (np.abs(slope[zero]) <= 8.0 + 1e-2).all()
    np.testing.assert_allclose(slope[~zero], -8.0 * np.sign(clf.coef_[~zero]), atol=1e-2)
    value = objective(X, y, clf.coef_, clf.intercept_, l2=0.1, l1=8.0)
    assert clf.objective_ == pytest.approx(value)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sgd_reaches_the_same_objective(n_classes):
    X, y = overlapping(n_classes)
    best = SoftmaxClassifier(10.0, tol=1e-6).fit(X, y)
    clf = SoftmaxClassifier(10.0, solver="sgd", tol=3e-4, random_state=0).fit(X, y)
    value = objective(X, y, clf.coef_, clf.intercept_, l2=10.0)
    assert clf.objective_ == pytest.approx(value, rel=1e-12)
    assert clf.objective_ <= best.objective_ * (1 + 1e-3)
    assert clf.gap_ is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_variances_are_the_inverse_hessian_of_orthogonal_features(n_classes):
    X = np.kron(np.eye(3), np.array([[1.0], [2.0], [-1.0], [0.5]]))
    y = np.arange(12) % n_classes
    clf = SoftmaxClassifier(0.7, fit_intercept=False, tol=1e-10).fit(X, y)
    p, K = clf.predict_proba(X), len(clf.coef_)
    for j in range(3):
        if n_classes == 2:
            hessian = np.array([[(p[:, 0] * p[:, 1] * X[:, j] ** 2).sum()]])
        else:
            outer = np.einsum("nk,kl->nkl", p, np.eye(K)) - np.einsum("nk,nl->nkl", p, p)
            hessian = np.einsum("n,nkl->kl", X[:, j] ** 2, outer)
        precision = np.diagonal(hessian) + 0.7
        np.testing.assert_allclose(clf.sigma_[:, j], 1 / precision, rtol=1e-10)
        if n_classes == 2:  # one weight a feature: the whole Hessian is diagonal
            np.testing.assert_allclose(clf.sigma_[:, j], np.linalg.inv(hessian + 0.7)[0])


def test_moderated_probabilities_are_the_average_over_the_weights():
    X, y = overlapping(2, n=30)
    clf = SoftmaxClassifier(0.1, moderated=True).fit(X, y)
    mean, variance = clf.margin(X)
    p = clf.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, expit(mean / np.sqrt(1 + np.pi * variance / 8)))
    draws = np.random.default_rng(0).standard_normal(20_000)
    exact = expit(mean[:, None] + np.sqrt(variance)[:, None] * draws).mean(axis=1)
    np.testing.assert_allclose(p, exact, atol=0.02)
    np.testing.assert_allclose(clf.sample_proba(X, 20_000, random_state=0)[:, 1], exact, atol=0.02)
    plain = clf.set_params(moderated=False).predict_proba(X)[:, 1]
    np.testing.assert_allclose(plain, expit(mean))
    assert (np.abs(p - 0.5) < np.abs(plain - 0.5)).all()


def test_moderated_probabilities_of_many_classes_scale_each_score():
    X, y = overlapping(4)
    clf = SoftmaxClassifier(moderated=True).fit(X, y)
    mean, variance = clf.margin(X)
    scaled = mean / np.sqrt(1 + np.pi * variance / 8)
    np.testing.assert_allclose(clf.predict_proba(X), softmax(scaled, axis=1))
    np.testing.assert_allclose(clf.predict_log_proba(X), log_softmax(scaled, axis=1))
    clf.set_params(moderated=False)
    np.testing.assert_allclose(clf.predict_proba(X), softmax(mean, axis=1))
    sampled = clf.sample_proba(X, 5000, random_state=0)
    assert (sampled.max(axis=1) <= clf.predict_proba(X).max(axis=1) + 0.02).all()


def test_a_warm_start_begins_at_the_present_weights():
    X, y = overlapping()
    cold = SoftmaxClassifier(tol=1e-5).fit(X, y)
    warm = SoftmaxClassifier(tol=1e-5, warm_start=True).fit(X, y)
    assert warm.n_iter_ == cold.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    warm.set_params(l2=0.9).fit(X, y)
    fresh = SoftmaxClassifier(0.9, tol=1e-5).fit(X, y)
    assert warm.objective_ == pytest.approx(fresh.objective_, rel=1e-5)


def test_labels_unknown_to_a_warm_start_are_refused_by_name():
    X, y = overlapping()
    names = np.array(["a", "b", "c", "d"])
    clf = SoftmaxClassifier(warm_start=True).fit(X, names[y])
    with pytest.raises(
        ValueError,
        match=r"y must hold the labels 'a', 'b', 'c' for warm_start=True, got the new label 'd'",
    ):
        clf.fit(X, names[1 + y])
    with pytest.raises(ValueError, match=r"warm_start=True, got none that is 'c'"):
        clf.fit(X[y < 2], names[y[y < 2]])
    with pytest.raises(ValueError, match=r"X must have 4 features|expected 4|4 features"):
        clf.fit(X[:, :2], names[y])
    assert clf.set_params(warm_start=False).fit(X, names[1 + y]).classes_.tolist() == list("bcd")


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"l2": 0.0}, ValueError, r"l2 must be in \[1e-30, 1e30\], got 0.0"),
        ({"l2": -1.0}, ValueError, r"l2 must be in \[1e-30, 1e30\], got -1.0"),
        ({"l2": "much"}, TypeError, "l2 must be a number, got 'much'"),
        ({"l1": -0.5}, ValueError, r"l1 must be in \[0, inf\), got -0.5"),
        ({"l1": np.inf}, ValueError, r"l1 must be in \[0, inf\), got inf"),
        ({"solver": "newton"}, ValueError, "solver must be one of 'lbfgs', 'sgd', got 'newton'"),
        ({"l1": 0.5, "solver": "sgd"}, ValueError,
         r"l1 must be 0.0 with solver='sgd', got 0.5. Use solver='lbfgs'"),
        ({"warm_start": True, "solver": "sgd"}, ValueError,
         "warm_start must be False with solver='sgd', got True"),
        ({"warm_start": 1}, TypeError, "warm_start must be True or False, got 1"),
        ({"moderated": "yes"}, TypeError, "moderated must be True or False, got 'yes'"),
        ({"fit_intercept": 2}, TypeError, "fit_intercept must be True or False, got 2"),
        ({"tol": 1.0}, ValueError, r"tol must be in \[0, 1\), got 1.0"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be a whole number, got 2.5"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(params, error, message):
    X, y = overlapping()
    with pytest.raises(error, match=message):
        SoftmaxClassifier(**params).fit(X, y)


def test_l1_is_for_fit_alone():
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"l1 must be 0.0 for partial_fit, got 0.5. Use fit"):
        SoftmaxClassifier(l1=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"l2 must stay 1.0 in a fitted model, got 2.0"):
        SoftmaxClassifier().fit(X, y).set_params(l2=2.0).partial_fit(X, y)


def test_sgd_says_when_it_needs_more_passes():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="within max_iter=2 iterations, got an objective"):
        SoftmaxClassifier(solver="sgd", max_iter=2, tol=1e-9, random_state=0).fit(X, y)


@pytest.mark.parametrize("size", [1e3, 1e4])
def test_a_plateau_of_large_values_is_not_taken_for_the_optimum(size):
    centres = np.array([[0.0, 0, 0, 0], [3, 0, 0, 0], [0, 3, 0, 0]])
    y = np.arange(200) % 3
    X = np.random.default_rng(1).normal(size=(200, 4)) + centres[y]
    with warnings.catch_warnings():  # so small a gap may be out of reach of doubles
        warnings.simplefilter("ignore", ConvergenceWarning)
        least = SoftmaxClassifier(tol=1e-12).fit(1e3 * X, y).objective_
    # Larger values need smaller weights, which have a smaller penalty.
    assert SoftmaxClassifier().fit(size * X, y).objective_ <= 1.0001 * least


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_whose_scores_overflow_have_probabilities(n_classes):
    X, y = spread(n_classes=n_classes)
    largest = np.sign(X[:20]) * 1e308
    clf = SoftmaxClassifier().fit(X, y)
    rows = largest[~np.isnan(clf.decision_function(largest).reshape(20, -1)).any(axis=1)]
    assert np.isinf(clf.decision_function(rows)).any()
    p = clf.predict_proba(rows)
    assert (clf.classes_[p.argmax(axis=1)] == clf.predict(rows)).all()
    for moderated in (False, True):
        p = clf.set_params(moderated=moderated).predict_proba(rows)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert not np.isnan(clf.predict_log_proba(rows)).any()


@pytest.mark.parametrize("clf", [SoftmaxClassifier(), SureClassifier(scale=False)])
def test_a_row_without_a_score_is_named(clf):
    """Infinity less infinity is no number."""
    X, y = spread()
    clf = clf.set_params(random_state=0).fit(X, y)
    largest = np.sign(X) * 1.7e308
    bad = largest[np.isnan(clf.decision_function(largest)).any(axis=1)][:1]
    with pytest.raises(ValueError, match=r"scores are finite, got an overflow .* in row 1\. Scale"):
        clf.predict_proba(np.vstack([X[:1], bad]))


def test_weights_whose_loss_overflows_are_refused():
    X, y = spread()
    with pytest.raises(ValueError, match=r"whose loss is finite, got an overflow .* sample_weight"):
        SoftmaxClassifier().fit(X, y, sample_weight=np.full(len(y), 1e307))
