"""How curves of active learning are drawn; must not know how rows were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surelearn.plot.style import COLOURS, GREY, LINE, THIN, TINY, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

#: Line styles of learners; the last learner, which the others are compared with, gets the first.
_STYLES = ("-", "--", ":", "-.")
#: The baseline strategy, drawn in grey.
_RANDOM = "random"


def curves(
    simulation: Any, wanted: Sequence[tuple[str, str]] | None
) -> tuple[Any, dict[str, Array], dict[str, Array]]:
    """The numbers of labels, the smooth curves by name, and the accuracy with all labels."""
    for name in ("labels", "smooth", "full"):
        if not hasattr(simulation, name):
            raise TypeError(f"simulation must be a result of simulate, got {simulation!r}.")
    pairs = list(simulation.smooth) if wanted is None else [tuple(pair) for pair in wanted]
    for pair in pairs:
        if pair not in simulation.smooth:
            known = ", ".join(map(repr, simulation.smooth))
            raise ValueError(f"curves must be among {known}, got {pair!r}.")
    learners = {learner for learner, _ in pairs}
    full = {name: values for name, values in simulation.full.items() if name in learners}
    made = {f"{learner} {how}": simulation.smooth[learner, how] for learner, how in pairs}
    return simulation.labels, made, full


def check(accuracy: Mapping[str, Array], full: Mapping[str, Array]) -> None:
    """Check that the learner of every curve is in `full`, with the same number of runs."""
    for name, values in accuracy.items():
        learner = _learner(name, full)
        if full[learner].shape != (len(values),):
            raise ValueError(
                f"full[{learner!r}] must have shape ({len(values)},) for the runs of {name!r}, got "
                f"shape {full[learner].shape}."
            )


def _learner(name: str, full: Mapping[str, Array]) -> str:
    """The learner of a curve: the longest name in `full` that the curve's name starts with."""
    found = [learner for learner in full if name.startswith(f"{learner} ")]
    if not found:
        raise ValueError(f"full must have the learner of {name!r}, got {', '.join(full)}.")
    return max(found, key=len)


def looks(accuracy: Mapping[str, Array], full: Mapping[str, Array]) -> dict[str, dict[str, Any]]:
    """A colour for each strategy, a line style for each learner."""
    styles = _styles(full)
    colours = {_RANDOM: GREY}
    found = {}
    for name in accuracy:
        learner = _learner(name, full)
        strategy = name.removeprefix(f"{learner} ")
        if strategy not in colours:
            colours[strategy] = COLOURS[(len(colours) - 1) % len(COLOURS)]
        found[name] = {"color": colours[strategy], "linestyle": styles[learner]}
    return found


def _styles(full: Mapping[str, Array]) -> dict[str, str]:
    last_first = reversed(list(full))
    return {name: _STYLES[place % len(_STYLES)] for place, name in enumerate(last_first)}


def draw_curve(ax: Axes, labels: NDArray[np.int64], percent: Array, look: dict[str, Any]) -> None:
    """Draw the mean, and a band of one standard error on both sides."""
    mean = percent.mean(axis=0)
    ax.plot(labels, mean, linewidth=LINE, **look)
    if len(percent) > 1:
        error = percent.std(axis=0, ddof=1) / np.sqrt(len(percent))
        ax.fill_between(
            labels, mean - error, mean + error, color=look["color"], alpha=0.15, linewidth=0
        )


def draw_full(ax: Axes, full: Mapping[str, Array]) -> None:
    """Draw a thin line for each learner with all labels, named above the best, below the others."""
    styles = _styles(full)
    heights = {name: 100 * float(values.mean()) for name, values in full.items()}
    for place, name in enumerate(sorted(heights, key=lambda name: -heights[name])):
        ax.axhline(heights[name], color="black", linewidth=THIN, linestyle=styles[name])
        ax.annotate(
            f"{plain(name)}, all labels  {heights[name]:.1f} %",
            (0.01 + 0.3 * max(place - 1, 0), heights[name]),
            (0, -4 if place else 3),
            ("axes fraction", "data"),
            "offset points",
            fontsize=TINY,
            verticalalignment="top" if place else "bottom",
        )


def frame(ax: Axes, accuracy: Mapping[str, Array], full: Mapping[str, Array]) -> None:
    """Fit the axis to the lines, not to their bands, which are wide at the start."""
    lines = [values.mean(axis=0) for values in (*accuracy.values(), *full.values())]
    low, high = 100 * min(map(np.min, lines)), 100 * max(map(np.max, lines))
    ax.set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low) + 0.1)


def subtitle(n_runs: int) -> str:
    runs = "One run" if n_runs == 1 else f"Mean and standard error over {n_runs} runs"
    return f"{runs}, smoothed over nine tests; thin lines: all labels"
