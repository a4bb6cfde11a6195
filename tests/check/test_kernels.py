"""Wordings of refused kernels, budgets and sizes."""

from __future__ import annotations

import pytest

from surelearn import _check


def test_a_budget_is_at_least_two_or_none():
    assert _check.budget(None) is None
    assert _check.budget(2) == 2
    with pytest.raises(ValueError, match="budget must be at least 2, got 1"):
        _check.budget(1)
    with pytest.raises(TypeError, match=r"budget must be a whole number, got 2\.5"):
        _check.budget(2.5)


def test_widths_of_a_precomputed_matrix():
    _check.gram_width(5, 5)
    _check.gram_width(6, 5)
    with pytest.raises(ValueError, match="X must have 5 columns for kernel='precomputed'"):
        _check.gram_width(7, 5)


def test_rows_cannot_be_added_to_a_precomputed_matrix():
    _check.not_precomputed("rbf")
    with pytest.raises(ValueError, match="Pass all rows to fit"):
        _check.not_precomputed("precomputed")
