"""Checks of the labels that users pass: one for each row, or any number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.learners.checks import one_dimensional
from surelearn.read import Labels


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """The labels as a one-dimensional array; all must have one type, and none may be missing."""
    if name != "y" and np.ndim(y) != 1:
        raise ValueError(f"{name} must be a list of labels, got {y!r}.")
    one_label_each(y, name)
    return _checked(y, name)


def _checked(y: Any, name: str = "y") -> NDArray[Any]:
    array = one_dimensional(y)
    if isinstance(y, np.ndarray):
        return _check.labels(array, name)
    if array.dtype.kind == "U":
        # NumPy silently turns a mixture such as [1, "a"] into strings: check the originals.
        _check.labels(np.asarray(y, dtype=object).ravel(), name)
    elif array.dtype.kind == "f" and (np.abs(array) >= 2.0**63).any():
        # NumPy also turns integers such as [1, 2**63] into floats, which lose digits.
        array = np.asarray(y, dtype=object).ravel()
    return _check.labels(array, name)


def one_label_each(y: Any, name: str = "y") -> None:
    """Refuse rows of many labels."""
    if has_label_sets(y):
        raise ValueError(
            f"{name} must have one label for each row here, got rows of many labels. Use "
            "SureClassifier or SureTextClassifier, which learn them in fit, partial_fit and "
            "fit_stream, or wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
        )


def has_label_sets(y: Any) -> bool:
    """Whether rows have many labels; lists of one label each may be a column of labels."""
    return has_many(y) and not _is_column(y)


def has_many(y: Any) -> bool:
    """Whether rows have any number of labels: a matrix of two columns at least, or lists."""
    if isinstance(y, Labels):
        return y.is_many
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        return sparse.issparse(y) or (len(shape) == 2 and shape[1] > 1)
    first = next(iter(y), None) if hasattr(y, "__len__") else None
    return _is_collection(first)


def _is_collection(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
        return False
    return getattr(value, "shape", (1,)) != ()  # arrays without an axis have no length


def _is_column(y: Any) -> bool:
    """Whether all rows are lists of one label, which scikit-learn takes as a column."""
    return isinstance(y, list | tuple) and all(_is_collection(row) and len(row) == 1 for row in y)


#: In what an indicator matrix comes; its labels number its columns.
MATRIX = ("dense", "sparse")


def classes_of(labels: Labels, form: str | None) -> NDArray[Any]:
    """The classes that rows make known: all columns of an indicator matrix, or what occurs."""
    return labels.values if labels.is_many and form in MATRIX else labels.seen


def row_labels(y: Any, *, form: str | None = None) -> tuple[Labels, str | None]:
    """The checked labels of rows, and in what those of many came: "dense", "sparse" or "lists".

    Lists of 0 and 1 that all have the same length are the rows of an indicator matrix, as in
    scikit-learn: as lists of labels all of them would be the same. A model that has learnt many
    labels gives its `form`, so that the other rows of a call do not decide what a list means.
    """
    if isinstance(y, Labels):
        return y, form
    if not has_many(y):
        return Labels.of(_checked(y)), None
    if sparse.issparse(y):
        matrix = sparse.csr_array(y, copy=True)
        matrix.sum_duplicates()
        came, labels = "sparse", _of_matrix(matrix.tocoo())
    elif len(getattr(y, "shape", ())) == 2:
        came, labels = "dense", _of_matrix(np.asarray(y))
    else:
        rows = _listed(y)
        table = None if form == "lists" else _matrix_of(rows)
        if table is None and form in MATRIX:
            raise ValueError(
                "y must be an indicator matrix as before, got lists of labels. Turn them into a "
                "matrix by sklearn.preprocessing.MultiLabelBinarizer, or fit a model on lists."
            )
        came = "lists" if table is None else "dense"
        labels = _of_lists(rows) if table is None else _of_matrix(table)
    if form == "lists" and came != form:
        raise ValueError("y must be lists of labels as before, got an indicator matrix.")
    return labels, came


def _listed(y: Any) -> list[list[Any]]:
    """The labels of each row as a list."""
    rows = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
    for i, row in enumerate(rows):
        if not _is_collection(row):
            raise TypeError(
                f"y must have a list of labels for each row as for the first, got {row!r} at row "
                f"{i}."
            )
    return [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]


def _matrix_of(rows: list[list[Any]]) -> NDArray[Any] | None:
    """The indicator matrix that lists are the rows of, if they can be."""
    if len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        return None
    if not all(isinstance(label, int | float) and label in (0, 1) for row in rows for label in row):
        return None
    return np.array(rows)


def _of_matrix(matrix: Any) -> Labels:
    """The labels of an indicator matrix: the numbers of its columns."""
    _check_indicator(matrix)
    rows, labels = matrix.nonzero()
    order = np.lexsort((labels, rows))
    starts = np.searchsorted(rows[order], np.arange(matrix.shape[0] + 1)).astype(np.int64)
    return Labels(labels[order].astype(np.int32), np.arange(matrix.shape[1]), starts)


def _of_lists(rows: list[list[Any]]) -> Labels:
    """The labels of lists; one that a list repeats counts once."""
    sizes = np.array([len(row) for row in rows], np.int64)
    flat = [label for row in rows for label in row]
    for i, row in enumerate(rows):
        _check_row(row, i)
    given = as_labels(flat) if flat else np.zeros(0, np.int64)
    values, codes = np.unique(given, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    labels = Labels(codes.astype(np.int32), values, starts).in_order()
    assert labels.starts is not None
    _refuse_repeats(rows, np.diff(labels.starts) < sizes)
    return labels


def _check_row(labels: Sequence[Any], row: int) -> None:
    """Refuse what cannot be a label in the list of a row."""
    for label in labels:
        if hasattr(label, "__len__") and not isinstance(label, str):
            raise TypeError(
                f"y must hold texts, numbers or booleans in its lists, got {label!r} at row {row}."
            )
        if _check.is_missing(label):
            raise ValueError(f"y must have no missing labels, got {label!r} at row {row}.")


def _check_indicator(matrix: Any) -> None:
    """Check an indicator matrix, dense or of coordinates."""
    if matrix.shape[1] < 2:
        raise ValueError(
            f"y must have two columns at least as an indicator matrix, got shape {matrix.shape}."
        )
    is_sparse = not isinstance(matrix, np.ndarray)
    values = matrix.data if is_sparse else matrix
    if values.dtype.kind not in "biufO":
        raise TypeError(f"y must hold 0 and 1 as an indicator matrix, got {values.dtype} values.")
    if values.dtype.kind == "O":
        for i, row in enumerate(values):
            _check_row(row, i)
    bad = np.argwhere((values != 0) & (values != 1))
    if len(bad):
        got = values[tuple(bad[0])]
        row = int(matrix.row[bad[0, 0]] if is_sparse else bad[0, 0])
        raise ValueError(
            f"y must hold 0 and 1 as an indicator matrix, got {got} at row {row}. Unknown label "
            "type: use lists of labels for other labels."
        )


def _refuse_repeats(rows: Sequence[Sequence[Any]], repeats: NDArray[np.bool_]) -> None:
    """Refuse a 0 or 1 that a row has twice: it is most likely a row of an indicator matrix.

    Any other label counts once.
    """
    for i in np.flatnonzero(repeats).tolist():
        twice = [label for label in (0, 1) if list(rows[i]).count(label) > 1]
        if twice:
            raise ValueError(
                f"y must have 0 and 1 once in a list of labels, got {twice[0]} twice at row "
                f"{i}. Pass an indicator matrix as an array."
            )
