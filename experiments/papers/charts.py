"""Charts that several entries draw: curves and bars; must not know what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surelearn.plot.style import DPI, FONT, blank, look, plain, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: With so many points or fewer, each has a tick.
FEW = 6


class Curve(NamedTuple):
    """Points of a line, with one standard error each where there is one."""

    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    style: str = "-"


class Panel(NamedTuple):
    """One chart of a picture: curves by name, and the words at its axes."""

    title: str
    x: str
    y: str
    curves: Mapping[str, Curve]


def axes(n: int, *, size: tuple[float, float] = (5.0, 4.0)) -> tuple[Any, list[Axes]]:
    """A figure, and its panels side by side, at most three in a row."""
    columns = min(n, 3)
    rows = -(-n // columns)
    figure = blank("experiments.papers", (columns * size[0], rows * size[1]))
    found = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in found[n:]:
        spare.set_visible(False)
    for ax in found[:n]:
        quiet(ax)
    return figure, found[:n]


def label(ax: Axes, title: str, x: str, y: str) -> None:
    """Write title and names of the axes."""
    ax.set_title(plain(title), loc="left", fontsize=FONT, fontweight="bold")
    ax.set_xlabel(plain(x), fontsize=FONT)
    ax.set_ylabel(plain(y), fontsize=FONT)


def tick(ax: Axes, points: Iterable[float]) -> None:
    """Mark each point of the x axis, if they are few."""
    marked = sorted(points)
    if len(marked) <= FEW:
        ax.set_xticks(marked, [f"{x:g}" for x in marked])
        ax.set_xticks([], minor=True)


def draw_curves(panels: Sequence[Panel], path: Path) -> None:
    """Panels of curves side by side; a name has one colour in all of them."""
    figure, found = axes(len(panels))
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    for ax, panel in zip(found, panels, strict=True):
        for name, curve in panel.curves.items():
            marks = {**look(names.index(name)), "markersize": 4, "linestyle": curve.style}
            ax.plot(curve.x, curve.y, label=plain(name), **marks)
            if curve.error is not None:
                low, high = zip(
                    *((y - e, y + e) for y, e in zip(curve.y, curve.error, strict=True)),
                    strict=True,
                )
                ax.fill_between(curve.x, low, high, color=marks["color"], alpha=0.15, linewidth=0)
        tick(ax, {x for curve in panel.curves.values() for x in curve.x})
        label(ax, panel.title, panel.x, panel.y)
    if len(panels) == 1:  # below the axes, where no curve is
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=FONT - 2)
    else:
        found[0].legend(frameon=False, fontsize=FONT - 2)
    figure.savefig(path, dpi=DPI)


def draw_bars(
    groups: Sequence[str],
    bars: Mapping[str, Sequence[float]],
    path: Path,
    *,
    title: str,
    y: str,
    errors: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Groups of bars side by side: one bar of a group for each name; `errors` are their marks."""
    figure, (ax,) = axes(1, size=(max(5.0, 0.35 * len(groups) * len(bars) + 2), 4.0))
    width = 0.8 / len(bars)
    for place, (name, values) in enumerate(bars.items()):
        x = [group + (place - (len(bars) - 1) / 2) * width for group in range(len(groups))]
        marks = None if errors is None else errors[name]
        ax.bar(x, values, width, label=plain(name), color=look(place)["color"], yerr=marks)
    ax.set_xticks(range(len(groups)), [plain(group) for group in groups], rotation=20, ha="right")
    label(ax, title, "", y)
    ax.legend(frameon=False, fontsize=FONT - 2)
    figure.savefig(path, dpi=DPI)
