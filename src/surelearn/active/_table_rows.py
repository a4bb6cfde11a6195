"""Rows by number, whatever they came in; the columns of tables are decided here, once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from surelearn.columns.cells import Table
from surelearn.columns.known import Known
from surelearn.learners.base import is_fitted
from surelearn.learners.checks import taken as rows_taken
from surelearn.learners.table_classifier import SureTableClassifier, columns_of
from surelearn.read import ColumnTable


def as_read_by(model: Any, X: Any) -> Any:
    """X as a `Table` for a classifier of tables, and else as it is."""
    return Table.of(X) if isinstance(model, SureTableClassifier) else X


def n_rows(X: Any) -> int:
    """The number of rows of a matrix, a table, a frame or a list."""
    return int(_num_samples(X))


def taken(X: Any, rows: Any) -> Any:
    """Some rows of a matrix, a table, a frame or a list, by numbers or a slice."""
    if not isinstance(X, Table):
        return rows_taken(X, rows)
    return X[rows] if isinstance(rows, slice) else X.take(np.asarray(rows, dtype=np.int64))


def columns_for(model: Any, X: Any, *, is_new: bool | None = None) -> list[Known] | None:
    """The columns of a table for a model that has not decided them yet, by all its rows.

    `is_new` says whether the model starts with nothing learnt; by default it is asked.
    """
    if not isinstance(X, Table):
        return None
    is_new = not is_fitted(model) if is_new is None else is_new
    return columns_of(model, X) if is_new else None


def is_table(X: Any) -> bool:
    """Whether rows are a table that only a classifier of tables takes."""
    if isinstance(X, dict | Table | ColumnTable):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and isinstance(X[0], dict)
    if hasattr(X, "schema") and hasattr(X, "column_names"):  # Arrow
        return True
    if not hasattr(X, "columns"):
        return False
    types = X.dtypes.tolist() if hasattr(X.dtypes, "tolist") else list(X.dtypes)
    return not all(_is_numeric(kind) for kind in types)


def _is_numeric(kind: Any) -> bool:
    """Whether a type of pandas or polars is one of numbers."""
    found = (
        kind.is_numeric() if hasattr(kind, "is_numeric") else getattr(kind, "kind", "O") in "iufb"
    )
    return bool(found)
