"""Settings of models, and what models must share to be merged."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import _check


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype(np.float32)])
def test_numbers_are_stored_in_one_of_two_types(dtype):
    assert _check.storage(dtype) == np.float32
    for wrong in ("float16", np.int64, None, 32):
        with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got"):
            _check.storage(wrong)


def test_a_prior_fits_in_its_type():
    assert _check.prior(1e-300, np.dtype(np.float64)) == 1e-300
    with pytest.raises(ValueError, match=r"must be within 1\.18e-38 and 3\.4e\+38 for"):
        _check.prior(1e-300, np.dtype(np.float32))


@pytest.mark.parametrize(
    ("cost", "error", "message"),
    [
        ([[0, 1]], ValueError, r"cost must be a square matrix, got shape \(1, 2\)"),
        ([[0, -1], [1, 0]], ValueError, r"cost must hold numbers in \[0, 1e6\]"),
        ([[0, 1], [1, 2]], ValueError, r"cost must be 0 where .* right, got \[0.0, 2.0\]"),
        ("x", TypeError, "cost must be a square matrix of numbers, got 'x'"),
    ],
)
def test_what_is_no_matrix_of_costs(cost, error, message):
    with pytest.raises(error, match=message):
        _check.cost(cost)


def test_settings_of_a_fitted_model_stay():
    _check.same("passes", 2, 2)
    with pytest.raises(ValueError, match=r"passes must stay 2 in a fitted model, got 3\. Call"):
        _check.same("passes", 2, 3)
