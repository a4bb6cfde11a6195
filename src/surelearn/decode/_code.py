"""Codes: which classes are positive, negative or left out in a problem; must not know margins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check

__all__ = ["LABELS", "Code", "all_pairs", "minimal_bits", "one_vs_rest"]

Matrix = NDArray[np.int8]

#: In place of a reduction: a row has any number of labels, each of which is a problem of its own.
LABELS = "labels"


@dataclass(frozen=True, eq=False, repr=False)
class Code:
    r"""A reduction of K classes to B problems of two classes.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_problems)
        +1 if rows of this class are positive in this problem, -1 if they are negative, 0 if the
        problem never sees them. Every column needs both signs. Every two classes need a column in
        which they have opposite signs. No column may repeat another one or its complement. Rows may
        be complements of each other.
    kind : {"custom", "ecoc", "ovo", "ovr"}, default "custom"
        How the matrix was made. "ovo" and "ovr" are reserved for the matrices of `all_pairs` and
        `one_vs_rest`.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_problems), int8
        Read-only.
    n_classes, n_problems : int
    dmin : int or float
        Smallest distance between two rows,

        .. math:: \Delta(k, l) = \sum_b \frac{1 - c_{kb} c_{lb}}2,

        the number of problems in which they differ; a problem that leaves a class out counts a
        half. An integer for codes without zeros.
    errors_corrected : int
        How many problems may be wrong on any row without changing the label of `hamming`. Without
        zeros it is :math:`\lfloor (d_{min} - 1) / 2 \rfloor`. With zeros it is smaller, because a
        problem that leaves a class out may answer anything on its rows. All pairs correct none.

    References
    ----------
    Allwein, Schapire & Singer 2000, Reducing Multiclass to Binary. Their distance between rows
    bounds the training error; with zeros it is not the number of wrong answers.

    Examples
    --------
    >>> Code([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    Code(kind='custom', n_classes=3, n_problems=3, dmin=2.0)
    """

    matrix: Matrix
    kind: str = "custom"

    def __post_init__(self) -> None:
        make = {"ovr": _rest_matrix, "ovo": _pairs_matrix}.get(str(self.kind))
        matrix = None if make is None else _if_made_by(make, self.matrix)
        if matrix is None:
            matrix = coding_matrix(self.matrix)
            kind(self.kind, make is None)
        object.__setattr__(self, "matrix", matrix)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.matrix.shape[0])

    @property
    def n_problems(self) -> int:
        """Number of problems of two classes."""
        return int(self.matrix.shape[1])

    @cached_property
    def dmin(self) -> float:
        """Smallest distance between two rows."""
        products = self.matrix.astype(np.float32) @ self.matrix.T.astype(np.float32)
        np.fill_diagonal(products, -np.inf)
        least = (self.n_problems - float(products.max())) / 2
        return least if (self.matrix == 0).any() else int(least)

    @cached_property
    def errors_corrected(self) -> int:
        """How many problems may be wrong on any row without changing its label."""
        # A class loses half a point at each of its zeros, and in the worst case its rival agrees
        # with the answer there. Its lead is then the number of opposite signs, corrected by the
        # difference in zeros, and each wrong answer costs two points.
        entries = (self.matrix != 0).sum(axis=1)
        lead = opposite_signs(self.matrix) + (entries[:, None] - entries) / 2
        np.fill_diagonal(lead, np.inf)
        return max(0, math.ceil(float(lead.min()) / 2) - 1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Code):
            return NotImplemented
        return self.kind == other.kind and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.kind, self.matrix.shape, self.matrix.tobytes()))

    def __repr__(self) -> str:
        size = f"n_classes={self.n_classes}, n_problems={self.n_problems}"
        return f"Code(kind={self.kind!r}, {size}, dmin={self.dmin})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies go through the constructor: a plain copy of the array would be writable."""
        return Code, (self.matrix, self.kind)


def _if_made_by(make: Callable[[int], Matrix], given: object) -> Matrix | None:
    """The matrix of `make` for this number of classes, if `given` equals it.

    Such a matrix needs no checks, which are slow for many classes.
    """
    table = np.asarray(given)
    matrix = make(len(table)) if table.ndim == 2 and len(table) >= 2 else None
    if matrix is None or not np.array_equal(matrix, table):
        return None
    matrix.setflags(write=False)
    return matrix


def one_vs_rest(n_classes: int) -> Code:
    """One problem for each class: its rows are positive, all others negative.

    Parameters
    ----------
    n_classes : int >= 2
        Two classes make one problem, positive for the second class.

    Returns
    -------
    code : Code

    Examples
    --------
    >>> one_vs_rest(3).matrix
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    return Code(_rest_matrix(_check.count("n_classes", n_classes, least=2)), kind="ovr")


def _rest_matrix(n_classes: int) -> Matrix:
    matrix = 2 * np.eye(n_classes, dtype=np.int8) - np.int8(1)
    return matrix if n_classes > 2 else matrix[:, 1:]


def all_pairs(n_classes: int) -> Code:
    """One problem for every two classes i < j: i is positive, j negative, the others left out.

    Parameters
    ----------
    n_classes : int >= 2

    Returns
    -------
    code : Code
        Its problems are in the order (0, 1), (0, 2), ..., (1, 2), ...

    Examples
    --------
    >>> all_pairs(3).matrix
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    return Code(_pairs_matrix(_check.count("n_classes", n_classes, least=2)), kind="ovo")


def _pairs_matrix(n_classes: int) -> Matrix:
    i, j = np.triu_indices(n_classes, 1)
    matrix = np.zeros((n_classes, len(i)), np.int8)
    matrix[i, np.arange(len(i))] = 1
    matrix[j, np.arange(len(j))] = -1
    return matrix


def minimal_bits(n_classes: int) -> Code:
    r"""The bits of the class number: the fewest problems possible, :math:`\lceil \log_2 K \rceil`.

    Some pairs of classes differ in one problem only, so a single wrong answer gives a wrong label.
    This code is a baseline for comparisons.

    Parameters
    ----------
    n_classes : int >= 2
        How hard the problems are depends on the arbitrary numbering of the classes.

    Returns
    -------
    code : Code

    Examples
    --------
    >>> minimal_bits(3)
    Code(kind='custom', n_classes=3, n_problems=2, dmin=1)
    """
    return Code(bits_matrix(_check.count("n_classes", n_classes, least=2)))


def bits_matrix(n_classes: int) -> Matrix:
    places = np.arange((n_classes - 1).bit_length())[::-1]
    bits = np.arange(n_classes)[:, None] >> places & 1
    return (2 * bits - 1).astype(np.int8)


def columns_of(how: object, places: list[int], n_before: int) -> list[int]:
    """The old index of each column after the classes have changed; -1 for a new column.

    Parameters
    ----------
    how : {"joint", "ovr", "ovo", "labels"}
        ``"ovo"`` has a column for every two classes, the others have one for each.
    places : list of int
        The old index of each class, in order; -1 for a new class.
    n_before : int
        The old number of classes.

    Examples
    --------
    >>> columns_of("ovr", [0, -1, 1], 2)  # a class has come between two
    [0, -1, 1]
    >>> columns_of("ovo", [0, -1, 1], 2)  # the problem of the first and the last is known
    [-1, 0, -1]
    """
    if how != "ovo":
        return places
    # Pair (i, j) comes after the pairs of classes 0 .. i - 1: their number is an arithmetic sum.
    return [
        -1 if -1 in (i, j) else i * (2 * n_before - i - 1) // 2 + j - i - 1
        for k, i in enumerate(places)
        for j in places[k + 1 :]
    ]


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
