"""Rows of the entry made by hand: curves that rise to their accuracy after a number of labels."""

from __future__ import annotations

from experiments.papers.active.figure1 import unpacked
from experiments.papers.active.tasks import CRITERIA, TASKS

HELD, LABELS, RUNS = 100, list(range(2, 202)), 4
#: Labels until the mark is reached, by learner and strategy.
FAST = {
    "PA": {"random": 80, "margin": 72},
    "CW": {"random": 80, "margin": 48, "acl": 32},
}


def rise(reached: int, run: int, top: int = 90) -> list[int]:
    """Right predictions of a run: half of them before, nearly all after."""
    return [top if n >= reached + run else 50 for n in LABELS]


def rows(reached=FAST, of_task=None, wrong=0):
    """Rows of all tasks; `of_task` has other numbers for some."""
    found = []
    for task in TASKS:
        numbers = (of_task or {}).get(task, reached)
        for learner, strategies in numbers.items():
            found.append(
                {
                    "task": task,
                    "learner": learner,
                    "rows": 1000,
                    "pool": [1000 - HELD] * RUNS,
                    "labels": LABELS,
                    "full": [95 if learner == "CW" else 93] * RUNS,
                    "curves": {
                        how: [rise(n, run, 92 if learner == "CW" else 90) for run in range(RUNS)]
                        for how, n in strategies.items()
                    },
                }
            )
    return [*found, {"task": CRITERIA, "rows": 282, "wrong": wrong}]


def curves(reached=FAST, of_task=None):
    """The simulations of such rows."""
    return unpacked(rows(reached, of_task))
