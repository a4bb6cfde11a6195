"""The picture of the choice: what each value of a rule's parameter loses; must not choose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.defaults.choose import Choice
from experiments.defaults.grid import GRID, PASSES, Setting
from experiments.defaults.parts import DENSE, SPARSE

# Okabe & Ito 2008: told apart with any kind of colour vision.
COLOURS = {1: "#E69F00", 3: "#0072B2", 10: "#000000"}
#: Sets of one kind, the projection shown and how its line is drawn.
KINDS = {"texts": (SPARSE, "precision", "-"), "dense": (DENSE, "covariance", ":")}
LOST = 12  # points at the end of the axis


def draw(choice: Choice, to: Path) -> None:
    """One panel for each rule with one parameter: points below the best of all settings."""
    shown = [rule for rule, values in GRID.items() if len(values) == 1]
    figure = Figure(figsize=(12, 6), layout="constrained")
    panels = figure.subplots(2, len(shown) // 2, sharey=True)
    for panel, rule in zip(panels.flat, shown, strict=True):
        _panel(panel, choice, rule)
    for panel in panels[:, 0]:
        panel.set_ylabel("points below the best, mean of sets")
    lines, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=len(lines), frameon=False)
    figure.savefig(to, dpi=100)


def _panel(panel: Axes, choice: Choice, rule: type) -> None:
    ((name, values),) = GRID[rule].items()
    for kind, (names, projection, dashes) in KINDS.items():
        for column, passes in enumerate(PASSES):
            lost = [
                _lost(choice, rule(**{name: value}), projection, names=names, column=column)
                for value in values
            ]
            label = f"{kind}, {passes} pass{'es' if passes > 1 else ''}"
            panel.plot(values, lost, dashes, color=COLOURS[passes], marker=".", label=label)
    panel.set(xscale="log", ylim=(LOST, 0), title=rule.__name__, xlabel=name)
    panel.grid(color="#DDDDDD", linewidth=0.5)


def _lost(
    choice: Choice, rule: object, projection: str, *, names: tuple[str, ...], column: int
) -> float:
    """Mean of what is lost to the best setting of each set; not a number after a collapse."""
    where = "auto" if rule.first_order else projection
    row = choice.every.index(Setting(rule, where, False))
    tables = [choice.sets[name].accuracy for name in names]
    return 100 * float(np.mean([np.nanmax(table) - table[row, column] for table in tables]))
