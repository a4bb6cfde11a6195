"""Print the budgets of the house and fail where one is newly broken.

    PYTHONPATH=tests python -m house [--write] [--root FOLDER]

What is over budget today is listed by name in tests/house/baseline.txt, and that list only shrinks:
a new name fails, and so does one that is gone until ``--write`` has taken it from the list.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from house import duplicates, imports, names, paths, sizes
from house.sources import COLUMNS, Budget, read

BASELINE = "tests/house/baseline.txt"

#: The repository of these budgets.
OWN = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 0 if what is over budget is what the baseline names."""
    given = _parser().parse_args(arguments)
    found = measured(given.root)
    if given.root.resolve() == OWN:  # the package that runs is the one that is read
        found += paths.budgets()
    print(table(found))
    over = {name: detail for budget in found for name, detail in budget.over.items()}
    file = given.root / BASELINE
    if given.write:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{name}\n" for name in sorted(over)))
    known = set(file.read_text().splitlines()) if file.exists() else set()
    messages = [*_new(over, known), *_gone(over, known)]
    print(*messages, sep="\n", end="\n" if messages else "")
    return 1 if messages else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m house", description="budgets of the house")
    parser.add_argument("--root", type=Path, default=Path(), help="folder of the repository")
    parser.add_argument("--write", action="store_true", help="renew the baseline")
    return parser


def measured(root: Path) -> list[Budget]:
    """All budgets of the files below a root."""
    columns = {column: read(root, folders) for column, folders in COLUMNS.items()}
    rooms = (sizes, names, imports, duplicates)
    return [budget for room in rooms for budget in room.budgets(columns)]


def table(found: list[Budget]) -> str:
    """One line for each budget: its limit, and a figure for each column it looks at."""
    rows = [["budget", "limit", *COLUMNS]]
    for budget in found:
        figures = [str(budget.figures.get(column, "")) for column in COLUMNS]
        rows.append([budget.title, budget.limit, *figures])
    return "\n".join(f"{row[0]:<32}" + "".join(f"{cell:>9}" for cell in row[1:]) for row in rows)


def _new(over: dict[str, str], known: set[str]) -> list[str]:
    return [
        f"over budget: {name}" + (f" ({over[name]})" if over[name] else "")
        for name in sorted(set(over) - known)
    ]


def _gone(over: dict[str, str], known: set[str]) -> list[str]:
    gone = [f"no longer over budget: {name}" for name in sorted(known - set(over))]
    return [*gone, "To take it from the list, run: make budgets"] if gone else []


if __name__ == "__main__":
    gc.disable()  # trees have no cycles, and looking for them takes two thirds of the time
    sys.exit(main())
