"""Candidates for rankers: which labels an example may have, and features of both together.

>>> from scipy.sparse import csr_array
>>> from surelearn.candidates import by_shared_features, cross
>>> X = csr_array([[1.0, 0.0, 2.0]])  # the words of one text
>>> Z = csr_array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]])  # of three labels
>>> candidates = by_shared_features(X, Z)
>>> candidates
[array([0, 2])]
>>> cross(X, Z, candidates, n_features=64).shape
(2, 64)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.rows import checked_matrix, crossed

__all__ = ["by_shared_features", "cross", "match"]

#: Scores of pairs of an example and a label that are held at a time.
_BLOCK = 1 << 24

#: Candidates whose features are multiplied at a time.
_ROWS = 1 << 16


def cross(X: Any, Z: Any, candidates: Any, *, n_features: int | None = 2**20) -> Any:
    r"""The features of each example crossed with those of each of its candidates.

    .. math:: \Psi(x, z)_{ij} = x_i z_j

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_x)
        Features of the examples.
    Z : array or sparse matrix of shape (n_labels, n_z)
        Features of the labels, such as the words of their names. The identity matrix gives
        each label separate weights, as a classifier has them.
    candidates : list of arrays of int
        For each example, the rows of Z that are its candidates. An example without any is an empty
        group.
    n_features : int or None, default 2**20
        Number of hashed features. None: no hashing; the product of feature i and feature j is
        feature ``i * n_z + j``.

    Returns
    -------
    csr_array of float32 of shape (n_candidates, n_features)
        The rows of all candidates, for `SureRanker` with ``group=[len(c) for c in candidates]``.

    Examples
    --------
    >>> cross([[2.0, 1.0]], [[0.0, 1.0], [3.0, 0.0]], [[1, 0]], n_features=None).toarray()
    array([[6., 0., 3., 0.],
           [0., 2., 0., 1.]], dtype=float32)
    """
    left, right = checked_matrix("X", X), checked_matrix("Z", Z)
    pairs = _pairs(candidates, left, right)
    product, most = left.shape[1] * right.shape[1], 2**31 - 1
    if n_features is not None:
        width = _check.count("n_features", n_features, most=most)
        return crossed(left, right, pairs, width, hashed=True)
    if product > most:
        raise ValueError(
            f"n_features must be a number to hash {product:,} products of features, got None. "
            "Without hashing there may be 2**31 - 1."
        )
    return crossed(left, right, pairs, product, hashed=False)


def match(X: Any, Z: Any, candidates: Any) -> Any:
    r"""The features that each example shares with each of its candidates.

    .. math:: \Psi(x, z)_j = x_j z_j

    It has one weight for each feature, however many labels there are, so that a label needs no
    example to be learnt: the ranker learns which shared words tell most.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    Z : array or sparse matrix of shape (n_labels, n_features)
        Both with the same features.
    candidates : list of arrays of int
        As in `cross`.

    Returns
    -------
    csr_array of float32 of shape (n_candidates, n_features)

    Examples
    --------
    >>> match([[2.0, 1.0]], [[0.0, 1.0], [3.0, 0.0]], [[1, 0]]).toarray()
    array([[6., 0.],
           [0., 1.]], dtype=float32)
    """
    left, right = checked_matrix("X", X), checked_matrix("Z", Z)
    _check.n_features(right.shape[1], left.shape[1], "X", like="Z")
    of_left, of_right = _pairs(candidates, left, right)
    parts = [
        left[of_left[at : at + _ROWS]].multiply(right[of_right[at : at + _ROWS]])
        for at in range(0, max(1, len(of_left)), _ROWS)
    ]
    return sparse.csr_array(sparse.vstack(parts), dtype=np.float32)


def by_shared_features(X: Any, Z: Any, *, most: int = 50) -> list[NDArray[np.int64]]:
    r"""The labels that share features with each example, such as words: a first stage.

    .. math:: s(x, z) = \sum_j |x_j z_j| \log \frac{n}{n_j}

    with :math:`n_j` of the n labels having feature j: a rare one tells more.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    Z : array or sparse matrix of shape (n_labels, n_features)
        Both with the same features.
    most : int, default 50
        Most candidates of an example: those of the largest s.

    Returns
    -------
    list of ndarray of int
        For each example rows of Z, ascending; none where it shares no feature with any.

    Examples
    --------
    >>> by_shared_features([[1.0, 1.0, 0.0]], [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    [array([0, 2])]
    """
    left, right = abs(checked_matrix("X", X)), abs(checked_matrix("Z", Z))
    _check.n_features(right.shape[1], left.shape[1], "X", like="Z")
    most = _check.count("most", most)
    df = np.bincount(right.indices, minlength=right.shape[1])
    weight = np.log(max(1, right.shape[0]) / np.maximum(df, 1)) + 1e-9  # found by all labels: last
    labels = (right @ sparse.diags_array(weight)).T.tocsr()
    step = max(1, _BLOCK // max(1, right.shape[0]))
    found: list[NDArray[np.int64]] = []
    for at in range(0, left.shape[0], step):
        scores = sparse.csr_array(left[at : at + step] @ labels)
        bounds = scores.indptr
        for begin, end in pairwise(bounds):
            found.append(_best(scores.indices[begin:end], scores.data[begin:end], most))
    return found


def _best(labels: NDArray[Any], scores: NDArray[Any], most: int) -> NDArray[np.int64]:
    """The labels of the largest scores, ascending; ties go to the first labels."""
    some = scores > 0
    labels, scores = labels[some], scores[some]
    if len(labels) > most:
        least = np.partition(scores, -most)[-most]
        above, equal = labels[scores > least], np.sort(labels[scores == least])
        labels = np.concatenate([above, equal[: most - len(above)]])
    return np.sort(labels).astype(np.int64)


def _pairs(candidates: Any, X: Any, Z: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of X and of Z that each candidate is made of."""
    n_rows, n_labels = X.shape[0], Z.shape[0]
    _check.listed("candidates", candidates, "lists of row numbers of Z")
    given = list(candidates)
    if len(given) != n_rows:
        raise ValueError(
            f"candidates must have one list for each of {n_rows} rows of X, got {len(given)}."
        )
    lists = [_labels(own, i, n_labels) for i, own in enumerate(given)]
    of_left = np.repeat(np.arange(len(lists)), [len(own) for own in lists])
    return of_left, np.concatenate(lists) if lists else np.zeros(0, np.int64)


def _labels(value: Any, row: int, n_labels: int) -> NDArray[np.int64]:
    """The checked label numbers of one row."""
    found = np.asarray(value)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(
            f"candidates must be lists of row numbers of Z, got {value!r} for row {row}."
        )
    bad = found[(found < 0) | (found >= n_labels)]
    if len(bad):
        raise ValueError(
            f"candidates must be at least 0 and below {n_labels}, the rows of Z, got {bad[0]} for "
            f"row {row}."
        )
    return found.astype(np.int64)
