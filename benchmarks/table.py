"""Write the tables of the README and of benchmarks/README.md from the results.

``python benchmarks/table.py`` replaces what stands between the marker lines of both pages: the six
figures of the front page, and the table of all claims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _headlines import headlines as _headlines
from _measure import RESULTS, stop

HERE = Path(__file__).parent
PAGES = (HERE.parent / "README.md", HERE / "README.md")


def _results() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every claim with the name of its script."""
    for path in sorted(RESULTS.glob("*.json")):
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            yield f"{path.stem}.py", claim


def _measured(claim: dict[str, Any]) -> str:
    return str(claim["figure"]) if claim["met"] else f"{claim['figure']} (missed)"


def claims() -> list[str]:
    """All claims, scripts in alphabetical order; a goal that was missed says so."""
    rows = [
        (claim["work"], claim["against"], _measured(claim), claim["goal"], f"`{script}`")
        for script, claim in _results()
    ]
    return _table(("work", "against", "measured", "goal", "script"), rows)


def headlines() -> list[str]:
    """The figures of the front page, each with a link to its script."""
    rows = [
        (line.work, line.ours, line.beside, f"[{line.script.partition('/')[2]}]({line.script})")
        for line in _headlines()
    ]
    return _table(("task", "surelearn", "peers", "script"), rows)


def verdict() -> str:
    """What a goal is, how many are met, and of which kind the missed ones are."""
    goals = [claim for _, claim in _results() if claim["goal"] != "-"]
    missed = [claim for claim in goals if not claim["met"]]
    speedups = [claim for claim in missed if re.fullmatch(r">= [0-9.]+x", claim["goal"])]
    return (
        "[All claims](benchmarks/README.md#claims) are listed with their goals, targets for speed, "
        f"memory and accuracy set before measuring: {len(goals) - len(missed)} are met, "
        f"{len(missed)} missed. "
        f"{len(speedups)} of the missed ones ask for a speedup, such as 6x, that was reached only "
        "in part."
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def renewed(page: str) -> str:
    """The page with its tables written anew; it has at least one."""
    made = {"claims": claims, "headlines": lambda: [*headlines(), "", verdict()]}
    marked = [name for name in made if f"<!-- {name}:begin -->\n" in page]
    if not marked:
        stop(f"A page must have markers of a table ({', '.join(made)}), got none.")
    for name in marked:
        page = _placed(page, name, made[name]())
    return page


def _placed(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with lines in place of those between two markers."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        stop(f"A page with {begin.strip()} must have {end} after it.")
    return before + begin + "\n".join(lines) + "\n" + end + after


def main() -> None:
    for path in PAGES:
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{path.relative_to(HERE.parent)}: tables written.")


if __name__ == "__main__":
    main()
