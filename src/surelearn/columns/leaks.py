"""Columns that decide the label alone, as one does that is made from it; must not know models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.columns import readings
from surelearn.columns.cells import DATES, LISTS, NUMBERS, Cells, Table
from surelearn.columns.known import Known, ignored
from surelearn.columns.specs import Text

#: Fewer rows, or values that do not repeat, say nothing.
_ROWS, _TIMES = 50, 5


def leaks(table: Table, known: Sequence[Known], labels: NDArray[Any]) -> list[str]:
    """The names of the columns whose values decide the label of every row."""
    if len(table) < _ROWS or len(np.unique(labels)) < 2:
        return []
    return [
        one.name
        for one in known
        if not ignored(one)
        and not isinstance(one.column, Text)
        and _decides(table.cells(one.name), labels)
    ]


def warn_of_leaks(table: Table, known: Sequence[Known], labels: NDArray[Any]) -> None:
    """Warn of each such column."""
    for name in leaks(table, known, labels):
        warnings.warn(
            f"column {name!r} decides the label alone: if it is made from the label, leave it out "
            f"by columns={{{name!r}: 'ignore'}}.",
            UserWarning,
            stacklevel=2,
        )


def _decides(cells: Cells, labels: NDArray[Any]) -> bool:
    if cells.form == LISTS or cells.missing.any():
        return False
    if cells.form in (NUMBERS, DATES):
        values = cells.values.astype(np.float64)
        order = np.lexsort((labels, values))
        changes = np.diff(labels[order]) != 0
        # Between the labels of two stretches the number changes as well.
        apart = np.diff(values[order])[changes] > 0
        return bool(changes.sum() == len(np.unique(labels)) - 1 and apart.all())
    codes = readings.categories(cells).values.astype(np.int64)
    n_values, n_labels = len(np.unique(codes)), int(labels.max()) + 1
    if n_values * _TIMES > len(codes):
        return False
    return len(np.unique(codes * n_labels + labels)) == n_values
