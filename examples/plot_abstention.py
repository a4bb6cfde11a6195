"""
When to say I don't know
========================

``fit(X, y, risk=0.03)`` keeps rows back to certify which rows the model may answer, such that at
most 3 % of its answers are wrong. This example shows the digits that it answers and those that it
leaves, with the sets of labels that hold the right one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from surelearn import SureClassifier
from surelearn.plot import RiskCoverageDisplay

# %%
# A third of scikit-learn's digits are for the test. Of the others, ``fit`` keeps a fifth back.

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, test_size=600, stratify=y, random_state=0)
clf = SureClassifier(random_state=0).fit(train, y_train, risk=0.03)
print(f"{clf.coverage_:.0%} of {clf.n_certified_} digits kept back are answered,")
print(f"and of all such answers at most {clf.risk_bound_:.1%} are wrong, with probability 90 %")

# %%
# ``predict(abstain=True)`` gives ``None`` for the digits that are left unanswered. For these, sets
# of labels are of use: 99 % of all sets hold the right digit.

answered = np.not_equal(clf.predict(test, abstain=True), None)
wrong = clf.predict(test) != y_test
sets = clf.predict_set(test, coverage=0.99)
held = np.array([digit in labels for digit, labels in zip(y_test, sets, strict=True)])
print(f"answered: {answered.mean():.0%} of the test, {wrong[answered].mean():.1%} of it wrong")
print(f"left out: {wrong[~answered].mean():.0%} would be wrong")
print(f"{held.mean():.1%} of the sets hold the right digit")

# %%
# Above, the mistakes among the surest answers, with the stated risk and the certified share. Below,
# some digits: the answers in blue, and the sets of those without an answer in grey, the right
# digit in bold.

figure = plt.figure(figsize=(8.6, 8.4), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1.5, 1))
display = RiskCoverageDisplay.from_estimator(clf, test, y_test, name="surelearn")
display.plot(above.subplots(), title="Three in a hundred answers may be wrong")

random = np.random.default_rng(0)
rows = [random.choice(np.flatnonzero(kind), 8, replace=False) for kind in (answered, ~answered)]
axes = below.subplots(2, 8)
for ax, i in zip(axes.flat, np.concatenate(rows), strict=True):
    ax.imshow(test[i].reshape(8, 8), cmap="Greys")
    ax.set(xticks=[], yticks=[])
    if answered[i]:
        ax.set_title(clf.predict(test[[i]])[0], fontsize=12, color="#0072B2", fontweight="bold")
    else:
        digits = [rf"$\bf{{{k}}}$" if k == y_test[i] else str(k) for k in sets[i]]
        ax.set_title(" ".join(digits), fontsize=11, color="#6B6B6B")
axes[0, 0].set_ylabel("answered", fontsize=10)
axes[1, 0].set_ylabel("left out", fontsize=10)
plt.show()

# %%
# More than half of the digits that are left out would have been answered wrongly. Their sets are
# short lists for a person to choose from.
