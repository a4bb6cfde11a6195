"""Checks of a coding matrix; must not know margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check


def coding_matrix(value: object) -> NDArray[np.int8]:
    """A read-only copy of `value`; raises if it is no coding matrix."""
    matrix = _entries(_table(value))
    _both_signs(matrix)
    _classes_apart(matrix)
    _problems_differ(matrix)
    matrix.setflags(write=False)
    return matrix


def _table(value: object) -> NDArray[Any]:
    try:
        table = np.asarray(value)
    except ValueError:  # rows of different lengths
        table = np.asarray(None)
    if table.dtype.kind not in "biuf":
        raise TypeError(f"coding matrix must hold -1, 0 and +1, got {value!r}.")
    if table.ndim != 2:
        raise ValueError(
            "coding matrix must have two dimensions, a row for each class and a column for each "
            f"problem, got shape {table.shape}."
        )
    if table.shape[0] < 2 or table.shape[1] < 1:
        raise ValueError(
            f"coding matrix must have at least two rows and one column, got shape {table.shape}."
        )
    return table


def _entries(table: NDArray[Any]) -> NDArray[np.int8]:
    strange = np.argwhere(~np.isin(table, (-1, 0, 1)))
    if len(strange):
        k, b = strange[0]
        raise ValueError(
            f"coding matrix must hold -1, 0 and +1, got {table[k, b]} in row {k}, column {b}."
        )
    return table.astype(np.int8)


def _both_signs(matrix: NDArray[np.int8]) -> None:
    for sign in (1, -1):
        lacking = np.flatnonzero(~(matrix == sign).any(axis=0))
        if len(lacking):
            hint = "" if matrix.min() else " Write -1 for the negative side: 0 leaves a class out."
            raise ValueError(
                f"coding matrix must have a +1 and a -1 in every column, got no {sign:+d} in "
                f"column {lacking[0]}.{hint}"
            )


def _classes_apart(matrix: NDArray[np.int8]) -> None:
    """Refuse two classes that no problem separates; complementary rows are fine."""
    same = np.argwhere(opposite_signs(matrix) == 0)
    same = same[same[:, 0] < same[:, 1]]
    if len(same):
        k, l = same[0]
        equal = (matrix[k] == matrix[l]).all()
        found = "equal rows" if equal else "no column with opposite signs in rows"
        raise ValueError(f"coding matrix must separate every two classes, got {found} {k} and {l}.")


def _problems_differ(matrix: NDArray[np.int8]) -> None:
    """Refuse equal or complementary columns: they are the same problem, learnt twice."""
    every = np.arange(matrix.shape[1])
    # With its first nonzero entry positive, a column equals its complement.
    turned = matrix * matrix[(matrix != 0).argmax(axis=0), every]
    _, first, place = np.unique(turned, axis=1, return_index=True, return_inverse=True)
    before = first[place.reshape(-1)]
    again = np.flatnonzero(before != every)
    if len(again):
        a, b = before[again[0]], again[0]
        found = "equal" if (matrix[:, a] == matrix[:, b]).all() else "complementary"
        raise ValueError(
            f"coding matrix must have another problem in every column, got {found} columns "
            f"{a} and {b}."
        )


def opposite_signs(matrix: NDArray[np.int8]) -> NDArray[np.float64]:
    """For every two classes, in how many problems one is positive and the other negative."""
    # Small whole numbers are exact in single precision, and its products are fast.
    one = (matrix > 0).astype(np.float32) @ (matrix < 0).astype(np.float32).T
    return (one + one.T).astype(np.float64)


def kind(value: object, fits: bool) -> None:
    """Check the name of a code; `fits` says whether the matrix is the one of that name."""
    _check.choice("kind", value, ("ovr", "ovo", "ecoc", "custom"))
    if not fits:
        raise ValueError(f"kind must be that of the coding matrix, got {value!r} for another.")
