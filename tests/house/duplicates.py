"""Budget of copies: runs of equal lines of code in two files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, groupby

from house.sources import Budget, Source

#: So many equal lines of code in a row are a copy.
RUN = 6

_Line = tuple[int, str]


def budgets(columns: dict[str, list[Source]]) -> list[Budget]:
    """Copies inside the package, the core and the papers, by files and first line."""
    title = "copied blocks"
    found = {column: dict(copies(columns[column])) for column in ("src", "cpp", "papers")}
    over = {f"{title}: {name}": text for of in found.values() for name, text in of.items()}
    return [Budget(title, "0", {column: len(of) for column, of in found.items()}, over)]


def copies(sources: list[Source]) -> Iterator[tuple[str, str]]:
    """Every maximal run that two files have in common: both files with its first line, its size."""
    lines = {source.path: _telling(source) for source in sources}
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for path, of in lines.items():
        for i in range(len(of) - RUN + 1):
            places[tuple(text for _, text in of[i : i + RUN])].append((path, i))
    shared = sorted(
        (a[0], b[0], b[1] - a[1], a[1])
        for at in places.values()
        for a, b in combinations(at, 2)
        if a[0] != b[0]
    )
    # Windows that start one after the other at the same distance are one run.
    numbered = ((row, row[3] - i) for i, row in enumerate(shared))
    for _, run in groupby(numbered, key=lambda pair: (*pair[0][:3], pair[1])):
        windows = [row for row, _ in run]
        first, second, shift, start = windows[0]
        number, text = lines[first][start]
        other = lines[second][start + shift][0]
        size = len(windows) + RUN - 1
        yield f"{first} {second}: {text}", f"{size} lines at {number} and {other}"


def _telling(source: Source) -> list[_Line]:
    """Lines of code that say something: no imports, no line of brackets alone."""
    nodes = source.tree.body if source.is_python else []
    imports = {
        number
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for number in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    lines = ((n, text) for n, text in source.code.items() if n not in imports)
    return [(n, text) for n, text in lines if re.search(r"\w", text)]
