"""Labels as users hand them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from surelearn import _check


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Labels of one kind, none missing, as a one-dimensional array."""
    if name != "y" and np.ndim(y) != 1:
        raise ValueError(f"{name} must be a list of labels, got {y!r}.")
    array = np.asarray(column_or_1d(y, warn=True))
    if isinstance(y, np.ndarray):
        return _check.labels(array, name)
    if array.dtype.kind == "U":
        # numpy has turned a mixture such as [1, "a"] into texts without a word.
        _check.labels(np.asarray(y, dtype=object).ravel(), name)
    elif array.dtype.kind == "f" and (np.abs(array) >= 2.0**63).any():
        # And whole numbers such as [1, 2**63] into doubles.
        array = np.asarray(y, dtype=object).ravel()
    return _check.labels(array, name)
