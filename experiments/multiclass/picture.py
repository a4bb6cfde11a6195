"""The picture of the experiment; must not know how it was run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Forms in the picture: the decoding shown, colour (Okabe & Ito 2008), marker, label.
FORMS = {
    "joint": ("scores", "#0072B2", "o", "joint"),
    "one-vs-rest": ("scores", "#D55E00", "s", "one-vs-rest"),
    "all pairs": ("votes", "#009E73", "^", "all pairs"),
    "code": ("hinge loss", "#CC79A7", "D", "code"),
    "digits of the class number": ("hinge loss", "#555555", "v", "digits of the number"),
    "regression on the class number": ("rounded", "#000000", "x", "regression"),
}
SETS = ("20 Newsgroups", "Reuters R52")


def draw(lines: Sequence[dict[str, Any]], rule: str, to: Path) -> None:
    """Errors above, seconds below, against the number of classes."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(2, len(SETS), sharex="col", sharey="row")
    for column, name in enumerate(SETS):
        mine = [line for line in lines if line["set"] == name and line["rule"] == rule]
        _panel(axes[0, column], mine, lambda line: 100 - float(line["accuracy %"]))
        _panel(axes[1, column], mine, lambda line: float(line["seconds to learn"]))
        axes[0, column].set_title(name, loc="left", weight="bold", fontsize=11)
        axes[1, column].set_xlabel("Classes")
    axes[0, 0].set_ylabel("Wrong labels, %")
    axes[1, 0].set_ylabel("Seconds to learn")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(FORMS), frameon=False)
    figure.savefig(to, dpi=130)


def _panel(
    ax: Axes, lines: Sequence[dict[str, Any]], height: Callable[[dict[str, Any]], float]
) -> None:
    sizes = sorted({int(line["classes"]) for line in lines})
    for form, (decoding, colour, marker, label) in FORMS.items():
        mine = [line for line in lines if (line["form"], line["decoding"]) == (form, decoding)]
        points = sorted((int(line["classes"]), height(line)) for line in mine)
        x, y = zip(*points, strict=True)
        ax.plot(x, y, color=colour, marker=marker, linewidth=1.8, label=label)
    ax.set(xscale="log", yscale="log")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_minor_formatter("")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_xticks([], minor=True)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
