"""The table of README.md from result.csv; must not know how it was made.

    python -m experiments.label.page

puts it between the marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
MODELS = ("surelearn", "LogisticRegression", "LogisticRegression, random")


def results() -> dict[str, dict[str, np.ndarray]]:
    """Accuracies of the runs, by set and model."""
    found: dict[str, dict[str, list[float]]] = {}
    for line in tables.lines(HERE / "result.csv"):
        found.setdefault(line["set"], {}).setdefault(line["model"], []).append(
            float(line["accuracy"])
        )
    return {name: {m: np.array(v) for m, v in of.items()} for name, of in found.items()}


def lead(of: dict[str, np.ndarray]) -> tuple[float, float]:
    """Points by which our model leads on the same answers, and the standard error over runs."""
    gap = 100 * (of["surelearn"] - of["LogisticRegression"])
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def _rows() -> Iterator[list[str]]:
    for name, of in results().items():
        points, error = lead(of)
        yield [
            name,
            *(f"{100 * of[m].mean():.1f} %" for m in MODELS),
            f"{points:+.1f} ± {error:.1f}",
        ]


def made() -> list[str]:
    """Lines of the page."""
    found = results()
    behind = [name for name, of in found.items() if lead(of)[0] < 0]
    said = f"At least as accurate on {len(found) - len(behind)} of {len(found)} sets."
    more = f" Behind on: {', '.join(behind)}." if behind else ""
    other = "LogisticRegression"
    head = ["set", "surelearn", f"{other}, same answers", f"{other}, random rows", "lead, points"]
    return ["", *tables.table(head, _rows()), said + more, ""]


def renewed(text: str) -> str:
    """The page with its table renewed."""
    return tables.placed(text, "page.py", made())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
