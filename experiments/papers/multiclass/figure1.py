"""Figure 1: accuracy on Amazon 7 after each pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from experiments.papers.charts import Curve, Panel, draw_curves
from experiments.papers.entry import Case, Claim, Entry, Rows
from experiments.papers.multiclass.learners import found
from experiments.papers.multiclass.results import Results
from experiments.papers.statistics import difference, mean

TASK = "Amazon 7"
LEARNERS = {
    "k = 1": "CW k=1",
    "k = 5, sequential": "CW k=5",
    "all, sequential": "CW all",
    "all, parallel": "parallel",
    "all, exact": "exact",
}


def cases(quick: bool) -> dict[str, Case]:
    """Every update on Amazon 7."""
    return {name: partial(found, TASK, one, quick) for name, one in LEARNERS.items()}


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy after each pass."""
    curves = {name: Results(rows).curve(TASK, one) for name, one in LEARNERS.items()}
    n_passes = curves["k = 1"].shape[1]
    return {
        "Accuracy (%)": [
            {"passes": at + 1, **{name: str(mean(one[:, at])) for name, one in curves.items()}}
            for at in range(n_passes)
        ]
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Who improves after the first pass, and who leads at the start and in the long run."""
    curves = {name: Results(rows).curve(TASK, one) for name, one in LEARNERS.items()}
    one, five = curves["k = 1"], curves["k = 5, sequential"]
    return (
        *(
            _gain(f"The {name.split()[1]} update improves after its first pass.", curves[name], 1)
            for name in ("all, sequential", "all, parallel")
        ),
        _gain("The exact update degrades after its first pass.", curves["all, exact"], -1),
        _lead("After one pass k=5 leads k=1.", five[:, 0], one[:, 0]),
        _lead("In the long run, after ten passes, k=1 leads k=5.", one[:, -1], five[:, -1]),
    )


def _gain(text: str, curve: np.ndarray, sign: int) -> Claim:
    return _lead(text, sign * curve[:, 1:].mean(axis=1), sign * curve[:, 0], sign)


def _lead(text: str, first: np.ndarray, second: np.ndarray, sign: int = 1) -> Claim:
    lead = difference(first, second)
    return Claim(
        text=text,
        theirs="in the plot",
        ours=f"{sign * lead.value:+.2f} points",
        lead=lead.value,
        error=lead.error,
    )


def draw(rows: Rows, folder: Path) -> None:
    """All curves in one panel."""
    curves = {}
    for name, one in LEARNERS.items():
        found_ = [mean(column) for column in Results(rows).curve(TASK, one).T]
        x = list(range(1, len(found_) + 1))
        curves[name] = Curve(x, [at.value for at in found_], [at.error for at in found_])
    draw_curves([Panel("Amazon 7", "passes", "accuracy (%)", curves)], folder / "figure1.png")


ENTRY = Entry(
    name="multiclass-figure1",
    title="Figure 1: accuracy after each pass on Amazon 7",
    cases=cases,
    tables=tables,
    claims=claims,
    draw=draw,
    notes="""
phi of each update as in tables 2 and 3: the one that is best after some number of passes on rows
that no fold judges. The figures of the paper are in a plot only. *After its first pass* is the
mean over passes 2 to 10 against pass 1, on the same folds. Seconds a pass are in
[multiclass-seconds](multiclass-seconds).
""",
)
