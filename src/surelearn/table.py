"""A read-only table of named columns; must not know what is in it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

# A table of more than _MOST rows prints the first _HEAD and the last _TAIL of them.
_MOST, _HEAD, _TAIL = 40, 20, 10
_WIDEST = 40


class Table:
    """Columns of equal length, each a read-only attribute.

    Parameters
    ----------
    table : dict of {str: array of shape (n_rows,)}
        The columns by name.
    """

    _kind: ClassVar[str] = "a Table"
    _right: ClassVar[str] = "f"  # dtype kinds of columns that are aligned to the right

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
        """Raise for columns that are absent, such as `deviation` with a first-order rule."""
        known = ", ".join(self.__dict__.get("columns", ()))
        raise AttributeError(f"{self._kind} must be asked for one of {known}, got {name!r}.")

    def __len__(self) -> int:
        return len(self.__dict__[self.columns[0]])

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples of plain Python values."""
        row = _row_type(type(self).__name__, self.columns)
        return map(row._make, zip(*self.to_dict().values(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild a copy by the constructor, so that its columns are read-only as well."""
        return type(self), ({name: self.__dict__[name] for name in self.columns},)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        """The printed form of a value."""
        if not isinstance(value, float):
            return word(str(value))
        return "" if np.isnan(value) else f"{value:.4g}"

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists of plain Python values."""
        return {name: self.__dict__[name].tolist() for name in self.columns}

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`; only this method needs pandas."""
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
    """The table as text: words aligned to the left, numbers to the right."""
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
    """The table as HTML; all cells are escaped, since a feature name may contain markup."""
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
    """The printed rows at the top and at the bottom, and how many are left out between them."""
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
    """A name on one line, cut to a width; characters that cannot be printed are escaped."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= widest else plain[: widest - 1] + "\u2026"
