"""Converts template files of CRF++; must not know features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from surelearn import _check
from surelearn.templates._language import FURTHEST, checked_columns, default_columns

_MACRO = re.compile(r"%x\[\s*(-?\d+)\s*,\s*(\d+)\s*\]")


def read_crfpp(lines: Iterable[str], columns: Sequence[str] | None = None) -> list[str]:
    """Convert a template file of CRF++ to templates that make the same features.

    ``U01:%x[-1,0]/%x[0,0]`` becomes ``w[-1]|w[0]``; the name before the colon and the text between
    the macros have no meaning. A repeated line is dropped. A ``U`` without a macro becomes
    ``bias``.

    Parameters
    ----------
    lines : iterable of str
        The lines of the file, or the open file.
    columns : sequence of str or None
        Names of the columns; None means ``("w", "pos", "c2", ...)``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> read_crfpp(["# words", "U00:%x[0,0]", "U01:%x[-1,0]/%x[0,1]", "", "B"])
    ['w[0]', 'w[-1]|pos[0]', 'B:']
    """
    _check.listed("lines", lines, "lines")
    names = None if columns is None else checked_columns(columns)
    found = (_template(line.strip(), i, names) for i, line in enumerate(lines, start=1))
    return list(dict.fromkeys(template for template in found if template is not None))


def _template(line: str, i: int, columns: Sequence[str] | None) -> str | None:
    if not line or line.startswith("#"):
        return None
    kind, rest = line[0], _MACRO.sub("", line)
    if kind not in "UB" or "%" in rest:
        reason = _check.unlike(
            "U or B, and places such as %x[-1,0]", line.encode("utf-8", "replace")
        )
        raise _check.BadInput(f"template, line {i}: {reason}")
    pieces = [_piece(int(row), int(column), i, columns) for row, column in _MACRO.findall(line)]
    joined = "|".join(pieces)
    return f"B:{joined}" if kind == "B" else joined or "bias"


def _piece(offset: int, column: int, i: int, columns: Sequence[str] | None) -> str:
    if abs(offset) > FURTHEST:
        reason = f"expected an offset from -{FURTHEST} to {FURTHEST}, got {offset}."
        raise _check.BadInput(f"template, line {i}: {reason}")
    if columns is None:
        return f"{default_columns(column + 1)[column]}[{offset}]"
    if column >= len(columns):
        reason = f"expected a column below {len(columns)}, got {column}."
        raise _check.BadInput(f"template, line {i}: {reason}")
    return f"{columns[column]}[{offset}]"
