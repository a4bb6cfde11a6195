"""Sums and inverses of the core: the same in any order and grouping, and right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import merge as reference
from surelearn import _core


def test_the_core_refuses_sums_that_do_not_fit():
    digits, tops = _core.cut(np.ones(4), 2)
    flat = digits.ravel()
    with pytest.raises(ValueError, match="two or three digits"):
        _core.cut(np.ones(4), 4)
    with pytest.raises(ValueError, match="sums do not fit"):
        _core.add_sums(flat, tops, np.arange(3), flat, tops, 1)
    with pytest.raises(IndexError, match="place out of range"):
        _core.add_sums(flat, tops, np.array([0, 4]), flat[:4], tops[:2], 1)
    with pytest.raises(ValueError, match="digits do not fit"):
        _core.sum_values(flat[:-1], tops)
    with pytest.raises(ValueError, match="a square expected"):
        _core.inverse(np.ones((2, 3)))


@given(st.integers(1, 6), st.integers(0, 1000))
def test_inverses_are_right_and_symmetric(n, seed):
    half = np.random.default_rng(seed).normal(size=(n, n))
    matrix = half @ half.T + 0.1 * np.eye(n)
    matrix = (matrix + matrix.T) / 2
    found = _core.inverse(matrix)
    expected = np.array(reference.inverse(reference.exact(matrix.tolist())), float)
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    x = np.arange(n, dtype=float)
    np.testing.assert_allclose(_core.applied(matrix, x), matrix @ x, atol=1e-12)
    assert _core.inverse(-matrix) is None
