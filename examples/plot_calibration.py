"""
Calibration before and after
============================

The exact probability of the papers follows from the Gaussian over the weights: the probability
that a class has the largest score. It ranks predictions well, but its values need not match the
error. ``calibrate`` fits one number, the temperature, that scales all deviations. This example
draws the probability bins of Crammer, Dredze & Kulesza (2009) before and after.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from surelearn import SureTextClassifier
from surelearn.datasets import load_docstrings
from surelearn.plot import ReliabilityDisplay

# %%
# Docstrings are labelled with the sub-package that they come from. Half of them train the model;
# of the others, 2,500 are for the test and the rest for calibration.

texts, y = load_docstrings(return_X_y=True)
train, others, y_train, y_others = train_test_split(
    texts, y, test_size=0.5, stratify=y, random_state=0
)
held, test, y_held, y_test = train_test_split(
    others, y_others, test_size=2500, stratify=y_others, random_state=0
)
print(f"{len(train):,} texts to train, {len(held):,} to calibrate, {len(np.unique(y))} classes")

# %%
# ``fit`` calibrates by default. Here it does not, to show the difference.

clf = SureTextClassifier("variance", probability="exact", random_state=0)
clf.fit(train, y_train, calibrate=False)
labels = clf.predict(test)
loss = log_loss(y_test, clf.predict_proba(test))
found = {"before calibrate": clf.reliability(test, y_test)}

clf.calibrate(held, y_held)
found["after calibrate"] = clf.reliability(test, y_test)
print(f"log loss before {loss:.2f}, after {log_loss(y_test, clf.predict_proba(test)):.2f}")
print(f"temperature {clf.temperature_:.2f}")
print(f"predicted labels that changed: {np.sum(clf.predict(test) != labels)}")

# %%
# The first panel shows the error in each bin of the predicted probability; the dashed line is the
# error of a calibrated model. The second panel counts the predictions in each bin, the third
# shows what each bin adds to the error, and the fourth compares error and entropy.

figure, axes = plt.subplots(2, 2, figsize=(8.6, 7.6), layout="constrained")
ReliabilityDisplay(found).plot(axes)
plt.show()

# %%
# Before calibration the probabilities are too low: all bins lie below the dashed line, so fewer
# predictions are wrong than their probabilities say. After calibration the bins are much closer to
# the line, though still somewhat below it in the middle, and most predictions are in the last bin.
# The error is the same, because the temperature does not change ``predict``.
