"""Rows: matrices and dicts as the core reads them; must not know models."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from surelearn import _check, _core

__all__ = [
    "checked_matrix", "crossed", "dense_row", "in_order", "non_zeros", "rows_of", "rows_of_dict",
    "sparse_row",
]  # fmt: skip


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


def checked_matrix(name: str, value: Any) -> csr_array:
    """Checked rows of finite numbers as CSR, of float32 or float64; errors call them `name`."""
    is_array = issparse(value) or isinstance(value, np.ndarray)
    kept = is_array and value.dtype.kind in "biuf"
    rows = value if kept else _check.numbers(name, value)
    if len(rows.shape) != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {rows.shape}.")
    matrix = csr_array(rows)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    _check.sound_rows(rows_of(matrix).fault, name)
    return matrix


def in_order(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself if it is in C order and aligned, otherwise a copy that is."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])


def crossed(
    left: csr_array,
    right: csr_array,
    pairs: tuple[NDArray[Any], NDArray[Any]],
    n_features: int,
    *,
    hashed: bool,
) -> csr_array:
    """The products of all features of two rows, for each pair of a row of `left` and of `right`.

    Parameters
    ----------
    left, right : csr_array of float32 or float64
    pairs : two ndarrays of int of shape (n_pairs,)
        The rows of `left` and of `right`.
    n_features : int
        The product of the two numbers of features, or any number if `hashed`.
    hashed : bool
        Whether products are hashed, and summed where they meet.

    Returns
    -------
    csr_array of float32 of shape (n_pairs, n_features)

    Examples
    --------
    >>> x, z = csr_array([[2.0, 1.0]]), csr_array([[0.0, 3.0]])
    >>> crossed(x, z, ([0], [0]), 4, hashed=False).toarray()
    array([[0., 6., 0., 3.]], dtype=float32)
    """
    of_left, of_right = (np.asarray(rows, np.int64) for rows in pairs)
    starts, features, values = _core.cross_rows(
        rows_of(left), rows_of(right), of_left, of_right, n_features, hashed
    )
    return csr_array((values, features, starts), shape=(len(of_left), n_features))


def rows_of_dict(x: Mapping[int, float], n_features: int) -> _core.Rows:
    """One row from ``{feature: value}``; raises TypeError or OverflowError for other types."""
    return _core.Rows.from_dict(x if type(x) is dict else dict(x), n_features)


def sparse_row(x: Any) -> Any:
    """One row as a CSR matrix."""
    if x.format == "csr" and x.ndim == 2:
        return x
    return (x if x.ndim == 2 else x.reshape(1, -1)).tocsr()


def dense_row(x: Any) -> NDArray[Any]:
    """One row as a table."""
    row = np.ascontiguousarray(x)
    return row[np.newaxis] if np.ndim(x) == 1 else row


def non_zeros(row: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The non-zero features, ascending, and values of a checked row, as the core sees them."""
    if isinstance(row, Mapping):
        features = np.array([operator.index(feature) for feature in row], dtype=np.int64)
        values = np.array([float(value) for value in row.values()])
    elif issparse(row):
        matrix = sparse_row(row)
        features, values = (part[: matrix.indptr[1]] for part in (matrix.indices, matrix.data))
    else:
        values = dense_row(row)[0]
        features = np.arange(len(values))
    storage = values.dtype if values.dtype.char in "fd" else np.float64
    # As the core does: sum duplicates in double, and round the sum to the type of the input.
    distinct, group = np.unique(features, return_inverse=True)
    summed = np.bincount(group, values.astype(np.float64)).astype(storage)
    return distinct[summed != 0].astype(np.int64), summed[summed != 0].astype(np.float64)
