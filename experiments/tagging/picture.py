"""The picture of the experiment; must not know how it was run."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import tables
from experiments.tagging.choose import Cell, Key, by_setting

#: Settings in the picture: colour (Okabe & Ito 2008), marker, label.
SHOWN: dict[Key, tuple[str, str, str]] = {
    ("SCW1(phi=1.0, C=1.0)", "yes", "precision"): ("#0072B2", "o", "SCW1, averaged (default)"),
    ("Variance(phi=1.0)", "yes", "precision"): ("#56B4E9", "v", "Variance, phi 1, averaged"),
    ("AROW(r=30.0)", "no", "precision"): ("#009E73", "^", "AROW, r 30, last weights"),
    ("AROW(r=30.0)", "yes", "precision"): ("#D55E00", "s", "AROW, r 30, averaged"),
    ("Probit(noise=10.0)", "yes", "precision"): ("#CC79A7", "P", "Probit, noise 10, averaged"),
    ("Perceptron()", "yes", "precision"): ("#555555", "D", "perceptron, averaged"),
}


def draw(to: Path) -> None:
    """Scores against passes, a panel for each task."""
    scores = by_setting(tables.lines(to.parent / "result.csv"))
    names = list(dict.fromkeys(name for name, _ in next(iter(scores.values()))))
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, (len(names) + 1) // 2, sharex=True)
    for ax, name in zip(axes.flat, names, strict=True):
        _panel(ax, name, scores)
    for ax in axes[-1]:
        ax.set_xlabel("Passes")
    for ax in axes[:, 0]:
        ax.set_ylabel("F1 of chunks or right tags, %")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(to, dpi=110)


def _panel(ax: Axes, name: str, scores: dict[Key, dict[Cell, float]]) -> None:
    for key, (colour, marker, label) in SHOWN.items():
        points = sorted((passes, s) for (task, passes), s in scores[key].items() if task == name)
        x, y = zip(*points, strict=True)
        ax.plot(x, y, color=colour, marker=marker, linewidth=1.8, label=label)
    ax.set(xscale="log")
    ax.set_xticks(x, [str(passes) for passes in x])
    ax.set_xticks([], minor=True)
    ax.set_title(name, loc="left", weight="bold", fontsize=11)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
