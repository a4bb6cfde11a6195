"""
A stream that drifts
====================

The variances of a confidence-weighted model never grow. After many rows the model is sure of its
weights and takes small steps, which is right for a stream that stays the same and wrong for one
that changes. This example changes the true weights halfway and shows the progressive validation
error, that is, the error of predictions made before each row was learnt.
"""

import matplotlib.pyplot as plt
import numpy as np

from surelearn import SureClassifier
from surelearn.plot.style import COLOURS, FONT, GREY, head, quiet

# %%
# The rows are synthetic: 20 features, and a hidden weight vector that decides the class. It is
# replaced by another one after 6,000 rows. One label in twenty is wrong at random, so no model can
# have an error below 5 %.

random = np.random.default_rng(0)
n_rows, change, block = 12_000, 6_000, 200
X = random.normal(size=(n_rows, 20))
before, after = random.normal(size=(2, 20))
y = np.where(np.arange(n_rows) < change, X @ before > 0, X @ after > 0)
y ^= random.random(n_rows) < 0.05
starts = np.arange(0, n_rows, block)


def errors(rule, *, restart=False):
    """The error in each block before the block is learnt; a restart keeps the last block only."""
    clf, found = SureClassifier(rule), []
    for start in starts:
        rows = slice(start, start + block)
        known = clf.mistakes_[-1] if start else 0
        clf.partial_fit(X[rows], y[rows])
        found.append((clf.mistakes_[-1] - known) / block)
        if restart and found[-1] > min(found) + 0.1:
            clf = SureClassifier(rule).partial_fit(X[rows], y[rows])
    return np.array(found)


# %%
# Probit is the default rule, and SCW-I is another one with variances. PA-I has none, so its steps
# do not shrink. The last line watches the error and starts a new model when the error of a block
# exceeds the smallest one so far by ten points; the new model begins with the rows of this block.

curves = {
    "Probit": errors("probit"),
    "SCW-I": errors("scw1"),
    "PA-I": errors("pa1"),
    "Probit, restarted": errors("probit", restart=True),
}
settled = starts >= change // 2
first, second = settled & (starts < change), starts >= change
for name, found in curves.items():
    print(
        f"{name:<18}error {found[first].mean():.1%} in the last 3,000 rows before the change, "
        f"{found[second].mean():.1%} after it"
    )

# %%
# The error in each block of 200 rows:

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for (name, found), colour in zip(curves.items(), COLOURS, strict=False):
    style = "--" if name.endswith("restarted") else "-"
    ax.plot(starts + block, 100 * found, style, color=colour, linewidth=2, label=name)
ax.axvline(change, color=GREY, linewidth=1)
ax.annotate("the weights change", (change, 1), (-5, -4), ("data", "axes fraction"),
            "offset points", ha="right", va="top", color=GREY, fontsize=FONT)  # fmt: skip
ax.axhline(5, color=GREY, linewidth=1, linestyle=":")
ax.set(xlim=(0, n_rows), ylim=(0, None))
ax.set_xlabel("Rows so far", fontsize=FONT)
ax.set_ylabel("Progressive validation error (%)", fontsize=FONT)
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.legend(loc="upper left", frameon=False, fontsize=FONT)
quiet(ax)
head(ax, "A sure model adapts slowly", "Dotted: the share of wrong labels")
plt.show()

# %%
# Before the change the rules with variances have the smaller error: sure weights ignore wrong
# labels. After it Probit unlearns slowly, and SCW-I has not recovered at the end. PA-I follows the
# change at once, but its error was the largest before. No rule of this library forgets by itself.
# The remedy is outside the model: watch ``mistakes_`` and start again when the error rises.
