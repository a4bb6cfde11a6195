"""The columns of a table as they are stored; must not know what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """The columns of a batch that is read as a table.

    Parameters
    ----------
    columns : dict of {str: array of Arrow or NumPy}
        As they are stored; of csv all texts.
    n_rows : int

    Examples
    --------
    >>> from surelearn.read import ColumnTable
    >>> table = ColumnTable({"a": np.array([1, 2, 3])}, 3)
    >>> len(table), table[1:].columns["a"].tolist(), table.take(np.array([0])).n_rows
    (3, [2, 3], 1)
    """

    columns: Mapping[str, Any]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice) -> ColumnTable:
        """A slice of the rows."""
        some = {name: column[rows] for name, column in self.columns.items()}
        return ColumnTable(some, len(range(self.n_rows)[rows]))

    def take(self, rows: NDArray[np.int64]) -> ColumnTable:
        """The rows of these numbers."""
        some = {name: column.take(rows) for name, column in self.columns.items()}
        return ColumnTable(some, len(rows))


def joined_tables(parts: Sequence[ColumnTable]) -> ColumnTable:
    """Tables one below the other; a column that a part lacks is null there."""
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns: dict[str, Any] = {}
    for name in names:
        some = [part.columns.get(name, np.full(len(part), None)) for part in parts]
        if all(isinstance(column, np.ndarray) for column in some):
            columns[name] = np.concatenate(some)
        else:
            lists = [c.to_pylist() if hasattr(c, "to_pylist") else c.tolist() for c in some]
            columns[name] = np.empty(sum(map(len, lists)), dtype=object)
            columns[name][:] = [value for values in lists for value in values]
    return ColumnTable(columns, sum(map(len, parts)))
