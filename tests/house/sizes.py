"""Budgets of size: lines of functions and of files."""

from __future__ import annotations

from statistics import median

from house.sources import Budget, Source

#: Lines of code of a function: the median, nine in ten, the longest. Lines of a file.
MEDIAN, NINE_IN_TEN, LONGEST, FILE = 9, 30, 60, 500

#: Names and lengths; functions of one name in one file are several.
_Lengths = list[tuple[str, int]]


def budgets(columns: dict[str, list[Source]]) -> list[Budget]:
    """How long functions and files are, in every column."""
    functions = {
        column: [(f"{s.path}: {name}", n) for s in sources for name, n in s.functions()]
        for column, sources in columns.items()
    }
    files = {
        column: [(s.path, len(s.text.splitlines())) for s in sources]
        for column, sources in columns.items()
    }
    return [
        _shared(
            "median lines of a function", MEDIAN, {c: _middle(n) for c, n in functions.items()}
        ),
        _shared("lines of nine in ten", NINE_IN_TEN, {c: _tenth(n) for c, n in functions.items()}),
        _each("functions over 60 lines", LONGEST, functions),
        _each("files over 500 lines", FILE, files),
    ]


def _middle(lengths: _Lengths) -> int:
    return int(median(n for _, n in lengths)) if lengths else 0


def _tenth(lengths: _Lengths) -> int:
    """The length that one function in ten reaches or passes."""
    return sorted(n for _, n in lengths)[len(lengths) * 9 // 10] if lengths else 0


def _shared(title: str, limit: int, figures: dict[str, int]) -> Budget:
    """A budget of all functions of a column together."""
    over = {f"{title}: {column}": str(n) for column, n in figures.items() if n > limit}
    return Budget(title, str(limit), dict(figures), over)


def _each(title: str, limit: int, lengths: dict[str, _Lengths]) -> Budget:
    """A budget of every single one."""
    over = {column: [(name, n) for name, n in of if n > limit] for column, of in lengths.items()}
    named = {f"{title}: {name}": f"{n} lines" for of in over.values() for name, n in of}
    return Budget(title, "0", {column: len(of) for column, of in over.items()}, named)
