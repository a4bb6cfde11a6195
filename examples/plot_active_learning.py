"""
Ask for the labels that teach most
==================================

Labels cost time. A model that knows the variance of its margins can ask about the text whose
margin, in standard deviations, is closest to zero (``acl``, active confident learning; Dredze &
Crammer 2008). This example hides the labels of docstrings and reveals them one by one: in random
order, and in the order in which the model asks for them.
"""

import matplotlib.pyplot as plt
import numpy as np

from surelearn import SureTextClassifier
from surelearn.active import simulate
from surelearn.datasets import load_docstrings
from surelearn.plot import LearningCurveDisplay

# %%
# Two sub-packages of scipy are the classes. ``simulate`` hashes the texts once, holds out one
# fold in each run, and measures the accuracy on it as labels are revealed.

texts, target = load_docstrings(return_X_y=True)
chosen = np.flatnonzero(np.isin(target, ["scipy.stats", "scipy.optimize"]))
found = simulate(
    [texts[i] for i in chosen],
    target[chosen],
    learners={"Sure": SureTextClassifier()},
    strategies=("random", "margin", "acl"),
    n_labels=100,
    n_folds=5,
    random_state=0,
)
print(found)

# %%
# ``margin`` asks about the smallest mean margin and ignores the variance. Bands show one standard
# error over the runs.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
display = LearningCurveDisplay.from_simulation(found)
display.plot(ax, title="Accuracy by the number of labels asked for", unit="texts")
plt.show()

# %%
# Both strategies are ahead of random order from about ten labels on. Here the variance adds
# nothing: ``acl`` and ``margin`` are level. ``worth`` sums up how many labels were saved, with an
# interval over the runs, and says *worth it* only if the whole interval is below 100 %.

print(found.worth())
