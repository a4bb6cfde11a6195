"""The tables of README.md from result.csv.

    python -m experiments.ranking.page

puts them between the two marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from experiments import tables
from experiments.ranking.run import PASSES, RULES, SCHEMES

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
#: Passes that are shown; `right` is shown where it makes a difference.
SHOWN = PASSES[0], PASSES[-1]

Found = dict[tuple[str, ...], dict[str, str]]

MAKER = "experiments/ranking/page.py"


def renewed(page: str) -> str:
    """The page with the tables of the results there are."""
    page = tables.placed(page, MAKER, list(_made(tables.lines(HERE / "result.csv"))))
    peers = tables.lines(HERE / "peers.csv")
    table = tables.table(list(peers[0]), [list(line.values()) for line in peers])
    return tables.placed(page, "experiments/ranking/peers", table)


def _made(lines: list[dict[str, str]]) -> Iterator[str]:
    found: Found = {
        (line["set"], line["rule"], line["constraints"], line["right"], line["passes"]): line
        for line in lines
    }
    for name in dict.fromkeys(line["set"] for line in lines):
        yield f"**{name}**\n"
        rows = [
            [rule, right, passes, *scores]
            for rule, right, passes in product(RULES, ("all", "any"), list(map(str, SHOWN)))
            if (scores := _scores(found, (name, rule), (right, passes)))
            and (right == "all" or scores != _scores(found, (name, rule), ("all", passes)))
        ]
        yield from tables.table(["rule", "right", "passes", *SCHEMES], rows)


def _scores(found: Found, of: tuple[str, str], how: tuple[str, str]) -> list[str]:
    """NDCG of all schemes."""
    return [f"{float(found[*of, scheme, *how]['ndcg']):.3f}" for scheme in SCHEMES]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
