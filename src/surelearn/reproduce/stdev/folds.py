"""Cross-validation with a parameter chosen in each fold; must not know tasks or learners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from surelearn.reproduce import sets
from surelearn.reproduce.entry import Row

FOLDS = 10


def judged(made: Sequence[Any], data: sets.Rows, n_folds: int) -> Row:
    """Accuracy % in the first folds of ten, rows that are wrong, and which models were chosen.

    The model with the fewest errors on a fifth of the training rows, the first of equals, learns
    all of them.
    """
    X, y, groups = data
    accuracy, wrong, chosen = [], [], []
    for learn, judge in islice(sets.folds(groups, FOLDS), n_folds):
        fit, held = sets.cut(learn, groups[learn], 0.2)
        tried = [clf.fit(X[fit], y[fit]).score(X[held], y[held]) for clf in made]
        chosen.append(int(np.argmax(tried)))
        missed = made[chosen[-1]].fit(X[learn], y[learn]).predict(X[judge]) != y[judge]
        accuracy.append(100 * float(np.mean(~missed)))
        wrong += judge[missed].tolist()
    return {"accuracy": accuracy, "wrong": sorted(wrong), "chosen": chosen}
