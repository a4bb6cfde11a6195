"""A table of named columns that cannot be changed; must not know what is in it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

# More rows than the first are printed as the second from the top and the third from the bottom.
_MOST, _HEAD, _TAIL = 40, 20, 10
_WIDEST = 40


class Table:
    """Columns of one length, each an attribute.

    Parameters
    ----------
    table : dict of {str: array of shape (n_rows,)}
        The columns by name.
    """

    _kind: ClassVar[str] = "a Table"
    _right: ClassVar[str] = "f"  # kinds of columns that are printed to the right

    columns: tuple[str, ...]

    def __init__(self, table: Mapping[str, NDArray[Any]]) -> None:
        own = {name: np.array(column) for name, column in table.items()}
        for column in own.values():
            column.flags.writeable = False
        self.__dict__.update(own, columns=tuple(own))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} of {self._kind} must stay as it is, got {value!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name} of {self._kind} must stay as it is, got a deletion.")

    def __getattr__(self, name: str) -> NDArray[Any]:
        """For columns that are not there, such as `deviation` of a first-order rule."""
        known = ", ".join(self.__dict__.get("columns", ()))
        raise AttributeError(f"{self._kind} must be asked for one of {known}, got {name!r}.")

    def __len__(self) -> int:
        return len(self.__dict__[self.columns[0]])

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples of plain Python values."""
        row = _row_type(type(self).__name__, self.columns)
        return map(row._make, zip(*self.to_dict().values(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made anew, so that nothing of it can be changed either."""
        return type(self), ({name: self.__dict__[name] for name in self.columns},)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        """A value as it is printed."""
        if not isinstance(value, float):
            return word(str(value))
        return "" if np.isnan(value) else f"{value:.4g}"

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists of plain Python values."""
        return {name: self.__dict__[name].tolist() for name in self.columns}

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`, which is not needed for anything else."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__}.to_pandas needs pandas, got none. Run: pip install pandas"
            ) from error
        return pandas.DataFrame({name: self.__dict__[name] for name in self.columns})


@lru_cache
def _row_type(kind: str, columns: tuple[str, ...]) -> Any:
    return namedtuple(f"{kind}Row", columns)


# -------------------------------------------------------------------- the looks


def _text(table: Table) -> str:
    """Aligned columns: words to the left, numbers to the right."""
    head, tail, left_out = _shown(table)
    lines = [list(table.columns), *head, *tail]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = [table.__dict__[name].dtype.kind not in table._right for name in table.columns]
    made = [_line(cells, widths, left) for cells in lines]
    if left_out:
        made.insert(1 + len(head), f"... {left_out:,} more ...")
    return "\n".join(made)


def _line(cells: list[str], widths: list[int], left: list[bool]) -> str:
    sized = zip(cells, widths, left, strict=True)
    made = (cell.ljust(width) if is_left else cell.rjust(width) for cell, width, is_left in sized)
    return "  ".join(made).rstrip()


def _html(table: Table) -> str:
    """Everything is escaped: the name of a feature may hold markup."""
    head, tail, left_out = _shown(table)
    rows = [_html_row(cells) for cells in head]
    if left_out:
        span = len(table.columns)
        rows.append(f'<tr><td colspan="{span}">&hellip; {left_out:,} more &hellip;</td></tr>')
    rows += [_html_row(cells) for cells in tail]
    return (
        f"<table><thead>{_html_row(table.columns, 'th')}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _html_row(cells: list[str] | tuple[str, ...], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _shown(table: Table) -> tuple[list[list[str]], list[list[str]], int]:
    """Rows as texts: those from the top, those from the bottom, and how many are left out."""
    head, tail = (len(table), 0) if len(table) <= _MOST else (_HEAD, _TAIL)
    cells = [
        [table._cell(name, value) for value in _ends(table.__dict__[name], head, tail)]
        for name in table.columns
    ]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return rows[:head], rows[head:], len(table) - head - tail


def _ends(column: NDArray[Any], head: int, tail: int) -> list[Any]:
    return [*column[:head].tolist(), *column[len(column) - tail :].tolist()]


def word(text: str, widest: int = _WIDEST) -> str:
    """A name in one line of bounded width, what cannot be printed spelled out."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= widest else plain[: widest - 1] + "\u2026"
