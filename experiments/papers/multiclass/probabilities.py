"""Section 7: the mean probability of right and of wrong predictions."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.multiclass.confidence import CW, MAXENT, PASSES, measured, of
from experiments.papers.multiclass.tasks import TASKS, names
from experiments.papers.statistics import difference, mean

#: Of right and wrong predictions, on Enron B.
PAPER = {CW: (0.75, 0.44), MAXENT: (0.83, 0.56)}
SIDES = ("right", "wrong")


def cases(quick: bool) -> dict[str, Case]:
    """Every task."""
    return {name: partial(measured, name, quick) for name in names(quick)}


def _folds(rows: Rows, task: str, model: str) -> Rows:
    return of(rows, task, model, PASSES if model == CW else 0)


def _mean(rows: Rows, task: str, model: str, side: str) -> float:
    found = [row[f"{side}_probability"] for row in _folds(rows, task, model)]
    return float(np.nanmean(found))


def _tasks(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["task"] for row in rows))


def tables(rows: Rows) -> dict[str, Rows]:
    """One line a task, that of the paper first."""
    return {
        f"Mean probability of predictions; CW after {PASSES} passes": [
            {"task": "Enron B, paper", "about": "not rebuilt", **_columns(PAPER)},
            *(_line(rows, task) for task in _tasks(rows)),
        ]
    }


def _columns(found: dict[str, tuple[float, float]]) -> Row:
    return {
        f"{model}, {side}": f"{value:.2f}"
        for model, values in found.items()
        for side, value in zip(SIDES, values, strict=True)
    }


def _line(rows: Rows, task: str) -> Row:
    found = {
        model: (_mean(rows, task, model, "right"), _mean(rows, task, model, "wrong"))
        for model in PAPER
    }
    return {"task": task, "about": TASKS[task].about, **_columns(found)}


def claims(rows: Rows) -> tuple[Claim, ...]:
    """CW is less sure, of right predictions and even more so of wrong ones."""
    return tuple(_claim(rows, place, side) for place, side in enumerate(SIDES))


def _claim(rows: Rows, place: int, side: str) -> Claim:
    cw, maxent = ([_mean(rows, task, one, side) for task in _tasks(rows)] for one in (CW, MAXENT))
    lead = difference(maxent, cw)
    return Claim(
        text=f"CW gives a lower probability to {side} predictions than maxent.",
        theirs=f"{PAPER[CW][place]:.2f} against {PAPER[MAXENT][place]:.2f}",
        ours=f"{mean(cw).value:.2f} against {mean(maxent).value:.2f}, mean over sets",
        lead=lead.value,
        error=lead.error,
    )


ENTRY = Entry(
    name="multiclass-probabilities",
    title="Section 7: probabilities of right and wrong predictions",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="""
Models and folds as in figure 2: CW k=1 after seven passes with exact probabilities, maximum entropy
with its chosen prior. Sets of 3,000 rows have ten folds, others two. Enron B, on which the paper
has its figures, is not rebuilt; Amazon 10 stands in for it. Errors are those of the mean over sets.
""",
)
