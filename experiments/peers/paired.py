"""The difference of two learners that judge the same rows; knows neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Lead(NamedTuple):
    """Points of accuracy, and the standard error of them over rows and over folds."""

    points: float
    over_rows: float
    over_folds: float


def lead(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> Lead:
    """By how much we lead; 1 for a row that is right and 0 for one that is not, fold by fold."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    every, means = np.concatenate(differences), np.array([d.mean() for d in differences])
    over_rows = every.std(ddof=1) / np.sqrt(len(every))
    over_folds = means.std(ddof=1) / np.sqrt(len(means))
    return Lead(*(100 * float(figure) for figure in (every.mean(), over_rows, over_folds)))
