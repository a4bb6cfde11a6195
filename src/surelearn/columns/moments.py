"""Numbers in units of their own deviation, until models do so themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surelearn.columns.parts import Arrays

#: Mean, and what is divided by, of each column of numbers.
Moments = tuple[NDArray[np.float64], NDArray[np.float64]]


def moments_of(arrays: Arrays, n_numbers: int) -> Moments:
    """The moments of the first columns, over the rows that have them."""
    _, features, values = arrays
    own = features < n_numbers
    j, x = features[own], values[own].astype(np.float64)
    n = np.maximum(1, np.bincount(j, minlength=n_numbers))
    mean = np.bincount(j, x, n_numbers) / n
    square = np.bincount(j, (x - mean[j]) ** 2, n_numbers) / n
    return mean, np.sqrt(np.where(square > 0, square, 1.0) * max(1, n_numbers))


def standardise(arrays: Arrays, moments: Moments) -> None:
    """Replace the values of the first columns."""
    _, features, values = arrays
    mean, scale = moments
    own = features < len(mean)
    j = features[own]
    scaled = (values[own] - mean[j]) / scale[j]
    values[own] = np.where(scaled == 0, np.finfo(np.float32).tiny, scaled)
