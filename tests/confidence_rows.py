"""Rows as `confidence.measured` makes them, by hand."""

from __future__ import annotations

from experiments.papers.entry import Row, Rows
from experiments.papers.multiclass.confidence import CW, MAXENT, PASSES


def confident(task: str, *, cw: float = 0.75, maxent: float = 0.83) -> Rows:
    """Three folds of a hundred rows; CW gets surer and better with passes."""
    rows = []
    for fold in range(3):
        for at in range(1, PASSES + 1):
            sure = 4 * at + fold
            rows.append(_row(task, fold, CW, at, (60 - 8 * at, sure), (20 - at, at // 4), cw))
        rows.append(_row(task, fold, MAXENT, 0, (2 + fold, 40), (2 + fold, 5), maxent))
    return rows


def _row(
    task: str,
    fold: int,
    model: str,
    passes: int,
    counts: tuple[int, int],
    wrong: tuple[int, int],
    probability: float,
) -> Row:
    """Rows below 0.3, at 0.9 and above, and all others at 0.5, of which four are wrong."""
    low, high = max(counts[0], wrong[0]), counts[1]
    count = [0, low, 0, 0, 0, 100 - low - high, 0, 0, 0, high]
    middles = [0.05 + place / 10 for place in range(10)]
    return {
        "task": task,
        "fold": fold,
        "model": model,
        "passes": passes,
        "count": count,
        "wrong": [0, wrong[0], 0, 0, 0, 4 + 6 * (model == MAXENT), 0, 0, 0, wrong[1]],
        "probability": [n * middle for n, middle in zip(count, middles, strict=True)],
        "entropy": 0.3 if model == MAXENT else 0.9 - 0.05 * passes + 0.001 * fold,
        "right_probability": probability,
        "wrong_probability": probability - 0.3,
    }
