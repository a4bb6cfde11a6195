"""Figure 1 of Dredze & Crammer 2008: two panels of curves, one of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.papers.active.savings import ACL, CW_MARGIN, EVERY, Needed, needed, of_tasks
from experiments.papers.active.tasks import ALL, CORPORA, SOME
from experiments.papers.charts import axes, label
from surelearn.plot.style import COLOURS, DPI, FONT, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from surelearn.active import Simulation

_HUES = {"random": GREY, "margin": COLOURS[0], "acl": COLOURS[1]}
_LINES = {"PA": "--", "CW": "-"}
_MARKERS = "os^D"


def draw(found: Mapping[str, Simulation], folder: Path) -> None:
    """Write figure1.png."""
    figure, (left, middle, right) = axes(3, size=(5.2, 5.0))
    _curves(left, found[SOME], "20 Newsgroups: mean of 3 tasks")
    _curves(middle, found[ALL], f"Mean of all {len(of_tasks(found))} tasks")
    _tasks(right, needed(found, 0.8))
    figure.savefig(folder / "figure1.png", dpi=DPI)


def _curves(ax: Axes, one: Simulation, title: str) -> None:
    """A line for each curve, with one standard error; thin black lines for all labels."""
    for (learner, strategy), name in EVERY.items():
        mean, error = (100 * of[learner, strategy] for of in (one.mean, one.error))
        hue = _HUES[strategy]
        shown = f"{name}  {mean[-1]:.1f} %"
        ax.plot(one.labels, mean, _LINES[learner], label=shown, color=hue, linewidth=1.4)
        ax.fill_between(one.labels, mean - error, mean + error, color=hue, alpha=0.15, linewidth=0)
    for learner, full in one.full.items():
        ax.axhline(100 * full.mean(), color="black", linewidth=0.8, linestyle=_LINES[learner])
    ax.set_ylim(bottom=60)
    ax.legend(
        loc="lower right", fontsize=FONT - 2, frameon=False, title=f"after {one.labels[-1]} labels"
    )
    label(ax, title, "Labels", "Accuracy on the fold held out (%)")


def _tasks(ax: Axes, lines: Needed) -> None:
    """A point for each task: labels relative to random order, for 80 % of the accuracy of all."""
    for place, tasks in enumerate(CORPORA.values()):
        for task, marker in zip(tasks, _MARKERS, strict=False):
            x, y = (100 * lines[task][pair].ratio for pair in (ACL, CW_MARGIN))
            dx, dy = (100 * lines[task][pair].ratio_error for pair in (ACL, CW_MARGIN))
            ax.errorbar(
                x, y, yerr=dy, xerr=dx, fmt=marker, label=task, color=COLOURS[place], linewidth=0.8
            )
    ax.plot([20, 125], [20, 125], color="black", linewidth=0.8)
    ax.legend(loc="lower right", fontsize=FONT - 3, frameon=False)
    title = "Labels for 80 %: above the line ACL needs fewer"
    label(ax, title, "ACL: labels in % of random order", "CW margin: labels in % of random order")
