"""Rewrite the benchmark table of the README from ``results/*.json``.

``python benchmarks/table.py [README.md]`` replaces what stands between the two marker lines and
leaves the rest alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from _measure import RESULTS, stop

BEGIN = "<!-- benchmarks:begin -->"
END = "<!-- benchmarks:end -->"


def table() -> list[str]:
    """The lines of the table, scripts in alphabetical order."""
    lines = ["| work | against | measured | goal | script |", "|---|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*.json")):
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            figure = claim["figure"] if claim["met"] else f"{claim['figure']} (missed)"
            cells = [claim["work"], claim["against"], figure, claim["goal"]]
            lines.append(f"| {' | '.join(cells)} | `benchmarks/{path.stem}.py` |")
    return lines


def main() -> None:
    readme = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "README.md"
    lines = table()
    if len(lines) == 2:
        stop("benchmarks/results must hold a result, got none. Run a benchmark first.")
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        print(f"{readme.name} has no lines {BEGIN} and {END}: nothing was written. The table:\n")
        print("\n".join(lines))
        return
    readme.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")
    print(f"{readme.name}: {len(lines) - 2} lines written.")


if __name__ == "__main__":
    main()
