"""Checks of rows, texts, tokens and probabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from surelearn._check._messages import must
from surelearn._check._values import numbers, shown


def sound_rows(fault: tuple[str, int] | None, name: str = "X") -> None:
    """Raise if the core has found a fault in a row."""
    if fault is None:
        return
    kind, row = fault
    if kind == "not finite":
        raise ValueError(f"{name} must be finite, got NaN or infinity in row {row}.")
    if kind == "bad index":
        raise ValueError(f"{name} must have indices below its width, got another in row {row}.")
    raise ValueError(f"{name} must be a valid CSR matrix, got a bad indptr at row {row}.")


def n_features(expected: int, got: int, name: str = "x", *, like: str = "fit") -> None:
    if expected != got:
        raise ValueError(f"{name} must have {expected} features as in {like}, got {got}.")


def row_of_numbers(shape: tuple[int, ...], dtype: np.dtype[Any], name: str = "x") -> int:
    """The number of features of one row."""
    if len(shape) != 2 or shape[0] != 1 or shape[1] == 0:
        raise ValueError(f"{name} must be one row of at least one feature, got shape {shape}.")
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a row of numbers, got dtype {dtype}.")
    return shape[1]


def probabilities(p: object, name: str = "p") -> NDArray[np.float64]:
    """Rows of two or more probabilities that sum to one."""
    array = numbers(name, p)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"{name} must have shape (n, K) with K >= 2, got shape {array.shape}.")
    if ((array < 0) | (array > 1)).any():
        bad = array[(array < 0) | (array > 1)][0]
        raise ValueError(f"{name} must be within 0 and 1, got {bad}.")
    off = np.flatnonzero(np.abs(array.sum(axis=1) - 1) > 1e-6)
    if len(off):
        total = array[off[0]].sum()
        raise ValueError(f"{name} must sum to one in each row, got {total} in row {off[0]}.")
    return array


def texts(X: object) -> None:
    """Refuse anything but a collection of texts."""
    if isinstance(X, str | bytes):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if hasattr(X, "columns"):  # a frame: iterating over it gives the names of its columns
        columns = list(getattr(X, "column_names", X.columns))
        raise ValueError(f"texts must be one column, got a frame with columns {columns}.")
    shape = getattr(X, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"texts must have one dimension, got shape {shape}.")


def one_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(must(name, "be a str", value))
    return value


def some_judged(n: int, what: str, who: str = "evaluate") -> None:
    if n == 0:
        raise ValueError(f"{who} needs at least one {what}, got none.")


def some_rows(n_rows: int, name: str = "X", unit: str = "text") -> None:
    if n_rows == 0:
        raise ValueError(f"{name} must have at least one {unit}, got none.")


def rows_or_source(X: Any, y: Any, reading: Sequence[str]) -> None:
    """Refuse rows in memory without labels, and labels for a source, which holds labels."""
    is_path = isinstance(X, str | os.PathLike)
    if y is None:
        first = X[0] if isinstance(X, list | tuple) and X else X
        is_row = isinstance(first, list | tuple | Mapping) and len(first)
        if not is_path and (is_row or (hasattr(first, "shape") and not hasattr(first, "columns"))):
            raise TypeError(
                "y must be given for rows in memory, got None. Without y, X must be a source with "
                "labels, such as a path."
            )
    elif is_path:
        raise TypeError(f"X must be rows if y is given, got {X!r}. Omit y for a source.")
    elif isinstance(y, str):
        raise TypeError(
            f"y must be an array of labels, got {y!r}. Use label= to name a column of a source."
        )
    elif reading:
        raise TypeError(f"rows in memory must have no reading options, got {list(reading)}.")


def no_surrogates(who: str, text: str) -> None:
    """Refuse a text that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        at = error.start
        said = f"{who} must have no lone surrogate, got one at character {at}."
        raise ValueError(said) from None


def is_utf8(value: str | bytes) -> bool:
    """Whether bytes are UTF-8, or a text can be encoded: one with a lone surrogate cannot."""
    try:
        _ = value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True


def sequences(X: object) -> list[list[Any]]:
    """`X` as a list of lists of tokens; it may be an array, a series or a generator of them."""
    if not _in_a_row(X):
        raise TypeError(f"X must be a list of sequences, got {shown(X)}.")
    return [tokens if type(tokens) is list else _tokens(tokens, i) for i, tokens in enumerate(X)]


def _tokens(sequence: object, i: int) -> list[Any]:
    if _in_a_row(sequence) and not isinstance(sequence, tuple):  # a tuple is one token
        return list(sequence)
    raise TypeError(f"sequence {i} must be a list of tokens, got {shown(sequence)}.")


def _in_a_row(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is a one-dimensional iterable with an order: no text, table, dict or set."""
    unlike = isinstance(value, str | bytes | Mapping | Set)
    return isinstance(value, Iterable) and not unlike and getattr(value, "ndim", 1) == 1
