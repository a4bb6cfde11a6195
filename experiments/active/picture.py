"""Figure 1 of the paper from result.csv and curves.csv: two panels of curves, one of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"random": "#555555", "margin": "#0072B2", "acl": "#D55E00"}
STYLES = {"PA": "--", "CW": "-"}
PANELS = {
    "20 Newsgroups, mean curve": "20 Newsgroups: mean of 3 tasks",
    "all tasks, mean curve": "Mean of all 10 tasks",
}
#: Points that are named to their left or below: others are near.
OFFSETS = {
    "science": (-40, 5),
    "talk": (-24, 5),
    "electronics": (-60, -11),
    "crude, trade": (4, -11),
}
Lines = Sequence[dict[str, str]]


def draw(folder: Path) -> None:
    """Write active.png beside the results."""
    result, curves = (tables.lines(folder / name) for name in ("result.csv", "curves.csv"))
    figure = Figure(figsize=(15, 5), layout="constrained")
    *left, right = figure.subplots(1, 3)
    for ax, (task, title) in zip(left, PANELS.items(), strict=True):
        mine = [line for line in result if line["task"] == task]
        _curves(ax, [line for line in curves if line["task"] == task], mine)
        _quiet(ax, title)
    _tasks(right, result)
    figure.savefig(folder / "active.png", dpi=110)


def _curves(ax: Axes, curves: Lines, result: Lines) -> None:
    """A line for each curve, with one standard error; thin lines for all labels."""
    ends = {(line["learner"], line["strategy"]): line for line in result}
    for (learner, strategy), line in ends.items():
        mine = [x for x in curves if (x["learner"], x["strategy"]) == (learner, strategy)]
        labels, mean, error = (
            np.array([float(x[name]) for x in mine]) for name in ("labels", "accuracy", "error")
        )
        look: dict[str, Any] = {"color": COLOURS[strategy]}
        name = f"{learner} {strategy}  {100 * float(line['accuracy at the end']):.1f} %"
        ax.plot(labels, 100 * mean, label=name, linestyle=STYLES[learner], linewidth=1.6, **look)
        ax.fill_between(
            labels, 100 * (mean - error), 100 * (mean + error), alpha=0.15, linewidth=0, **look
        )
        full = 100 * float(line["accuracy of all"])
        ax.axhline(full, color="black", linewidth=0.8, linestyle=STYLES[learner])
    ax.set_ylim(bottom=60)
    ax.legend(loc="lower right", fontsize=9, frameon=False, title="after 500 labels")
    ax.set_xlabel("Labels")
    ax.set_ylabel("Accuracy on the fold held out (%)")


def _tasks(ax: Axes, result: Lines) -> None:
    """A point for each task: labels relative to random order, for 80 % of the accuracy of all."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line in result:
        if line["learner"] == "CW" and line["share"] == "0.8" and "mean curve" not in line["task"]:
            found.setdefault(line["task"], {})[line["strategy"]] = line
    for task, lines in found.items():
        x, y = (100 * float(lines[how]["to random"]) for how in ("acl", "margin"))
        dx, dy = (100 * float(lines[how]["to random, error"]) for how in ("acl", "margin"))
        ax.errorbar(x, y, yerr=dy, xerr=dx, fmt="o", color="#0072B2", alpha=0.7, linewidth=0.8)
        offset = OFFSETS.get(task, (5, 4))
        ax.annotate(task, (x, y), offset, textcoords="offset points", fontsize=8)
    ax.plot([20, 125], [20, 125], color="black", linewidth=0.8)
    ax.set_xlabel("ACL: labels in % of random order")
    ax.set_ylabel("CW margin: labels in % of random order")
    _quiet(ax, "Labels for 80 %: above the line ACL needs fewer")


def _quiet(ax: Axes, title: str) -> None:
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    ax.grid(color="#DDDDDD", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
