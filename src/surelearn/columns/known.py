"""The columns of a table once their kinds are decided: given or inferred, and why."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.columns import readings
from surelearn.columns.cells import NUMBERS, STRINGS, Cells, Table
from surelearn.columns.inference import infer
from surelearn.columns.specs import Column, Date, Ignore, Number, column_in
from surelearn.table import Table as Shown

#: Rows that are looked at where kinds are inferred.
_ROWS = 20_000

#: Bins of numbers, and from how many of them on; see experiments/columns.
_BINS, _ENOUGH = 16, 1000

#: An example shows this many characters.
_EXAMPLE = 30


@dataclass(frozen=True)
class Known:
    """A column of a table with its kind.

    Parameters
    ----------
    name : str
    column : Column
        The kind, with all that was left to the first rows: edges of bins, decimal mark, order of
        dates.
    why : str
        How the kind was decided.
    example : str
        One of its values.
    missing : float
        The share of the first rows that are missing.
    has_hours : bool
        Of dates: whether any has a time other than midnight.
    """

    name: str
    column: Column
    why: str
    example: str = ""
    missing: float = 0.0
    has_hours: bool = False

    def plain(self) -> dict[str, Any]:
        """The column as JSON."""
        return {
            "name": self.name,
            "column": self.column.plain(),
            "why": self.why,
            "example": self.example,
            "missing": self.missing,
            "has_hours": self.has_hours,
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Known:
        """The column from what `plain` gave; raises ValueError or TypeError where it is damaged."""
        own = {**plain, "column": column_in(plain["column"])}
        known = cls(**own)
        kinds = {"name": str, "why": str, "example": str, "missing": float, "has_hours": bool}
        for name, kind in kinds.items():
            if not isinstance(getattr(known, name), kind):
                raise TypeError(f"{name} of a column must be a {kind.__name__}.")
        return known


class Columns(Shown):
    """A table of the columns that a model knows: what each is, an example, how it was decided.

    Examples
    --------
    >>> from surelearn import SureTableClassifier
    >>> rows = [{"floor": "first", "rent": 900}, {"floor": "top", "rent": 700}]
    >>> SureTableClassifier().fit(rows, ["high", "low"]).columns_.kind.tolist()
    ['category', 'number']
    """

    _kind = "Columns"

    @classmethod
    def of(cls, known: Sequence[Known]) -> Columns:
        """The table of these columns."""

        def column(values: list[Any]) -> NDArray[Any]:
            made = np.empty(len(values), dtype=object)
            made[:] = values
            return made

        return cls(
            {
                "column": column([one.name for one in known]),
                "kind": column([one.column.kind for one in known]),
                "example": column([one.example for one in known]),
                "missing": np.array([one.missing for one in known]),
                "decided": column([one.why for one in known]),
            }
        )

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        if name == "missing":
            return f"{100 * value:.3g} %" if value else ""
        return Shown._cell(name, value)


def known_columns(table: Table, given: Mapping[str, Column]) -> list[Known]:
    """The kinds of all columns: those that are given, and the others by their values.

    Dicts may lack columns that are given; other tables must have them. Keys of dicts have no order
    and may have no value: they are sorted, and those without one left out.
    """
    absent = [name for name in given if name not in table.names]
    if absent and not table.may_lack:
        raise ValueError(
            f"columns must be of the table, which has {', '.join(map(repr, table.names))}, got "
            f"{absent[0]!r}."
        )
    names = table.names
    if table.may_lack:
        there = (name for name in names if not table.cells(name).missing.all())
        names = sorted({*there, *given})
    none = Cells(STRINGS, np.full(len(table), -1, np.int32))
    return [
        _known(name, table.cells(name) if name in table.names else none, given.get(name))
        for name in names
    ]


def _known(name: str, cells: Cells, given: Column | None) -> Known:
    why, column = "given", given
    if column is None:
        told = infer(cells)
        column, why = told.column, told.why
        if told.warns:
            warnings.warn(
                f"column {name!r} is left out: its values are {why}. Use columns={{{name!r}: "
                '"category"} to learn from it.',
                UserWarning,
                stacklevel=2,
            )
    some = _some(cells)
    has_hours = False
    if isinstance(column, Date):
        column = replace(column, order=_order(column, cells))
        days = readings.dates(some, column.order).values
        hours = readings.parts_of(days)["hour"]
        has_hours = bool((hours > 0).any())
    if isinstance(column, Number):
        column = _with_bins(column, cells)
    share = float(cells.missing.mean()) if len(cells) else 0.0
    return Known(name, column, why, _example(cells), share, has_hours)


def _some(cells: Cells) -> Cells:
    """An even sample of the rows."""
    step = max(1, -(-len(cells) // _ROWS))
    return cells if step == 1 else cells.take(np.arange(0, len(cells), step))


def _order(column: Date, cells: Cells) -> str:
    if column.order != "auto":
        return column.order
    return readings.order_of(cells.strings()) if cells.form == STRINGS else "mdy"


def _with_bins(column: Number, cells: Cells) -> Number:
    """The same with the decimal mark and the edges of its bins."""
    decimal = column.decimal
    if decimal == "auto":
        decimal = readings.decimal_of(cells.strings()) if cells.form == STRINGS else "."
    bins = column.bins
    if isinstance(bins, int) or bins == "auto":
        values = readings.numbers(cells, decimal).values
        values = values[~np.isnan(values)]
        if bins == "auto":
            bins = _BINS if len(values) >= _ENOUGH else None
    if isinstance(bins, int):
        edges = np.quantile(values, np.arange(1, bins) / bins) if len(values) else []
        bins = tuple(np.unique(edges).tolist())
    return replace(column, bins=bins, decimal=decimal)


def _example(cells: Cells) -> str:
    present = np.flatnonzero(~cells.missing)
    if not len(present):
        return ""
    one = readings.categories(cells.take(present[:1]))
    text = one.strings()[int(one.values[0])] if one.values[0] >= 0 else ""
    if cells.form == NUMBERS:
        text = f"{cells.values[present[0]]:.6g}"
    text = " ".join(text.split())
    return text if len(text) <= _EXAMPLE else f"{text[: _EXAMPLE - 1]}…"


def ignored(known: Known) -> bool:
    """Whether a column is left out."""
    return isinstance(known.column, Ignore)
