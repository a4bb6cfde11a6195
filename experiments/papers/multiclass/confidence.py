"""How sure CW and maximum entropy are on folds of a task; must not know tables."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from experiments.papers.entry import Row, Rows
from experiments.papers.multiclass.learners import (
    ONLINE,
    choice,
    fitted,
    online,
    softmax,
    trained,
)
from experiments.papers.multiclass.tasks import Places, Task, load, splits
from surelearn.probability import reliability

PASSES = 7
CW, MAXENT = "CW", "maxent"


@cache
def measured(name: str, quick: bool) -> Rows:
    """A row for each fold of CW k=1 after each pass, and of maximum entropy."""
    task = load(name, quick)
    phi, prior = (choice(name, one, quick).value for one in ("CW k=1", "maxent, ours"))
    rows = []
    n_folds = 10 if len(task.y) <= 3000 and not quick else 2
    for fold, split in enumerate(splits(task, n_folds)):
        learn = np.concatenate([split.learn, split.choose])
        about = {"task": name, "fold": fold}
        model = online(ONLINE["CW k=1"], phi)
        for at, one in enumerate(trained(model, task, learn, passes=PASSES, seed=fold), 1):
            rows.append({**about, "model": CW, "passes": at, **_measures(one, task, split.judge)})
        peer = fitted(softmax(prior), task, learn)
        rows.append({**about, "model": MAXENT, "passes": 0, **_measures(peer, task, split.judge)})
    return rows


def _measures(model: Any, task: Task, judge: Places) -> Row:
    # A class of a few rows may be missing from the training rows: no model has a probability of it.
    judge = judge[np.isin(task.y[judge], model.classes_)]
    found = reliability(task.y[judge], model.predict_proba(task.X[judge]), model.classes_)
    return {
        "count": found.count.tolist(),
        "wrong": np.rint(found.error_share * len(judge)).astype(int).tolist(),
        "probability": (found.count * np.nan_to_num(found.mean_probability)).tolist(),
        "entropy": found.entropy,
        "right_probability": found.right_probability,
        "wrong_probability": found.wrong_probability,
    }


def of(rows: Rows, task: str, model: str, passes: int = 0) -> Rows:
    """The folds of a model after so many passes."""
    wanted = (task, model, passes)
    return [row for row in rows if (row["task"], row["model"], row["passes"]) == wanted]


def pooled(folds: Rows) -> SimpleNamespace:
    """All folds as one, as `ReliabilityDisplay` takes it."""
    count, wrong, probability = (
        np.sum([row[part] for row in folds], axis=0) for part in ("count", "wrong", "probability")
    )
    some = np.where(count > 0, count, np.nan)
    means = {
        part: float(np.nanmean([row[part] for row in folds]))
        for part in ("entropy", "right_probability", "wrong_probability")
    }
    return SimpleNamespace(
        edges=np.arange(len(count) + 1) / len(count),
        count=count,
        mean_probability=probability / some,
        error_share=wrong / count.sum(),
        conditional_error=wrong / some,
        error=wrong.sum() / count.sum(),
        **means,
    )
