"""The picture, in kind figure 2 of the 2008 paper; must not know how the experiment was run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Bars, their colours (Okabe & Ito 2008) and labels; `kl` predicts as `weighted` does.
BARS = {
    "average": ("#BBBBBB", "one shard's model (average)"),
    "uniform": ("#E69F00", "uniform"),
    "weighted": ("#56B4E9", "weighted, kl"),
    "bayes": ("#0072B2", "bayes"),
}
SETS = ("Sentiment140", "Reuters earn", "20 Newsgroups", "docstrings")
RULE, FIRST_ORDER = "Variance, phi", "PA1, C"


def draw(lines: Sequence[dict[str, Any]], to: Path) -> None:
    """A column for each set; words as they are above, rows of length 1 below; one pass."""
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    axes = figure.subplots(2, len(SETS), sharex=True, sharey="col")
    for row, values in enumerate(("presence", "length 1")):
        for column, name in enumerate(SETS):
            mine = [line for line in lines if (line["set"], line["values"]) == (name, values)]
            _panel(axes[row, column], mine)
            axes[row, column].set_title(f"{name}, {values}", loc="left", fontsize=10)
        axes[row, 0].set_ylabel("Accuracy, %")
    for ax in axes[1]:
        ax.set_xlabel("Shards")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(to, dpi=130)


def _panel(ax: Axes, lines: Sequence[dict[str, Any]]) -> None:
    found = {
        (line["rule"], int(line["shards"]), line["way"]): float(line["accuracy %"])
        for line in lines
        if (str(line["passes"]), line["intercept"], line["chosen for"]) == ("1", "yes", "one model")
    }
    shards = sorted({n for rule, n, _ in found if rule == RULE and n > 1})
    width = 0.8 / len(BARS)
    for place, (way, (colour, label)) in enumerate(BARS.items()):
        x = np.arange(len(shards)) + (place - (len(BARS) - 1) / 2) * width
        heights = [found[RULE, n, way] for n in shards]
        ax.bar(x, heights, width, color=colour, label=label)
    single, first_order = (found[rule, 1, "single"] for rule in (RULE, FIRST_ORDER))
    ax.axhline(single, color="#000000", linewidth=1.2, label="one model of all rows")
    ax.axhline(first_order, color="#D55E00", linewidth=1.2, linestyle="--", label="the same, PA1")
    least = min(found.values())
    ax.set_ylim(10 * (least // 10), None)
    ax.set_xticks(range(len(shards)), [str(n) for n in shards])
    ax.spines[["top", "right"]].set_visible(False)
