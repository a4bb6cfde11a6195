"""The lecture's four classes in the plane: one cannot be separated from the rest by a line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC

from experiments.papers.charts import axes, label
from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.statistics import difference, mean
from surelearn import MulticlassSVM, SoftmaxClassifier, SureClassifier
from surelearn.plot.style import COLOURS, DPI

RED, OTHERS = "red", ("a", "b", "c")
LEARNT, JUDGED = 50, 250
ONE, PAIRS, JOINT = "one-vs-all", "all pairs", "joint"

Learner = Callable[[], Any]


def _peers(binary: Any, joint: Learner) -> dict[str, Learner]:
    return {
        ONE: lambda: OneVsRestClassifier(binary),
        PAIRS: lambda: OneVsOneClassifier(binary),
        JOINT: joint,
    }


def _ours(rule: str) -> dict[str, Learner]:
    ways = {ONE: "ovr", PAIRS: "ovo", JOINT: "joint"}
    return {
        name: partial(SureClassifier, rule, multiclass=way, passes=20, random_state=0, scale=False)
        for name, way in ways.items()
    }


#: Binary learners, and what learns all classes together with the same loss.
LEARNERS: dict[str, dict[str, Learner]] = {
    "SVM": _peers(
        LinearSVC(loss="hinge", max_iter=100_000, random_state=0),
        partial(MulticlassSVM, random_state=0),
    ),
    "logistic": _peers(LogisticRegression(), SoftmaxClassifier),
    "perceptron": _ours("perceptron"),
    "AROW": _ours("arow"),
    "SCW-I": _ours("scw1"),
}


def points(n: int, random: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Four discs: red between three others, whose hull holds it; each pair has a gap."""
    angles = np.deg2rad([90, 210, 330])
    centres = np.array([(0, 0), *zip(2 * np.cos(angles), 2 * np.sin(angles), strict=True)])
    around = random.uniform(0, 2 * np.pi, size=(4, n))
    radius = 0.8 * np.sqrt(random.uniform(size=(4, n)))
    offsets = np.stack([radius * np.cos(around), radius * np.sin(around)], axis=-1)
    X = (centres[:, None] + offsets).reshape(-1, 2)
    return X, np.repeat([RED, *OTHERS], n)


def is_separable(X: NDArray[Any], positive: NDArray[Any]) -> bool:
    """Whether a line has all positive points on one side: a linear programme is feasible."""
    signs = np.where(positive, 1.0, -1.0)
    rows = -signs[:, None] * np.column_stack([X, np.ones(len(X))])
    found = linprog(np.zeros(3), rows, -np.ones(len(X)), bounds=(None, None))
    return bool(found.status == 0)


# --------------------------------------------------------------------------- cases


def cases(quick: bool) -> dict[str, Case]:
    """Each binary learner in three ways, on random draws; which classes a line can separate."""
    n = 5 if quick else 30
    learners = {name: partial(_learnt, name, n) for name in LEARNERS}
    return {"lines": partial(_lines, n), **learners}


def _drawn(run: int) -> tuple[NDArray[Any], NDArray[Any]]:
    return points(LEARNT, np.random.default_rng(run))


def _lines(n: int) -> Rows:
    """In how many runs red is separable from the rest, and every pair of classes."""
    rest = pairs = 0
    for run in range(n):
        X, y = _drawn(run)
        rest += is_separable(X, y == RED)
        both = [
            np.isin(y, (one, two)) for i, one in enumerate((RED, *OTHERS)) for two in OTHERS[i:]
        ]
        pairs += all(is_separable(X[kept], y[kept] == y[kept][0]) for kept in both)
    return [{"lines": n, "rest": rest, "pairs": pairs}]


def _learnt(name: str, n: int) -> Rows:
    """Accuracy of all points and of red ones in each run, in per cent."""
    return [
        {"learner": name, "way": way, **_judged(make, n)} for way, make in LEARNERS[name].items()
    ]


def _judged(make: Learner, n: int) -> Row:
    every, red = [], []
    for run in range(n):
        X, y = points(JUDGED, np.random.default_rng(10_000 + run))
        right = make().fit(*_drawn(run)).predict(X) == y
        every.append(100 * float(right.mean()))
        red.append(100 * float(right[y == RED].mean()))
    return {"all": every, "red": red}


# --------------------------------------------------------------------------- pages


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy by learner and way."""
    return {
        f"Accuracy in per cent, mean of {len(rows[-1]['all'])} runs": [
            {"learner": name, **_line(rows, name)} for name in LEARNERS
        ]
    }


def _line(rows: Rows, name: str) -> Row:
    mine = {row["way"]: row for row in rows if row.get("learner") == name}
    return {
        f"{way}{shown}": str(mean(mine[way][key]))
        for key, shown in (("red", ", red class"), ("all", ", all"))
        for way in (ONE, PAIRS, JOINT)
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Red cannot be separated from the rest; all pairs and joint learning do not need that."""
    lines, n = rows[0], rows[0]["lines"]
    return (
        Claim(
            text="A line cannot separate the red points from the rest.",
            theirs="cannot",
            ours=f"separable in {lines['rest']} of {n} runs",
            lead=1.0 if lines["rest"] == 0 else -1.0,
        ),
        Claim(
            text="Each pair of classes is linearly separable.",
            theirs="all",
            ours=f"all pairs in {lines['pairs']} of {n} runs",
            lead=1.0 if lines["pairs"] == n else -1.0,
        ),
        _better(rows, PAIRS, "All pairs are more expressive than one-vs-all: red is learnt."),
        _better(rows, JOINT, "One multi-class loss learns red where one-vs-all fails."),
    )


def _better(rows: Rows, way: str, text: str) -> Claim:
    red = {row["way"]: row["red"] for row in rows if row.get("learner") == "SVM"}
    lead = difference(red[way], red[ONE])
    return Claim(
        text=text,
        theirs="in the figure only",
        ours=f"{np.mean(red[way]):.1f} against {np.mean(red[ONE]):.1f} % of red points",
        lead=lead.value,
        error=lead.error,
        note="Linear SVM. How much one-vs-all loses depends on the loss: see the table.",
    )


def draw(rows: Rows, folder: Path) -> None:
    """Write four_classes.png: what the SVM predicts where, learnt in three ways."""
    figure, found = axes(3, size=(4.0, 4.6))
    X, y = _drawn(0)
    names = np.array([RED, *OTHERS])
    colours = [COLOURS[1], COLOURS[0], COLOURS[2], COLOURS[4]]
    ticks = np.linspace(-3.2, 3.2, 300)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    for ax, (way, make) in zip(found, LEARNERS["SVM"].items(), strict=True):
        guess = make().fit(X, y).predict(plane.reshape(-1, 2))
        areas = (guess[:, None] == names).argmax(axis=1).reshape(plane.shape[:2])
        levels = np.arange(5) - 0.5
        ax.contourf(ticks, ticks, areas, levels=levels, colors=colours, alpha=0.25)
        for name, colour in zip(names, colours, strict=True):
            ax.scatter(X[y == name, 0], X[y == name, 1], s=12, color=colour)
        ax.set_aspect("equal")
        label(ax, f"SVM, {way}", "", "")
    figure.savefig(folder / "four_classes.png", dpi=DPI)


NOTES = """
Red is a disc between three others; 50 points a class are learnt and 250 judged. SVM and logistic
regression are scikit-learn's, reduced by its `OneVsRestClassifier` and `OneVsOneClassifier`; their
joint forms are `MulticlassSVM` and `SoftmaxClassifier`. The others are `SureClassifier` with 20
passes. Nothing is tuned. The lecture shows its points in a figure only.

One-vs-all predicts the class of the largest score, so red can win where the scores of all others
are lower still. With the log loss and SCW-I that is so for nearly all red points, with the hinge of
the SVM and with AROW for somewhat more than half of them, with the perceptron for few.
"""

ENTRY = Entry(
    name="lecture-four-classes",
    title="Four classes where one-vs-all fails, and all pairs and joint learning do not",
    cases=cases,
    tables=tables,
    claims=claims,
    draw=draw,
    notes=NOTES,
)
