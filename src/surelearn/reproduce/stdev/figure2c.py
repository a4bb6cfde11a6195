"""Figure 2 (c): diagonal Stdev against diagonal Variance on the tasks of the Variance paper."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surelearn import SureClassifier, rules
from surelearn.plot.style import DPI, FONT, look
from surelearn.reproduce.charts import axes, label
from surelearn.reproduce.entry import Case, Claim, Entry, Row, Rows
from surelearn.reproduce.statistics import Mean, difference, mcnemar, mean
from surelearn.reproduce.variance import tasks
from surelearn.reproduce.variance.learners import LEARNERS, PHI, Learner, judged

if TYPE_CHECKING:
    from surelearn.evaluation import Comparison

STDEV, VARIANCE = "Stdev", "Variance"


def _stdev(phi: float) -> SureClassifier:
    """With the diagonal of (15)."""
    return SureClassifier(rules.Stdev(phi=phi), fit_intercept=False)


BOTH = {STDEV: Learner(_stdev, PHI), VARIANCE: LEARNERS[VARIANCE]}

#: Tasks by kind, as in the paper's picture.
GROUPS = {
    "Reuters stand-ins": tuple(tasks.STAND_INS),
    "Sentiment": tasks.SENTIMENT,
    "20 Newsgroups": ("comp", "sci", "talk"),
}


def _run(task: str, learner: str, n_folds: int) -> Rows:
    return [{"task": task, "learner": learner, **judged(BOTH[learner], tasks.task(task), n_folds)}]


def cases(quick: bool) -> dict[str, Case]:
    """Both learners on every task, in the same folds."""
    names, n_folds = (tasks.QUICK, 4) if quick else (tuple(tasks.TASKS), 10)
    return {
        f"{task}; {learner}": partial(_run, task, learner, n_folds)
        for task in names
        for learner in BOTH
    }


class Pair(NamedTuple):
    """Both learners on a task."""

    stdev: Row
    variance: Row

    @property
    def lead(self) -> Mean:
        """By how many points Stdev is more accurate, over the same folds."""
        return difference(self.variance["errors"][-1], self.stdev["errors"][-1])

    @property
    def test(self) -> Comparison:
        """McNemar's test over the rows of all folds."""
        stdev, variance = (~np.isin(np.arange(row["rows"]), row["wrong"]) for row in self)
        return mcnemar(stdev, variance, (STDEV, VARIANCE))

    @property
    def accuracies(self) -> tuple[float, float]:
        """Percent, of Stdev and of Variance."""
        stdev, variance = (100 - mean(row["errors"][-1]).value for row in self)
        return stdev, variance


def _pairs(rows: Rows) -> dict[str, Pair]:
    found = {(row["task"], row["learner"]): row for row in rows}
    names = dict.fromkeys(task for task, _ in found)
    return {task: Pair(found[task, STDEV], found[task, VARIANCE]) for task in names}


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy of both, the lead of Stdev over folds, and McNemar's test."""
    return {
        "Accuracy (%), after five passes": [
            {
                "task": tasks.shown(task),
                "rows": pair.stdev["rows"],
                STDEV: f"{pair.accuracies[0]:.2f}",
                VARIANCE: f"{pair.accuracies[1]:.2f}",
                "lead of Stdev": str(pair.lead),
                "p": f"{pair.test.p_value:.2g}",
                "phi of Stdev": _listed(pair.stdev["parameters"]),
                "phi of Variance": _listed(pair.variance["parameters"]),
            }
            for task, pair in _pairs(rows).items()
        ]
    }


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Stdev improves on most tasks, and on none significantly."""
    pairs = _pairs(rows).values()
    tests = [pair.test for pair in pairs]
    won = [test for test in tests if test.difference > 0]
    improved = sum(test.p_value < 0.05 for test in won)
    worse = sum(test.p_value < 0.05 for test in tests) - improved
    lead = mean([pair.lead.value for pair in pairs])
    return (
        Claim(
            text="CW-Stdev is more accurate than CW-Var on most text tasks.",
            theirs="on 8 of 12",
            ours=f"on {len(won)} of {len(tests)}; {lead.value:+.2f} points on average",
            lead=lead.value,
            error=lead.error,
            note="The error is over tasks.",
        ),
        Claim(
            text="Its improvements are not significant.",
            theirs="none",
            ours=f"{improved} of {len(won)} at p < .05",
            lead=-float(improved) if improved else 1.0,
            note=f"CW-Var is better at p < .05 on {worse} of {len(tests)} tasks.",
        ),
    )


def draw(rows: Rows, folder: Path) -> None:
    """Accuracy against accuracy: Stdev is better above the line."""
    figure, (ax,) = axes(1, size=(5.5, 5.0))
    for place, (name, group) in enumerate(GROUPS.items()):
        found = [pair.accuracies for task, pair in _pairs(rows).items() if task in group]
        y, x = zip(*found, strict=True)
        style = look(place)
        ax.scatter(x, y, 40, color=style["color"], marker=style["marker"], label=name)
    ax.axline((90, 90), slope=1, color="black", linewidth=1)
    ax.set_aspect("equal", "datalim")
    ax.legend(frameon=False, fontsize=FONT - 1)
    label(ax, "(c) Text: Stdev is better above the line", "Variance, accuracy (%)",
          "Stdev, accuracy (%)")  # fmt: skip
    figure.savefig(folder / "figure2c.png", dpi=DPI)


NOTES = """
The twelve tasks of the Variance paper, as `variance-table2` has them: three pairs of 20 Newsgroups,
six Amazon domains, and three pairs of topics of Reuters-21578 that stand in for RCV1, which is not
open. Both learners have the diagonal of (15), no intercept, five passes, the same ten folds
(`--quick`: four tasks, four folds) and the same grid of phi. The value is chosen for each half of
the folds by cross-validation over the rows of the other half. p is that of McNemar's exact test
over the rows of all folds. The paper's accuracies are in a plot only.
"""

ENTRY = Entry(
    name="stdev-figure2c",
    title="Figure 2 (c): Stdev against Variance on text",
    cases=cases,
    tables=tables,
    claims=claims,
    draw=draw,
    notes=NOTES,
)
