"""
Learning curves in one pass
===========================

In a stream every row is seen once, so it matters how much a model learns from each. This example
trains confidence-weighted rules, a passive-aggressive rule and two classifiers of scikit-learn
on the same rows in the same orders, and tests them on the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import train_test_split

from surelearn import SureClassifier
from surelearn.datasets import load_docstrings
from surelearn.plot import LearningCurveDisplay
from surelearn.text import HashingVectorizer

# %%
# Docstrings are labelled with the sub-package that they come from. All learners get the same
# hashed words, and all have their default settings.

texts, y = load_docstrings(return_X_y=True)
X = HashingVectorizer(n_features=2**16, log_counts=True, dtype=np.float32).transform(texts)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(f"{X_train.shape[0]:,} training texts, {len(np.unique(y))} classes")

learners = {
    "Probit": SureClassifier("probit"),
    "AROW": SureClassifier("arow"),
    "PA-I": SureClassifier("pa1"),
    "SGDClassifier": SGDClassifier(random_state=0),
    "Perceptron": Perceptron(random_state=0),
}

# %%
# ``from_estimators`` shuffles the rows, passes them to ``partial_fit`` in growing chunks, and
# measures the accuracy on the test rows after each chunk.

display = LearningCurveDisplay.from_estimators(
    learners,
    X_train,
    y_train,
    X_test=X_test,
    y_test=y_test,
    sizes=np.geomspace(60, X_train.shape[0], 8).astype(int),
    n_repeats=3,
    random_state=0,
)
for name in learners:
    print(f"{name:<14}{display.mean(name)[-1]:.1%} after one pass")

# %%
# Bands show one standard deviation over the three orders.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
display.plot(ax, title="Accuracy after the first texts of a stream", unit="texts")
plt.show()

# %%
# How many texts does the first rule need for what ``SGDClassifier`` learns from all of them?

needed = display.rows_needed("Probit", display.mean("SGDClassifier")[-1])
print(f"Probit needs {needed:,.0f} of {X_train.shape[0]:,} texts")

# %%
# Both confidence-weighted rules are ahead of the others from a few hundred texts on. PA-I, which
# has no variances, is last.
