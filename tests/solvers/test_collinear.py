"""Features that are multiples of each other are one feature: the same optimum, fewer weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surelearn import SoftmaxClassifier, solvers
from surelearn.solvers import Interrupted, Joined, Solution


def rows(seed=0, n=40, d=12):
    """Words of which many occur in one text, some are copies, and one never occurs."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.2)
    alone = np.zeros((n, 30))
    alone[random.integers(0, n, 30), np.arange(30)] = random.normal(size=30)
    copies = X[:, :4] * np.array([2.0, -0.5, 3.0, 1e-3])
    X = np.hstack([X, alone, copies, np.zeros((n, 1))])
    return sparse.csr_array(X), np.arange(n) % 3


def test_joined_features_have_the_same_scores_and_norm():
    X, _ = rows()
    joined = Joined.of(X)
    v = np.random.default_rng(1).normal(size=(joined.X.shape[1] + 1, 3))
    w = joined.long(v.ravel(), 3).reshape(-1, 3)
    assert np.allclose(X @ w[:-1], joined.X @ v[:-1], atol=1e-12)
    assert np.allclose((w**2).sum(), (v**2).sum())
    assert np.allclose(joined.short(w.ravel(), 3), v.ravel())


def test_only_multiples_are_joined():
    X, _ = rows()
    joined = Joined.of(X)
    dense = X.toarray()
    unit = dense / np.maximum(np.linalg.norm(dense, axis=0), 1e-300)
    alike = np.abs(unit.T @ unit) > 1 - 1e-9
    group = joined.shares.toarray() != 0
    assert np.array_equal(alike, (group.astype(int) @ group.T.astype(int)) > 0)


def test_nothing_is_joined_where_little_can_be():
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(20, 8)))
    assert Joined.of(X) is None


def test_rows_without_entries():
    joined = Joined.of(sparse.csr_array((3, 5)))
    assert joined.X.shape == (3, 0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_optimum_is_that_of_all_features(intercept, classes):
    X, y = rows()
    y = y % classes
    params = {"fit_intercept": intercept, "tol": 1e-14}
    sparse_fit = SoftmaxClassifier(**params).fit(X, y)
    dense_fit = SoftmaxClassifier(**params).fit(X.toarray(), y)  # dense rows are not joined
    assert np.allclose(sparse_fit.coef_, dense_fit.coef_, atol=1e-5)
    assert np.allclose(sparse_fit.sigma_, dense_fit.sigma_, atol=1e-6)
    assert np.isclose(sparse_fit.objective_, dense_fit.objective_, rtol=1e-9)


def test_a_warm_start_begins_at_the_optimum():
    X, y = rows()
    clf = SoftmaxClassifier(warm_start=True, tol=1e-8).fit(X, y)
    assert clf.n_iter_ > 3
    assert clf.fit(X, y).n_iter_ <= 2


def test_an_interrupted_search_keeps_the_weights_of_all_features():
    X, _ = rows()
    joined = Joined.of(X)
    w = np.ones(joined.X.shape[1] * 3)

    def stopped():
        raise Interrupted(Solution(w, 1.0, 2, False, None))

    with pytest.raises(solvers.Interrupted) as caught:
        joined.solve(stopped, 3)
    assert caught.value.solution.w.shape == (X.shape[1] * 3,)


@pytest.mark.parametrize("extreme", [5e-324, 1e-170, 1e170])
def test_values_whose_squares_do_not_fit_a_double_are_not_joined(extreme):
    assert Joined.of(sparse.csr_array(np.array([[extreme, extreme, 1.0], [0.0, 0.0, 0.0]]))) is None
