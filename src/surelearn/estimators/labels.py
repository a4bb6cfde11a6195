"""Checks of the labels that users pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from surelearn import _check


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """The labels as a one-dimensional array; all must have one type, and none may be missing."""
    if name != "y" and np.ndim(y) != 1:
        raise ValueError(f"{name} must be a list of labels, got {y!r}.")
    array = np.asarray(column_or_1d(y, warn=True))
    if isinstance(y, np.ndarray):
        return _check.labels(array, name)
    if array.dtype.kind == "U":
        # NumPy silently turns a mixture such as [1, "a"] into strings: check the originals.
        _check.labels(np.asarray(y, dtype=object).ravel(), name)
    elif array.dtype.kind == "f" and (np.abs(array) >= 2.0**63).any():
        # NumPy also turns integers such as [1, 2**63] into floats, which lose digits.
        array = np.asarray(y, dtype=object).ravel()
    return _check.labels(array, name)
