"""
A grid: denoise digits
======================

The pixels of a picture depend on each other, so they are better predicted together. This example
flips a fifth of the pixels of black-and-white digits, and ``SureGraphClassifier`` restores them:
each pixel is a node, and edges join pixels that are side by side or one above the other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from surelearn import SureGraphClassifier
from surelearn.graph import Graph, grid
from surelearn.plot.style import COLOURS, FONT
from surelearn.rules import Probit

# %%
# The features of a pixel are the noisy values of the pixel and its eight neighbours. So a model
# without edges sees the neighbourhood as well; edges add what the *labels* of neighbours tell.

clean = (load_digits().images[:900] >= 8).astype(int)
flipped = np.random.default_rng(0).random(clean.shape) < 0.2
noisy = np.where(flipped, 1 - clean, clean)


def graph(picture, *, edges):
    """A node for each of 64 pixels, with or without the edges of the grid."""
    padded = np.pad(2.0 * picture - 1, 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(64, 9)
    if not edges:
        return Graph(windows, np.empty((0, 2), int))
    return Graph(windows, grid(8, 8), edge_types=["across"] * 56 + ["down"] * 56)


# %%
# The first 600 pictures are for training, the other 300 for the test.

n_train = 600
truth = clean[n_train:].reshape(-1, 64)
rows = {"noisy": noisy[n_train:].reshape(-1, 64)}
for name, edges in (("without edges", False), ("with edges", True)):
    graphs = [graph(picture, edges=edges) for picture in noisy]
    clf = SureGraphClassifier(Probit(1.0), directed=False, random_state=0)
    clf.fit(graphs[:n_train], list(clean[:n_train].reshape(-1, 64)))
    rows[name] = np.array(clf.predict(graphs[n_train:]))
rows["truth"] = truth
for name, pixels in rows.items():
    print(f"{name:<14}{np.mean(pixels == truth):.1%} of {truth.size:,} test pixels right")

# %%
# The first test pictures; dots are wrong pixels.

figure, axes = plt.subplots(4, 6, figsize=(8, 5.2), layout="constrained")
for line, (name, pixels) in zip(axes, rows.items(), strict=True):
    for ax, picture, right in zip(line, pixels, truth, strict=False):
        ax.imshow(1 - picture.reshape(8, 8), cmap="gray", vmin=-0.15, vmax=1.15)
        wrong = np.argwhere((picture != right).reshape(8, 8))
        ax.scatter(wrong[:, 1], wrong[:, 0], s=16, color=COLOURS[1])
        ax.set(xticks=[], yticks=[])
    share = "" if name == "truth" else f"\n{np.mean(pixels == truth):.1%} right"
    line[0].set_ylabel(name + share, rotation=0, ha="right", va="center", fontsize=FONT)
plt.show()

# %%
# Without edges the model improves on the noisy picture, since it sees the noisy neighbours. Edges
# improve on that: single wrong pixels in the background, such as those in the corners of the last
# picture, are gone. Where many pixels of a stroke were flipped, both models fail.
