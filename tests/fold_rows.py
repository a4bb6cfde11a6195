"""Rows as `learners.found` makes them, by hand."""

from __future__ import annotations

import numpy as np

from experiments.papers.entry import Row, Rows
from experiments.papers.multiclass.results import packed

N = 1000


def folds(task: str, learner: str, accuracy: float, *, passes: int = 3, n_folds: int = 3) -> Rows:
    """Folds near an accuracy; every pass has half a point more than the one before."""
    return [_row(task, learner, accuracy + 0.1 * fold, passes, fold) for fold in range(n_folds)]


def _row(task: str, learner: str, accuracy: float, passes: int, fold: int) -> Row:
    right = np.arange(N) < 10 * accuracy
    return {
        "task": task,
        "learner": learner,
        "fold": fold,
        "value": 1.0,
        "passes": passes,
        "curve": [accuracy + 0.5 * (at - passes) for at in range(1, 11)],
        "accuracy": accuracy,
        "n": N,
        "right": packed(right),
    }
