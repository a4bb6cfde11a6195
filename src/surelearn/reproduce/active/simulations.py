"""Simulations of the paper's learners as rows, and back; must not know what is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from surelearn import SureClassifier
from surelearn.active import Simulation, scores, simulate
from surelearn.reproduce.active.tasks import CORPORA, TASKS
from surelearn.reproduce.entry import Case, Row, Rows
from surelearn.rules import PA1, Variance

FOLDS = 10
#: The paper's learners, PA (C = 1) and CW (phi = 1), and how they ask; each label is learnt once.
LEARNERS = {"PA": PA1(C=1.0), "CW": Variance(phi=1.0)}
STRATEGIES = {"PA": ("random", "margin"), "CW": ("random", "margin", "acl")}
#: Curves that are the mean of several tasks.
SOME, ALL = "20 Newsgroups, mean curve", "all tasks, mean curve"
CRITERIA = "criteria"


def cases(quick: bool) -> dict[str, Case]:
    """A learner on a task, with all its ways to ask; and the two forms of the paper's criterion."""
    size = {"n_runs": 3, "n_labels": 200} if quick else {"n_runs": FOLDS, "n_labels": 500}
    found: dict[str, Case] = {
        f"{task}: {learner}": partial(_simulated, task, learner, **size)
        for task in TASKS
        for learner in LEARNERS
    }
    return {**found, CRITERIA: _criteria}


def _simulated(task: str, learner: str, *, n_runs: int, n_labels: int) -> Rows:
    X, y, groups = TASKS[task]()
    found = simulate(
        X,
        y,
        learners={learner: SureClassifier(LEARNERS[learner])},
        strategies=STRATEGIES[learner],
        passes=1,
        n_labels=n_labels,
        n_folds=FOLDS,
        n_runs=n_runs,
        groups=groups,
        random_state=0,
        n_jobs=1,
    )
    return [packed(found, task=task, learner=learner, n_rows=len(y))]


def _criteria() -> Rows:
    """Rows that the two forms of the criterion put in another order, on a task half learnt."""
    X, y, _ = TASKS["money-fx, interest"]()
    model = SureClassifier(LEARNERS["CW"], passes=1, random_state=0).fit(X[::2], y[::2])
    mean, variance = model.margin(X[1::2])
    probability = np.abs(ndtr(mean / np.sqrt(variance)) - 0.5).ravel()
    order = np.argsort(scores(model, X[1::2], "acl"), kind="stable")
    wrong = np.diff(probability[order]) < -1e-12
    return [{"task": CRITERIA, "rows": len(order), "wrong": int(wrong.sum())}]


# ------------------------------------------------------------------------ as rows


def packed(found: Simulation, *, task: str, learner: str, n_rows: int) -> Row:
    """The curves of a learner as numbers of right predictions."""
    held = n_rows - found.pool
    return {
        "task": task,
        "learner": learner,
        "rows": n_rows,
        "pool": found.pool.tolist(),
        "labels": found.labels.tolist(),
        "full": _counts(found.full[learner], held),
        "curves": {
            strategy: _counts(curve, held[:, None]) for (_, strategy), curve in found.curves.items()
        },
    }


def _counts(shares: NDArray[Any], held: NDArray[Any]) -> Any:
    return np.rint(shares * held).astype(int).tolist()


def unpacked(rows: Rows) -> dict[str, Simulation]:
    """The simulation of each task with both learners, then the means over tasks."""
    tasks = dict.fromkeys(row["task"] for row in rows if row["task"] != CRITERIA)
    found = {task: _joined([row for row in rows if row["task"] == task]) for task in tasks}
    return {**found, SOME: of_corpus(found, "20 Newsgroups"), ALL: averaged(list(found.values()))}


def _joined(rows: Rows) -> Simulation:
    held = rows[0]["rows"] - np.array(rows[0]["pool"])
    curves = {
        (row["learner"], strategy): np.array(right) / held[:, None]
        for row in rows
        for strategy, right in row["curves"].items()
    }
    full = {row["learner"]: np.array(row["full"]) / held for row in rows}
    return Simulation(rows[0]["labels"], curves, full, pool=rows[0]["pool"])


def of_corpus(found: Mapping[str, Simulation], corpus: str) -> Simulation:
    """The mean of its tasks."""
    return averaged([found[task] for task in CORPORA[corpus] if task in found])


def averaged(found: Sequence[Simulation]) -> Simulation:
    """The mean of several tasks: its run r is the mean of their runs r."""
    last = min(one.labels[-1] for one in found)
    labels = found[0].labels[found[0].labels <= last]
    curves = {
        pair: np.mean([one.curves[pair][:, : len(labels)] for one in found], axis=0)
        for pair in found[0].curves
    }
    full = {name: np.mean([one.full[name] for one in found], axis=0) for name in found[0].full}
    pool = np.rint(np.mean([one.pool for one in found], axis=0)).astype(int)
    return Simulation(labels, curves, full, pool=pool)
