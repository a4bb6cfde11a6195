"""Means and variances of weights as users see them: per unit of the columns as they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.weights import Weights

Array = NDArray[np.float64]


def means_of(weights: Weights) -> NDArray[Any]:
    """Means of weights per unit of their columns, the intercept last: that of a row of centres."""
    means = weights.means
    return means if weights.units is None else means * _factors(weights)


def variances_of(weights: Weights) -> NDArray[Any]:
    """Their variances or covariances per unit of their columns."""
    variances = weights.variances
    if weights.units is None:
        return variances
    factors = _factors(weights)
    if weights.layout.covariance != "full":
        return variances * factors**2
    each = np.tile(factors, weights.n_columns)
    covariances: Array = variances * np.outer(each, each)  # symmetric to the bit
    return covariances


def _factors(weights: Weights) -> Array:
    assert weights.units is not None
    return weights.units.per_unit(np.arange(weights.layout.n_rows))


def means_as_given(weights: Weights) -> NDArray[Any]:
    """The same, read-only, with the intercept of a row of zeros."""
    means = means_of(weights)
    if weights.units is not None and weights.layout.intercept:
        means[:, -1] -= means[:, : len(weights.units.centre)] @ weights.units.centre
    means.flags.writeable = False
    return means


def last_column(table: NDArray[Any], n_features: int) -> NDArray[Any]:
    """The intercepts; zeros without intercept."""
    if table.shape[1] > n_features:
        return table[:, n_features]
    return np.zeros(table.shape[0], dtype=table.dtype)
