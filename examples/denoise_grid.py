"""Labels on a grid: black and white digits whose pixels were flipped at random.

    python -m examples.denoise_grid    # from the root; writes docs/howto/pictures/denoise_grid.png

scikit-learn's digits have 8 x 8 pixels; one is black if it has at least half of the ink. A fifth of
the pixels is flipped, and the label of a pixel is its colour before. The features of a pixel are
its noisy value and those of its eight neighbours, so the learner without edges sees them as well.
A quarter of the pictures is held out.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from examples import baselines
from examples.baselines import Labels
from surelearn.graph import Graph, grid
from surelearn.plot.style import COLOURS, FONT, GREY

PICTURE = Path(__file__).parents[1] / "docs" / "howto" / "pictures" / "denoise_grid.png"
SIDE = 8
FLIPPED = 0.2


class Pictures(NamedTuple):
    """Clean and noisy pictures, 0 and 1, of shape (n, 8, 8)."""

    clean: np.ndarray
    noisy: np.ndarray

    @property
    def labels(self) -> list[np.ndarray]:
        return [picture.ravel() for picture in self.clean]


class Split(NamedTuple):
    """Pictures to learn from and to test on."""

    train: Pictures
    test: Pictures


def pictures(seed: int = 0) -> Split:
    """The digits with their noise; a quarter is held out."""
    clean = (load_digits().images >= 8).astype(int)
    flipped = np.random.default_rng(seed).random(clean.shape) < FLIPPED
    parts = train_test_split(clean, np.where(flipped, 1 - clean, clean), random_state=seed)
    return Split(Pictures(parts[0], parts[2]), Pictures(parts[1], parts[3]))


def features(noisy: np.ndarray) -> np.ndarray:
    """A row for each pixel: -1 or 1 for itself and its neighbours, 0 outside of the picture."""
    padded = np.pad(2.0 * noisy - 1, 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return windows.reshape(SIDE * SIDE, 9)


def graphs(noisy: np.ndarray) -> list[Graph]:
    """A node for each pixel; those beside and below each other are joined."""
    edges, each = grid(SIDE, SIDE), SIDE * (SIDE - 1)
    kinds = ["across"] * each + ["down"] * each
    return [Graph(features(picture), edges, edge_types=kinds) for picture in noisy]


def draw_picture(ax: Axes, pixels: np.ndarray, clean: np.ndarray) -> None:
    """Black and white pixels, with a dot on each wrong one."""
    ax.imshow(1 - pixels, cmap="gray", vmin=-0.15, vmax=1.15)
    wrong = np.argwhere(pixels != clean)
    ax.scatter(wrong[:, 1], wrong[:, 0], s=14, color=COLOURS[1])
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color("#BBBBBB")


def draw(test: Pictures, found: dict[str, Labels], to: Path, n_shown: int = 8) -> None:
    """A column for each picture: noisy, as each learner restores it, clean."""
    rows = {"noisy": test.noisy, **found, "truth": test.clean}
    figure = Figure(figsize=(1.15 * n_shown + 1.6, 1.15 * len(rows) + 0.4), layout="constrained")
    for axes, (name, pictures) in zip(
        figure.subplots(len(rows), n_shown), rows.items(), strict=True
    ):
        for ax, pixels, clean in zip(axes, pictures, test.clean, strict=False):
            draw_picture(ax, np.reshape(pixels, clean.shape), clean)
        right = baselines.share(test.labels, [np.ravel(own) for own in pictures])
        label = name if name == "truth" else f"{name}\n{100 * right:.1f} % right"
        axes[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=FONT)
    note = (
        "The first pictures of the test set. Dots are wrong pixels; shares are of all test pixels."
    )
    figure.supxlabel(note, x=0.01, ha="left", fontsize=FONT - 1, color=GREY)
    figure.savefig(to, dpi=110)


def main() -> None:
    """Learn, print all figures, draw some pictures."""
    parts = pictures()
    X, y = graphs(parts.test.noisy), parts.test.labels
    learners = baselines.fit(graphs(parts.train.noisy), parts.train.labels, directed=False)
    found = baselines.predictions(learners, X)
    print(f"{len(parts.train.clean)} pictures to learn, {len(X)} to test")
    print(baselines.table(y, {"noisy": [own.ravel() for own in parts.test.noisy], **found}))
    draw(parts.test, {name: found[name] for name in ("without edges", "with edges")}, PICTURE)
    print(f"The picture is in {PICTURE}.")


if __name__ == "__main__":
    main()
