"""
Margins of right and wrong predictions
======================================

A confidence-weighted model has a Gaussian over its weights, so the margin of a row has a mean and
a variance. This example tells docstrings of numpy from docstrings of scipy and compares two
measures of confidence on the test texts: the size of the mean margin, and the same size in
standard deviations of the margin.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from surelearn import SureTextClassifier
from surelearn.datasets import load_docstrings
from surelearn.plot.style import COLOURS, FONT, head, quiet

# %%
# The texts are the docstrings of the installed packages. Half of them are held out.

corpus = load_docstrings()
package = np.array([label.split(".")[0] for label in corpus.target])
chosen = np.flatnonzero(np.isin(package, ["numpy", "scipy"]))
texts, y = [corpus.data[i] for i in chosen], package[chosen]
train, test, y_train, y_test = train_test_split(texts, y, test_size=0.5, stratify=y, random_state=0)
clf = SureTextClassifier(random_state=0).fit(train, y_train)

# %%
# ``margin`` returns the mean and the variance of the margin of each text. The sign of the mean is
# the predicted class, its size says how clear the prediction is.

mean, variance = clf.margin(test)
right = clf.predict(test) == y_test
measures = {
    "Mean margin": np.abs(mean),
    "Mean margin in standard deviations": np.abs(mean) / np.sqrt(variance),
}
print(f"{right.size:,} test texts, {np.mean(~right):.1%} of the predictions are wrong")

# %%
# How well does a measure rank right predictions above wrong ones? The area under the ROC curve is
# the probability that a random right prediction has the larger value.

ranking = {name: roc_auc_score(right, values) for name, values in measures.items()}
for name, area in ranking.items():
    print(f"{name}: right above wrong with probability {area:.3f}")

# %%
# The picture shows the distribution of each measure, separately for right and wrong predictions;
# the wrong ones are few, so each distribution is scaled to an area of one.

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
for ax, (name, values) in zip(axes, measures.items(), strict=True):
    bins = np.linspace(0, np.quantile(values, 0.995), 31)
    for kind, rows, colour in (("right", right, COLOURS[0]), ("wrong", ~right, COLOURS[1])):
        label = f"{kind} ({rows.sum():,}), median {np.median(values[rows]):.2f}"
        ax.hist(values[rows], bins, density=True, alpha=0.55, color=colour, label=label)
    ax.set(xlim=(0, bins[-1]))
    ax.set_xlabel(name, fontsize=FONT)
    ax.set_ylabel("Density", fontsize=FONT)
    ax.legend(frameon=False, fontsize=FONT)
    quiet(ax)
head(axes[0], "Wrong predictions have small margins", "Test texts: numpy or scipy")
plt.show()

# %%
# Wrong predictions lie close to zero by both measures, so either one can select the texts that
# need a second look. The two areas above are close to each other: here, dividing by the deviation
# changes the order little. In the
# :ref:`example with a kernel <sphx_glr_docs_gallery_plot_kernel_boundary.py>` they differ more.
