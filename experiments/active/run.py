"""Asking with confidence, in the setting of Dredze & Crammer 2008: README.md.

Writes result.csv, curves.csv and active.png beside this file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.active.picture import draw
from experiments.active.tasks import NEWSGROUPS, TASKS, Task
from surelearn import SureClassifier
from surelearn.active import Simulation, simulate
from surelearn.rules import PA1, Variance

FOLDS, LABELS = 10, 500
SHARES = (0.8, 0.9, 0.95)
#: Curves that are the mean of several tasks.
MEANS = {"20 Newsgroups, mean curve": NEWSGROUPS, "all tasks, mean curve": tuple(TASKS)}
HERE = Path(__file__).parent


def simulated(task: Task, n_folds: int = FOLDS, n_labels: int = LABELS) -> Simulation:
    """The paper's learners and strategies: PA (C = 1) and CW (phi = 1), each label learnt once."""
    return simulate(
        task.X,
        task.y,
        learners={"PA": SureClassifier(PA1(C=1.0)), "CW": SureClassifier(Variance(phi=1.0))},
        passes=1,
        n_labels=n_labels,
        n_folds=n_folds,
        groups=task.groups,
        random_state=0,
        n_jobs=1,
    )


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


def lines(task: str, found: Simulation) -> Iterator[dict[str, Any]]:
    """A line for each curve and share."""
    error = found.error
    for share in SHARES:
        to_margin = {one[:2]: one for one in found.labels_needed(share, against="margin")}
        for one in found.labels_needed(share):
            pair = one.learner, one.strategy
            full = found.full[one.learner]
            yield {
                "task": task,
                "learner": one.learner,
                "strategy": one.strategy,
                "labels at the end": int(found.labels[-1]),
                "accuracy at the end": f"{found.mean[pair][-1]:.4f}",
                "its error": f"{error[pair][-1]:.4f}",
                "accuracy of all": f"{full.mean():.4f}",
                "share": share,
                "labels": f"{one.labels:g}",
                "error": f"{one.error:.2f}",
                "to random": f"{one.ratio:.4f}",
                "to random, error": f"{one.ratio_error:.4f}",
                "to margin": f"{to_margin[pair].ratio:.4f}",
                "to margin, error": f"{to_margin[pair].ratio_error:.4f}",
            }


def points(task: str, found: Simulation) -> Iterator[dict[str, Any]]:
    """Every fifth point of the mean curves, for the picture."""
    for (learner, strategy), mean in found.mean.items():
        error = found.error[learner, strategy]
        for place in range(0, len(mean), 5):
            yield {
                "task": task,
                "learner": learner,
                "strategy": strategy,
                "labels": found.labels[place],
                "accuracy": f"{mean[place]:.4f}",
                "error": f"{error[place]:.4f}",
            }


def write(name: str, found: list[dict[str, Any]]) -> None:
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, found[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def main() -> None:
    found: dict[str, Simulation] = {}
    for name, make in TASKS.items():
        found[name] = simulated(make())
        print(f"{name}\n{found[name]}\n", flush=True)
    for name, tasks in MEANS.items():
        found[name] = averaged([found[task] for task in tasks])
        print(f"{name}\n{found[name]}\n", flush=True)
    write("result.csv", [line for name, one in found.items() for line in lines(name, one)])
    write("curves.csv", [line for name in MEANS for line in points(name, found[name])])
    draw(HERE)


if __name__ == "__main__":
    main()
