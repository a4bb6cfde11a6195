"""L-BFGS against scikit-learn and the conditions of an optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from losses import TwoClassLoss, two_classes
from surelearn import _core
from surelearn.rows import rows_of
from surelearn.solvers import Interrupted, Prior, lbfgs


@pytest.mark.parametrize("l2", [0.01, 1.0, 50.0])
def test_the_optimum_is_that_of_scikit_learn(l2):
    X, y = two_classes()
    loss = TwoClassLoss(X, y)
    found = lbfgs(loss, Prior(None, l2), tol=1e-10)
    theirs = LogisticRegression(C=1 / l2, fit_intercept=False, tol=1e-10).fit(X, y).coef_[0]
    assert found.converged
    np.testing.assert_allclose(found.w, theirs, atol=1e-4)
    value = loss.log_loss(theirs, np.empty(5), 1) + 0.5 * l2 * theirs @ theirs
    assert found.value == pytest.approx(value, rel=1e-6)


def test_a_weight_without_penalty_is_the_intercept_of_scikit_learn():
    X, y = two_classes()
    found = lbfgs(TwoClassLoss(X, y), Prior(None, np.array([0.0, 2, 2, 2, 2])), tol=1e-10)
    theirs = LogisticRegression(C=0.5, tol=1e-10).fit(X[:, 1:], y)
    np.testing.assert_allclose(found.w, [*theirs.intercept_, *theirs.coef_[0]], atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 30.0), st.floats(0.01, 10.0), st.integers(0, 5))
def test_l1_meets_the_conditions_of_an_optimum(l1, l2, seed):
    X, y = two_classes(seed=seed)
    loss, gradient = TwoClassLoss(X, y), np.empty(5)
    found = lbfgs(loss, Prior(None, l2), l1=l1, tol=1e-12)
    smooth = loss.log_loss(found.w, gradient, 1)
    slope = gradient + l2 * found.w
    zero = found.w == 0
    assert (np.abs(slope[zero]) <= l1 + 1e-3).all()
    np.testing.assert_allclose(slope[~zero], -l1 * np.sign(found.w[~zero]), atol=1e-3)
    penalty = 0.5 * l2 * found.w @ found.w + l1 * np.abs(found.w).sum()
    assert found.value == pytest.approx(smooth + penalty)


def test_much_l1_leaves_exact_zeros():
    X, y = two_classes()
    assert not lbfgs(TwoClassLoss(X, y), Prior(None, 1.0), l1=1e4).w.any()
    free = np.array([0.0, 1e4, 1e4, 1e4, 1e4])
    w = lbfgs(TwoClassLoss(X, y), Prior(None, 1.0), l1=free).w
    assert w[0] != 0
    assert not w[1:].any()


@pytest.mark.parametrize("l1", [0.0, 1.0])
@pytest.mark.parametrize("factor", [1e-9, 1e-6, 1e6])
def test_the_factor_of_an_objective_does_not_change_its_optimum(l1, factor):
    X, y = two_classes()
    plain = lbfgs(TwoClassLoss(X, y), Prior(None, 1.0), l1=l1)
    loss = TwoClassLoss(X, y, np.full(len(y), factor))
    scaled = lbfgs(loss, Prior(None, factor), l1=factor * l1)
    assert scaled.converged
    assert scaled.value / factor == pytest.approx(plain.value, rel=2e-4)


@pytest.mark.parametrize("l1", [0.0, 2.0])
@pytest.mark.parametrize("max_iter", [1, 3, 1000])
def test_the_gap_bounds_the_distance_to_the_optimum(l1, max_iter):
    X, y = two_classes()
    prior = Prior(None, 0.5)
    best = lbfgs(TwoClassLoss(X, y), prior, l1=l1, tol=1e-12).value
    found = lbfgs(TwoClassLoss(X, y), prior, l1=l1, tol=1e-5, max_iter=max_iter)
    assert found.value - best <= found.gap + 1e-9
    assert found.converged == (max_iter == 1000)
    assert found.n_iter <= max_iter


def documents(n_classes, n=400, d=300):
    """Rows of words, all of length 1: together they say nearly what an intercept says."""
    random = np.random.default_rng(0)
    y = np.arange(n, dtype=np.int32) % n_classes
    share = np.exp(0.7 * random.normal(size=(n_classes, d))) / np.arange(1, d + 1)
    X = (random.random((n, d)) < 5 * share[y]).astype(float)
    return X / np.linalg.norm(X, axis=1, keepdims=True).clip(1e-9), y


@pytest.mark.parametrize("n_classes", [2, 8])
@pytest.mark.parametrize("l2", [0.1, 1.0])
def test_the_gap_holds_with_an_intercept_that_is_not_penalised(n_classes, l2):
    X, y = documents(n_classes)
    K = 1 if n_classes == 2 else n_classes
    loss = _core.RowLoss(rows_of(X), y, None, K, True)
    prior = Prior(None, np.where(np.arange(loss.n_weights) < loss.n_weights - K, l2, 0.0))
    best = lbfgs(loss, prior, tol=1e-10).value
    for tol in (3e-2, 1e-2, 3e-3, 1e-3, 1e-4):
        found = lbfgs(loss, prior, tol=tol)
        assert found.converged
        assert found.gap <= tol * found.value
        assert best <= found.value <= best + found.gap


def test_the_prior_has_a_mean_and_precisions():
    X, y = two_classes()
    mean, precision = np.arange(5.0), np.array([1.0, 2, 3, 4, 1e9])
    found = lbfgs(TwoClassLoss(X, y), Prior(mean, precision), tol=0.0)
    gradient = np.empty(5)
    TwoClassLoss(X, y).log_loss(found.w, gradient, 1)
    np.testing.assert_allclose(gradient, -precision * (found.w - mean), atol=1e-3)
    assert found.w[4] == pytest.approx(4.0)


@pytest.mark.parametrize("l1", [0.0, 3.0])
def test_a_warm_start_needs_fewer_iterations(l1):
    X, y = two_classes()
    cold = lbfgs(TwoClassLoss(X, y), Prior(None, 1.0), l1=l1)
    for sign in (1, -1):  # of the features, and so of the weights
        warm = lbfgs(TwoClassLoss(sign * X, y), Prior(None, 1.0), l1=l1, start=sign * cold.w)
        assert warm.n_iter < min(3, cold.n_iter)
        assert warm.value <= cold.value


def test_progress_falls_and_counts():
    X, y = two_classes()
    told = []
    found = lbfgs(TwoClassLoss(X, y), Prior(None, 1.0), report=told.append)
    assert [one.iteration for one in told] == list(range(1, found.n_iter + 1))
    values = [one.value for one in told]
    assert values == sorted(values, reverse=True)
    assert told[-1].value == found.value
    assert told[-1].gap == found.gap
    assert all(one.seconds >= 0 for one in told)


def test_ctrl_c_gives_the_best_so_far():
    X, y = two_classes()
    told = []
    with pytest.raises(Interrupted, match=r"^$") as stopped:
        lbfgs(TwoClassLoss(X, y, stop_after=4), Prior(None, 0.1), report=told.append)
    best = stopped.value.solution
    assert not best.converged
    assert best.value <= min(one.value for one in told)
    assert isinstance(stopped.value, KeyboardInterrupt)


def test_ctrl_c_before_the_first_value_has_nothing_to_give():
    X, y = two_classes()
    with pytest.raises(KeyboardInterrupt, match=r"^$") as stopped:
        lbfgs(TwoClassLoss(X, y, stop_after=0), Prior(None, 0.1))
    assert not isinstance(stopped.value, Interrupted)
