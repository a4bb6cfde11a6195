"""The losses of the lecture beside each other, and the bound of the generalised hinge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.papers.charts import axes, label
from experiments.papers.entry import Case, Claim, Entry, Rows
from experiments.papers.lecture.identity import ROUNDING
from surelearn.decode import Chain
from surelearn.plot.style import DPI, FONT, look

Array = NDArray[np.float64]

ZERO_ONE, PERCEPTRON, HINGE, LOGISTIC, BITS = (
    "0-1", "perceptron", "hinge", "logistic", "logistic, in bits",
)  # fmt: skip
#: Of the margin of a row: y w.x with two classes.
LOSSES: dict[str, Callable[[Array], Array]] = {
    ZERO_ONE: lambda m: (m <= 0).astype(float),
    PERCEPTRON: lambda m: np.maximum(0, -m),
    HINGE: lambda m: np.maximum(0, 1 - m),
    LOGISTIC: lambda m: np.logaddexp(0, -m),
    BITS: lambda m: np.logaddexp(0, -m) / np.log(2),
}
MARGINS = np.linspace(-2, 2, 81)
SHOWN = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def cases(quick: bool) -> dict[str, Case]:
    """The losses of a margin, and generalised hinges of random classes and sequences."""
    n = 200 if quick else 5000
    return {
        "margins": _margins,
        "classes": partial(_bounds, "classes", n),
        "sequences": partial(_bounds, "sequences", n),
    }


def _margins() -> Rows:
    return [{"loss": name, "values": f(MARGINS).tolist()} for name, f in LOSSES.items()]


def _bounds(kind: str, n: int) -> Rows:
    """How far the hinge is above the cost of what is predicted: least, and where all scores tie."""
    random = np.random.default_rng(0)
    draw = {"classes": _classes, "sequences": _sequences}[kind]
    above = [draw(random, 1.0) for _ in range(n)]
    ties = [draw(random, 0.0) for _ in range(10)]
    return [{"kind": kind, "draws": n, "least": min(above), "tie": max(map(abs, ties))}]


def _classes(random: np.random.Generator, scale: float) -> float:
    """The generalised hinge (eq. 20) of a row with random costs, less the cost of its argmax."""
    scores, y = scale * random.normal(size=5), int(random.integers(5))
    cost = random.exponential(size=5)
    cost[y] = 0.0
    hinge = (cost - (scores[y] - scores)).max()
    worst_tie = cost.max() if scale == 0.0 else cost[scores.argmax()]
    return float(hinge - worst_tie)


def _sequences(random: np.random.Generator, scale: float) -> float:
    """The structured hinge (eq. 24) with the Hamming cost, less the cost of the argmax."""
    length, K = 6, 3
    chain = Chain(scale * random.normal(size=(length, K)), scale * random.normal(size=(K, K)))
    y = random.integers(K, size=length)
    worst = chain.augmented(y, cost=1 / length).best()
    hinge = np.mean(worst != y) + chain.score(worst) - chain.score(y)
    cost = 1.0 if scale == 0.0 else float(np.mean(chain.best() != y))
    return float(hinge - cost)


# --------------------------------------------------------------------------- pages


def _values(rows: Rows) -> dict[str, Array]:
    return {row["loss"]: np.array(row["values"]) for row in rows if "loss" in row}


def tables(rows: Rows) -> dict[str, Rows]:
    """Losses by margin, and the slack of the generalised hinge."""
    found = _values(rows)
    at = [int(np.abs(MARGINS - m).argmin()) for m in SHOWN]
    return {
        "Loss by margin": [
            {"loss": name, **{f"{MARGINS[i]:g}": f"{values[i] + 0.0:.3f}" for i in at}}
            for name, values in found.items()
        ],
        "Generalised hinge less the cost of the predicted output": [
            {
                "outputs": row["kind"],
                "draws": row["draws"],
                "least": f"{row['least']:.2g}",
                "where all scores tie": f"{row['tie']:.1g}",
            }
            for row in rows
            if "kind" in row
        ],
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """The hinge is a convex bound, and so is the generalised one."""
    found = _values(rows)
    bounds = {row["kind"]: row for row in rows if "kind" in row}
    least = float((found[HINGE] - found[ZERO_ONE]).min())
    bend = float(np.diff(found[HINGE], 2).min())
    return (
        Claim(
            text="The hinge is an upper bound of the 0-1 loss.",
            theirs="bound",
            ours=f"{least:.2g} or more above it",
            lead=1.0 if least >= -ROUNDING else -1.0,
        ),
        Claim(
            text="The hinge is convex.",
            theirs="convex",
            ours=f"second differences of {max(bend, 0.0):.2g} or more",
            lead=1.0 if bend > -ROUNDING else -1.0,
        ),
        *(_generalised(row) for row in bounds.values()),
    )


def _generalised(row: dict[str, Any]) -> Claim:
    return Claim(
        text=f"The generalised hinge of {row['kind']} is an upper bound of the cost.",
        theirs="bound",
        ours=f"{row['least']:.2g} or more above it in {row['draws']:,} draws",
        lead=1.0 if row["least"] >= -ROUNDING else -1.0,
        note="They are equal where all scores tie: see the table.",
    )


def draw(rows: Rows, folder: Path) -> None:
    """Write losses.png: loss by margin."""
    figure, (ax,) = axes(1)
    for place, (name, values) in enumerate(_values(rows).items()):
        (line,) = ax.plot(MARGINS, values, color=look(place)["color"], label=name)
        line.set_drawstyle("steps-pre" if name == ZERO_ONE else "default")
    label(ax, "Losses of two classes", "Margin y w.x", "Loss")
    ax.legend(frameon=False, fontsize=FONT - 2)
    figure.savefig(folder / "losses.png", dpi=DPI)


ENTRY = Entry(
    name="lecture-losses",
    title="The losses beside each other, and what bounds what",
    cases=cases,
    tables=tables,
    claims=claims,
    draw=draw,
    notes="The margin is y w.x. A margin of 0 counts as wrong. Random scores and costs for the "
    "generalised hinge; the cost of sequences is the share of wrong labels. The logistic loss "
    "bounds the 0-1 loss only in bits, and that of the perceptron does not.",
)
