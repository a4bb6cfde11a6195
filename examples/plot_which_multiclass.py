"""
Which multi-class?
==================

Three or more classes can be learnt together (``"joint"``), with one or several rivals of the right
class as constraints, or as problems of two classes: each class against the rest (``"ovr"``), all
pairs (``"ovo"``), or an error-correcting code (``"ecoc"``). This example compares accuracy and
training time on scikit-learn's digits, which have ten classes.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize

from surelearn import SureClassifier
from surelearn.constraints import Parallel, Sequential
from surelearn.plot.style import FONT, head, look, quiet

# %%
# All forms have the same rule, AROW, and make five passes.

forms = {
    "joint, one rival": {"constraints": "single"},
    "joint, five in turn": {"constraints": Sequential(k=5)},
    "joint, five at once": {"constraints": Parallel(k=5)},
    "one-vs-rest": {"multiclass": "ovr"},
    "all pairs": {"multiclass": "ovo"},
    "code": {"multiclass": "ecoc"},
}

# %%
# Each form is trained on ten random splits. The code is searched for once in each fit, which is
# part of its time.

X, y = load_digits(return_X_y=True)
X = normalize(X)
splits = list(StratifiedShuffleSplit(10, test_size=0.25, random_state=0).split(X, y))


def measured(train, test, **form):
    """Accuracy and training time in milliseconds."""
    clf = SureClassifier("arow", passes=5, random_state=0, **form)
    start = perf_counter()
    clf.fit(X[train], y[train], calibrate=False)
    took = perf_counter() - start
    return clf.score(X[test], y[test]), 1000 * took


found = {
    name: np.array([measured(train, test, **form) for train, test in splits])
    for name, form in forms.items()
}
for name, values in found.items():
    accuracy, times = values.T
    error = accuracy.std(ddof=1) / np.sqrt(len(splits))
    print(f"{name:<20}{accuracy.mean():.1%} +- {error:.1%}, {np.median(times):.1f} ms")

# %%
# Up is more accurate, left is faster. Bars show one standard error over the splits; splits share
# rows, so this is a rough guide.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for place, (name, values) in enumerate(found.items()):
    accuracy, times = 100 * values[:, 0], values[:, 1]
    error = accuracy.std(ddof=1) / np.sqrt(len(splits))
    ax.errorbar(np.median(times), accuracy.mean(), error, markersize=9, capsize=3,
                linestyle="none", label=name, **look(place))  # fmt: skip
ax.set_xscale("log")
ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
ax.xaxis.set_major_formatter("{x:g}")
ax.minorticks_off()
ax.set_xlabel("Median training time (ms, log scale)", fontsize=FONT)
ax.set_ylabel("Accuracy on test rows (%)", fontsize=FONT)
ax.legend(frameon=False, fontsize=FONT)
quiet(ax)
head(ax, "Ten digits, six ways to learn them", "Mean over ten splits, with standard error")
plt.show()

# %%
# On these dense rows all pairs are the most accurate, and the code is the least accurate and the
# slowest. On sparse texts with many classes the order is different, see
# :doc:`Which multi-class? </docs/theory/which_multiclass>`: there, one-vs-rest and the code gain on
# ``"joint"``, and all pairs lose.
