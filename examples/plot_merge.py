"""
Models trained apart and merged
===============================

Data may lie on several machines. Each one trains a model on its part, and ``merge`` makes one model
of them. Every weight has a variance, so a part that has seen a word often outweighs one that has
hardly seen it. This example compares the merged model with a single part and with a model of all
texts, for more and more parts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from surelearn import SureTextClassifier, merge
from surelearn.datasets import load_docstrings
from surelearn.plot.style import FONT, GREY, head, look, quiet

# %%
# Docstrings are labelled with the sub-package that they come from; half of them are held out.

texts, y = load_docstrings(return_X_y=True)
train, test, y_train, y_test = train_test_split(texts, y, test_size=0.5, stratify=y, random_state=0)
whole = SureTextClassifier(n_features=2**16, random_state=0).fit(train, y_train).score(test, y_test)
print(f"one model of {len(train):,} texts: {whole:.1%}")

# %%
# ``"evidence"`` is the default of ``merge``. ``"uniform"`` averages the weights and ignores how
# sure the parts are of them.

counts = [2, 4, 8, 16, 32]
found = {"merged by evidence": [], "merged uniformly": [], "one part alone": []}
for n in counts:
    parts = [
        SureTextClassifier(n_features=2**16, random_state=0).fit(train[i::n], y_train[i::n])
        for i in range(n)
    ]
    alone = np.mean([part.score(test, y_test) for part in parts[:4]])
    found["merged by evidence"].append(merge(parts, "evidence").score(test, y_test))
    found["merged uniformly"].append(merge(parts, "uniform").score(test, y_test))
    found["one part alone"].append(alone)
    scores = ", ".join(f"{name} {values[-1]:.1%}" for name, values in found.items())
    print(f"{n:>2} parts: {scores}")

# %%
# The line of one part is the mean over at most four parts.

figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
for place, (name, values) in enumerate(found.items()):
    ax.plot(counts, 100 * np.array(values), linewidth=2, label=name, **look(place))
ax.axhline(100 * whole, color=GREY, linestyle="--", linewidth=1, label="one model of all texts")
ax.set_xscale("log", base=2)
ax.set_xticks(counts, [str(n) for n in counts])
ax.set_xlabel("Number of parts (log scale)", fontsize=FONT)
ax.set_ylabel("Accuracy on test texts (%)", fontsize=FONT)
ax.legend(frameon=False, fontsize=FONT)
quiet(ax)
head(ax, "Merged models keep most of the accuracy", f"{len(train):,} training texts in equal parts")
plt.show()

# %%
# A part alone gets worse as it gets smaller. Merged by evidence, the parts stay close to the model
# of all texts. Averaged without regard to evidence, they lose more with every doubling.
