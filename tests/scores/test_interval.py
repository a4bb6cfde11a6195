"""The interval of a share, against scipy's and by how often it covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from surelearn.evaluation import share_interval


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.01, 0.999))
def test_it_is_that_of_the_binomial_test(n, share, level):
    count = round(share * n)
    expected = binomtest(count, n).proportion_ci(level, method="exact")
    found = share_interval(count, n, level)
    np.testing.assert_allclose(found, (expected.low, expected.high), rtol=1e-9, atol=1e-12)
    assert 0.0 <= found[0] <= count / n <= found[1] <= 1.0


@pytest.mark.parametrize("n", [1, 5, 60])
def test_it_covers_at_least_as_often_as_it_says(n):
    intervals = np.array([share_interval(count, n) for count in range(n + 1)])
    for p in np.linspace(0.0, 1.0, 201):
        covered = (intervals[:, 0] <= p) & (p <= intervals[:, 1])
        assert binom.pmf(np.flatnonzero(covered), n, p).sum() >= 0.95 - 1e-12


def test_nothing_is_sure_after_few_trials():
    assert share_interval(60, 60) == (pytest.approx(0.025 ** (1 / 60)), 1.0)
    assert share_interval(0, 60) == (0.0, pytest.approx(1 - 0.025 ** (1 / 60)))


def test_counts_that_cannot_be():
    with pytest.raises(ValueError, match=r"count must be .*got 4"):
        share_interval(4, 3)
    with pytest.raises(ValueError, match=r"n must be .*got 0"):
        share_interval(0, 0)
    with pytest.raises(TypeError, match="count must be"):
        share_interval(0.5, 1)
    with pytest.raises(ValueError, match=r"level must be .*got 1\.5"):
        share_interval(1, 2, 1.5)
