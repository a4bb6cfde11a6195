"""Shares and the order of weights on plain arrays, a full covariance among them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import strategies
from surelearn.learners.explain import contributions


def block(n, seed=0):
    """A covariance that is not diagonal."""
    factor = np.random.default_rng(seed).normal(size=(n, n))
    return factor @ factor.T + 0.1 * np.eye(n)


@given(
    columns=st.integers(1, 3),
    x=strategies.rows(5),
    seed=st.integers(0, 99),
    top=st.none() | st.integers(1, 8),
)
def test_shares_of_a_full_covariance(columns, x, seed, top):
    means = np.random.default_rng(seed).normal(size=(columns, 5))
    sigma = block(5 * columns, seed)
    features = np.flatnonzero(x)
    parts = contributions.heaviest(contributions.shares(means, sigma, features, x[features]), top)
    for k in range(columns):
        own = sigma[5 * k : 5 * k + 5, 5 * k : 5 * k + 5]
        at = parts.weights.column == k
        size = np.abs(x * (own @ x)).sum()
        assert abs(parts.variance[at].sum() - x @ own @ x) <= 1e-12 * size
        assert parts.margin[at].sum() == pytest.approx(means[k] @ x, rel=1e-12, abs=1e-12)


def test_each_share_of_a_full_covariance():
    """x_j (Sigma_zz x)_j; here one of them is negative."""
    sigma = np.zeros((4, 4))
    sigma[:2, :2] = [[4.0, -3.0], [-3.0, 4.0]]
    sigma[2:, 2:] = [[1.0, 0.5], [0.5, 2.0]]
    sigma[:2, 2:] = sigma[2:, :2] = 100.0  # another class's block says nothing of this one
    means = np.array([[1.0, 2.0], [3.0, 4.0]])
    parts = contributions.shares(means, sigma, np.array([0, 1]), np.array([1.0, 2.0]))
    assert_array_equal(parts.variance, [4 - 6, 2 * (-3 + 8), 1 + 1, 2 * (0.5 + 4)])
    assert_array_equal(parts.margin, [1, 4, 3, 8])
    assert_array_equal(parts.weights.variance, [4, 4, 1, 2])


def test_full_equals_diagonal_where_it_is_diagonal():
    rng = np.random.default_rng(3)
    means, variances = rng.normal(size=(3, 7)), rng.random((3, 7)) + 0.1
    full = np.diag(variances.ravel())
    for got, want in zip(
        contributions.surest(means, full), contributions.surest(means, variances), strict=True
    ):
        assert_array_equal(got, want)
    features, values = np.array([0, 2, 6]), np.array([1.5, -2.0, 1.0])
    got = contributions.shares(means, full, features, values)
    want = contributions.shares(means, variances, features, values)
    assert_allclose(got.variance, want.variance, rtol=1e-15)
    assert_array_equal(got.margin, want.margin)


@given(
    means=st.lists(st.integers(-3, 3), min_size=12, max_size=12),
    columns=st.sampled_from([1, 2, 3]),
    top=st.none() | st.integers(1, 13),
)
def test_surest_agrees_with_a_plain_sort(means, columns, top):
    """Few different numbers, so that there are many ties."""
    means = np.array(means, np.float32).reshape(columns, -1)
    variances = np.array([0.25, 1.0, 4.0] * 4, np.float32).reshape(columns, -1)
    cells = [(k, j) for j in range(means.shape[1]) for k in range(columns)]
    want = sorted(cells, key=lambda at: -abs(means[at]) / variances[at] ** 0.5)[:top]
    got = contributions.surest(means, variances, top)
    assert list(zip(got.column.tolist(), got.feature.tolist(), strict=True)) == want
    assert_array_equal(got.mean, [means[at] for at in want])
    assert_array_equal(got.variance, [variances[at] for at in want])
    one = contributions.largest(means[:1], variances[:1], top)
    assert_array_equal(one.feature, np.argsort(-means[0], kind="stable")[:top])
    assert_array_equal(one.variance, variances[0, one.feature])
