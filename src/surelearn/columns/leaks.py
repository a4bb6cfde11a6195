"""Columns that decide the label alone, as one does that is made from it; must not know models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.columns import readings
from surelearn.columns.cells import LISTS, Cells, Table
from surelearn.columns.known import Known, ignored
from surelearn.columns.specs import Categories, Date, Number, Text
from surelearn.read import Labels

#: Fewer rows, or values that do not repeat, say nothing; of more values none are kept.
_ROWS, _TIMES, _MOST = 50, 5, 10_000


class LeakWatch:
    """Looks for columns whose values decide the label of every row, block by block.

    Of a number the bounds for each label are kept, of a category the label of each of up to 10,000
    values, and of a column that does not decide nothing at all: memory is constant. Blocks may come
    in any order, from several threads.

    Parameters
    ----------
    known : function
        Gives the columns, once the first block has decided them.
    """

    def __init__(self, known: Callable[[], Sequence[Known]]) -> None:
        self._known = known
        self._open: dict[str, _Bounds | _Values] | None = None
        self._columns: dict[str, Known] = {}
        self._labels: set[Any] = set()
        self._n_rows = 0
        self._lock = Lock()

    def add(self, X: Any, labels: Labels) -> None:
        """Look at more rows, each with one label."""
        with self._lock:
            if self._open is None:
                self._begin(self._known())
            assert self._open is not None
            self._n_rows += labels.n_rows
            self._labels.update(labels.values.tolist())
            if not self._open:
                return
            table = Table.of(X)
            for name, seen in list(self._open.items()):
                there = name in table.names and self._meets(name, seen, table.cells(name), labels)
                if not there:
                    del self._open[name]

    def found(self) -> list[str]:
        """The names of such columns among all rows so far."""
        if self._n_rows < _ROWS or len(self._labels) < 2:
            return []
        return [name for name, seen in (self._open or {}).items() if seen.decides(self._n_rows)]

    def warn(self) -> None:
        """Warn of each such column, and look no further."""
        for name in self.found():
            warnings.warn(
                f"column {name!r} decides the label alone: if it is made from the label, leave it "
                f"out by columns={{{name!r}: 'ignore'}}.",
                UserWarning,
                stacklevel=2,
            )
        self._open = {}

    def _begin(self, known: Sequence[Known]) -> None:
        self._columns = {one.name: one for one in known if _may_leak(one)}
        self._open = {name: _new(one) for name, one in self._columns.items()}

    def _meets(self, name: str, seen: _Bounds | _Values, cells: Cells, labels: Labels) -> bool:
        """Look at more cells; whether they still decide."""
        if cells.form == LISTS:
            return False
        column: Any = self._columns[name].column
        codes, names = np.asarray(labels.codes, dtype=np.int64), labels.values.tolist()
        if isinstance(seen, _Values):
            return seen.meet(readings.categories(cells), codes, names)
        if isinstance(column, Date):
            days, _ = readings.dates(cells, column.order)
            values = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
        else:
            values, _ = readings.numbers(cells, column.decimal)
        return seen.meet(values, codes, names)


class _Bounds:
    """The least and the largest number of each label."""

    def __init__(self) -> None:
        self._of: dict[Any, tuple[float, float]] = {}

    def meet(self, values: NDArray[np.float64], codes: NDArray[np.int64], names: list[Any]) -> bool:
        if np.isnan(values).any():
            return False
        for code in np.unique(codes).tolist():
            own = values[codes == code]
            low, high = self._of.get(names[code], (np.inf, -np.inf))
            self._of[names[code]] = min(low, float(own.min())), max(high, float(own.max()))
        return self._are_apart()

    def decides(self, n_rows: int) -> bool:
        """Whether the labels have stretches of their own, in however many rows."""
        return n_rows > 0 and self._are_apart()

    def _are_apart(self) -> bool:
        return all(one[1] < other[0] for one, other in pairwise(sorted(self._of.values())))


class _Values:
    """The label of each value."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def meet(self, cells: Cells, codes: NDArray[np.int64], names: list[Any]) -> bool:
        if cells.missing.any():
            return False
        pairs = np.unique(cells.values.astype(np.int64) * len(names) + codes)
        values, labels = np.divmod(pairs, max(1, len(names)))
        if len(np.unique(values)) < len(values) or len(values) > _MOST:
            return False
        distinct = cells.strings()
        for value, label in zip(values.tolist(), labels.tolist(), strict=True):
            if self._of.setdefault(distinct[value], names[label]) != names[label]:
                return False
        return len(self._of) <= _MOST

    def decides(self, n_rows: int) -> bool:
        """Whether values are met often enough to say so."""
        return len(self._of) * _TIMES <= n_rows


def _may_leak(known: Known) -> bool:
    return not ignored(known) and not isinstance(known.column, Text | Categories)


def _new(known: Known) -> _Bounds | _Values:
    return _Bounds() if isinstance(known.column, Number | Date) else _Values()


def leaks(table: Table, known: Sequence[Known], labels: Labels) -> list[str]:
    """The names of the columns whose values decide the label of every row."""
    return _watched(table, known, labels).found()


def warn_of_leaks(table: Table, known: Sequence[Known], labels: Labels) -> None:
    """Warn of each such column."""
    _watched(table, known, labels).warn()


def _watched(table: Table, known: Sequence[Known], labels: Labels) -> LeakWatch:
    watch = LeakWatch(lambda: known)
    watch.add(table, labels)
    return watch
