"""Room 1, rows: matrices and dicts as the core reads them; must not know models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _core

__all__ = ["in_order", "rows_of", "rows_of_dict"]


def rows_of(X: Any) -> _core.Rows:
    """Rows of a CSR matrix or a 2-D array of float32 or float64.

    Arrays in C order and aligned, as nearly all are, are read without a copy.
    """
    if isinstance(X, np.ndarray):
        return _core.Rows.dense(in_order(X))
    start, indices = X.indptr, X.indices
    if start.dtype != indices.dtype or indices.dtype.kind != "i" or indices.itemsize < 4:
        start, indices = start.astype(np.int64), indices.astype(np.int64)
    return _core.Rows.csr(in_order(start), in_order(indices), in_order(X.data), X.shape[1])


def in_order(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself if it is in C order and aligned, otherwise a copy that is."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])


def rows_of_dict(x: Mapping[int, float], n_features: int) -> _core.Rows:
    """One row from ``{feature: value}``; raises TypeError or OverflowError for other types."""
    return _core.Rows.from_dict(x if type(x) is dict else dict(x), n_features)
