"""The table of docs/theory/scale.md, made of result.csv: ``python -m experiments.scale.page``."""

from __future__ import annotations

from pathlib import Path

from experiments import tables
from experiments.scale.run import CONTESTANTS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/theory/scale.md"


def renewed(page: str) -> str:
    """The page with the figures of the result."""
    lines = tables.lines(HERE / "result.csv")
    found = {
        (line["set"], line["contestant"]): f"{line['accuracy %']}, {line['log loss']}"
        for line in lines
    }
    names = list(dict.fromkeys(line["set"] for line in lines))
    rows = [[name, *(found[name, who] for who in CONTESTANTS)] for name in names]
    return tables.placed(
        page, "experiments/scale/page.py", tables.table(["set", *CONTESTANTS], rows)
    )


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
