"""Mean accuracy after every one of ten passes, on the part to choose on: passes.csv.

The grid looks after 1, 3 and 10 only; this fills the gap for the rules that serve best.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from experiments.defaults.grid import PASSES, Setting, name_of
from experiments.defaults.parts import EVERY, SPARSE, Part, Task
from surelearn import rules

SHOWN = [
    *(rules.Probit(noise=noise) for noise in (0.1, 0.3, 1)),
    rules.SCW2(phi=3, C=0.3),
    rules.AROW(r=1),
]


def path(rule: rules.Rule, task: Task) -> list[float]:
    """Accuracy after each pass."""
    clf = Setting(rule, "auto", False).model()
    X, y = task.judge
    return [
        float(np.mean(clf.partial_fit(*rows, classes=task.classes).predict(X) == y))
        for rows in task.passes
    ]


def paths(name: str) -> np.ndarray:
    """Mean over the folds of one set, of shape (rules, passes)."""
    return np.mean([[path(rule, task) for rule in SHOWN] for task in Part(name).choosing()], axis=0)


def main() -> None:
    found = {name: paths(name) for name in EVERY}
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scope", "rule", *range(1, max(PASSES) + 1)])
        for scope, names in {"all": EVERY, "text": SPARSE}.items():
            mean = np.mean([found[name] for name in names], axis=0)
            for rule, line in zip(SHOWN, mean, strict=True):
                writer.writerow([scope, name_of(rule), *(f"{100 * x:.2f}" for x in line)])


if __name__ == "__main__":
    main()
