"""The picture of the experiment; must not know how it was run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

# Okabe & Ito 2008: told apart with any kind of colour vision.
BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"
PINK, YELLOW, SKY = "#CC79A7", "#E69F00", "#56B4E9"
BLACK, GREY = "#000000", "#555555"
#: Learners in the picture: colour, dashes, and the label at the end of the line.
LINES = {
    "perceptron": (GREY, "--", "perceptron"),
    "PA1": (BLACK, "--", "PA1"),
    "Variance, diagonal, covariance": (YELLOW, "-.", "Variance, diagonal"),
    "Stdev, diagonal, covariance": (PINK, "-.", "Stdev, diagonal"),
    "second-order perceptron, full": (GREEN, "-", "second-order perceptron"),
    "AROW, full": (SKY, "-", "AROW, full"),
    "Variance, full": (RED, "-", "Variance, full"),
    "Stdev, full": (BLUE, "-", "Stdev, full"),
}


def draw(
    paths: Mapping[str, np.ndarray],
    step: int,
    cloud: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    to: Path,
) -> None:
    """Mistakes by rounds on the left; points and weights of one run on the right."""
    X, y, mu, sigma = cloud
    figure = Figure(figsize=(12, 7), layout="constrained")
    axes: Any = figure.subplot_mosaic(
        [["mistakes", "points"], ["mistakes", "weights"]], width_ratios=[1.5, 1]
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)  # type: ignore[union-attr, call-arg]
    _draw_mistakes(axes["mistakes"], paths, step)
    _draw_points(axes["points"], X, y)
    _draw_weights(axes["weights"], mu, sigma)
    for ax in axes.values():
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(to, dpi=130)


def _draw_mistakes(ax: Axes, paths: Mapping[str, np.ndarray], step: int) -> None:
    ends = []
    for place, (name, (colour, dashes, _)) in enumerate(LINES.items()):
        mean, deviation = paths[name].mean(axis=0), paths[name].std(axis=0, ddof=1)
        rounds = step * np.arange(1, len(mean) + 1)
        ax.plot([0, *rounds], [0, *mean], color=colour, linestyle=dashes, linewidth=2)
        at = slice(3, None, 4)  # every fourth mark, side by side
        ax.errorbar(
            rounds[at] + 4 * (place - 3.5), mean[at], deviation[at], fmt="none", ecolor=colour
        )
        ends.append(float(mean[-1]))
    for (colour, _, label), end, height in zip(LINES.values(), ends, _apart(ends), strict=True):
        where, style = (rounds[-1] + 30, height), {"color": colour, "va": "center"}
        ax.annotate(f"{label}  {end:.0f}", where, annotation_clip=False, **style)
    ax.set(xlim=(0, 1020), ylim=(0, None), xlabel="Points seen", ylabel="Mistakes so far")
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    title = f"Mistakes in one pass, mean and deviation of {len(paths['perceptron'])} runs"
    ax.set_title(title, loc="left", weight="bold", fontsize=11)


def _apart(heights: list[float], least: float = 8.5) -> list[float]:
    """The same places, moved up where labels would touch."""
    out = dict(enumerate(heights))
    below = -least
    for place in sorted(out, key=out.__getitem__):
        below = out[place] = max(out[place], below + least)
    return [out[place] for place in range(len(heights))]


def _draw_points(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    for label, colour, marker in ((1, BLUE, "o"), (-1, RED, "x")):
        mine = y == label
        ax.scatter(X[mine, 0], X[mine, 1], 6, color=colour, marker=marker, linewidths=0.6)
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    ax.plot(ends, ends, color=BLACK, linewidth=1)
    ax.set_aspect("equal", "datalim")
    ax.set(xlabel="Feature 1", ylabel="Feature 2")
    ax.set_title("The two features that matter", loc="left", weight="bold", fontsize=11)


def _draw_weights(ax: Axes, mu: np.ndarray, sigma: np.ndarray) -> None:
    """One deviation around the mean, two weights at a time."""
    for first in range(len(mu) - 2, -1, -2):
        pair = slice(first, first + 2)
        _ellipse(ax, mu[pair], sigma[pair, pair], matters=first == 0)
    reach = 1.15 * max(np.abs(mu[:2]) + np.sqrt(np.diag(sigma)[:2]))
    ax.plot([0, reach], [0, -reach], color=BLACK, linestyle=":", linewidth=1.5)
    ax.annotate("right directions", (reach, -reach), (-22, 4), "data", "offset points", ha="right")
    ax.set_aspect("equal", "datalim")
    ax.autoscale_view()
    ax.set(xlabel="First weight of a pair", ylabel="Second weight")
    ax.set_title("Weights of full Stdev after 50 points", loc="left", weight="bold", fontsize=11)


def _ellipse(ax: Axes, mu: np.ndarray, sigma: np.ndarray, *, matters: bool) -> None:
    values, vectors = np.linalg.eigh(sigma)
    width, height = 2 * np.sqrt(values)
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    colour, thick = (BLUE, 2.2) if matters else (GREY, 0.9)
    ax.add_patch(
        Ellipse(mu, width, height, angle=angle, fill=False, edgecolor=colour, linewidth=thick)
    )
    ax.plot(*mu, "o", color=colour, markersize=5 if matters else 2)
