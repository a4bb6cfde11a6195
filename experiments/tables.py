"""Results as files and as tables of Markdown, and the place of a page that they stand in."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

END = "<!-- end -->\n"


def lines(path: Path) -> list[dict[str, str]]:
    """The lines of a result."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def save(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    """Write a result; its columns are the keys of all lines, in the order in which they come."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table, and an empty one."""
    return [_row(head), "|---" * len(head) + "|", *map(_row, rows), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def placed(page: str, maker: str, made: Sequence[str]) -> str:
    """The page with what a maker made in place of what stands between its marks."""
    begin = f"<!-- made by {maker} -->\n"
    before, rest = page.split(begin)
    _, after = rest.split(END, 1)
    return "\n".join([before + begin, *made, END + after])
