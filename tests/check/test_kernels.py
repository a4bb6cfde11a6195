"""Wordings of refused kernels, budgets and sizes."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import _check


def test_a_budget_is_at_least_two_or_none():
    assert _check.budget(None) is None
    assert _check.budget(2) == 2
    with pytest.raises(ValueError, match="budget must be at least 2, got 1"):
        _check.budget(1)
    with pytest.raises(TypeError, match=r"budget must be a whole number, got 2\.5"):
        _check.budget(2.5)


def test_covariances_that_do_not_fit_say_how_large_they_are():
    _check.support_memory([1000], 8_000_000, more=8_000_000, limit=10**9)
    with pytest.raises(MemoryError, match=r"up to 50,000 points in each of 10 problems.*200.0 GB"):
        _check.support_memory([50_000] * 10, 200 * 10**9, more=10**6, limit=10**9)
    with pytest.raises(
        MemoryError, match=r"GB available\), got up to 500,000 points, which need 2"
    ):
        _check.support_memory([500_000], 2 * 10**12, more=2 * 10**12, limit=None)


def test_an_empty_sample_is_a_kernel():
    _check.positive_kernel("k", np.zeros((0, 0)))


def test_rounding_does_not_make_a_kernel_negative():
    rows = np.random.default_rng(0).normal(size=(60, 2)) * 1e6
    _check.positive_kernel("k", rows @ rows.T)


def test_widths_of_a_precomputed_matrix():
    _check.gram_width(5, 5)
    _check.gram_width(6, 5)
    with pytest.raises(ValueError, match="X must have 5 columns for kernel='precomputed'"):
        _check.gram_width(7, 5)


def test_rows_cannot_be_added_to_a_precomputed_matrix():
    _check.not_precomputed("rbf")
    with pytest.raises(ValueError, match="Pass all rows to fit"):
        _check.not_precomputed("precomputed")
