"""
The Gaussian over two weights
=============================

A confidence-weighted model keeps a Gaussian over its weights. For two weights it can be drawn as an
ellipse. Each row cuts the plane into weights that classify it right and weights that do not. The
Stdev rule moves and shrinks the Gaussian as little as possible, so that at least a share ``eta`` of
its probability is on the right side (Crammer, Dredze & Pereira 2008).
"""

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np

from surelearn import SureClassifier
from surelearn.plot import EllipseDisplay
from surelearn.plot.style import FONT
from surelearn.rules import Stdev

# %%
# The model starts with mean 0 and variance 1 for both weights and learns three rows. A copy is kept
# before and after each row.

X = np.array([[1.0, 0.4], [-0.3, -1.0], [1.0, -0.8]])
y = np.array(["yes", "no", "yes"])


def steps(covariance):
    """Copies of a model, and for each row the two around it."""
    clf = SureClassifier(Stdev(eta=0.9), covariance=covariance, projection="covariance",
                         fit_intercept=False, dtype="float64")  # fmt: skip
    # A row of zeros changes nothing, but declares the classes.
    clf.partial_fit(np.zeros((1, 2)), y[:1], classes=np.unique(y))
    for x, label in zip(X, y, strict=True):
        before = deepcopy(clf)
        clf.partial_fit(x[None], [label])
        pair = {"before": before, "after": deepcopy(clf)}
        yield EllipseDisplay.from_estimators(pair, row=x, label=label)


# %%
# Each column is a row of the data, each line a form of the covariance. The shaded side holds the
# weights that classify the row right.

figure, axes = plt.subplots(2, 3, figsize=(9, 6.6), layout="constrained")
for line, covariance in zip(axes, ("full", "diagonal"), strict=True):
    for number, (ax, display) in enumerate(zip(line, steps(covariance), strict=True), start=1):
        display.plot(ax)
        for text in (*ax.texts, ax.get_legend()):
            text.remove()
        old, new = display.probability()
        ax.set_title(f"row {number}: {old:.0%} to {new:.0%} right", fontsize=FONT, loc="left")
        print(f"{covariance}, row {number}: {old:.1%} before, {new:.1%} after")
    line[0].set_ylabel(f"{covariance.capitalize()} covariance\nWeight of x1", fontsize=FONT)
means = [line for line in axes[0, 0].lines if line.get_marker() in ("o", "s")]
figure.legend(means, ["before the row", "after the row"], loc="outside lower center", ncols=2,
              frameon=False, fontsize=FONT)  # fmt: skip
plt.show()

# %%
# With full covariance the ellipse shrinks in one direction only, and so it turns; a diagonal
# covariance cannot turn. With full covariance the row ends at 90 %, as the rule demands. With a
# diagonal one it ends below, because the off-diagonal part of the update is dropped.
