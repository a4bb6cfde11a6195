"""Cross-validation with a parameter chosen in each fold; must not know tasks or learners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from experiments import sets
from experiments.papers.entry import Row

FOLDS = 10


def judged(made: Sequence[Any], data: sets.Rows, n_folds: int, *, runs: int = 1, **how: Any) -> Row:
    """Accuracy % in the first folds of ten, rows that are wrong, and which models were chosen.

    The model with the fewest errors on a fifth of the training rows, the first of equals, learns
    all of them. Each run cuts other folds; a row is wrong if it is in most runs. `how` is passed to
    `fit`.
    """
    X, y, groups = data
    accuracy, chosen = [], []
    missed = np.zeros(len(y))
    for run in range(runs):
        for learn, judge in islice(sets.folds(groups, FOLDS, run), n_folds):
            fit, held = sets.cut(learn, groups[learn], 0.2)
            tried = [clf.fit(X[fit], y[fit], **how).score(X[held], y[held]) for clf in made]
            chosen.append(int(np.argmax(tried)))
            best = made[chosen[-1]].fit(X[learn], y[learn], **how)
            wrong = best.predict(X[judge]) != y[judge]
            accuracy.append(100 * float(np.mean(~wrong)))
            missed[judge] += wrong
    places = np.flatnonzero(2 * missed > runs).tolist()
    return {"accuracy": accuracy, "wrong": places, "chosen": chosen}
