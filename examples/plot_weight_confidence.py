"""
Frequent words have confident weights
=====================================

Every weight of a confidence-weighted model is a Gaussian. Its deviation starts at the same value
for all features and shrinks with every update that involves the feature. Frequent words are
updated often, so the model becomes sure of them. This example draws the deviation of each word's
weight against the number of training texts that contain the word.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from surelearn import SureTextClassifier
from surelearn.datasets import load_docstrings
from surelearn.plot.style import COLOURS, FONT, GREY, head, quiet

# %%
# The task has two classes: docstrings of the standard library, and those of numpy, scipy and
# scikit-learn. Rarity weights are turned off, so that all words enter a text on the same scale.

texts, target = load_docstrings(return_X_y=True)
y = np.where([label.startswith("stdlib") for label in target], "stdlib", "science")
clf = SureTextClassifier(idf=False, n_features=2**20, random_state=0).fit(texts, y)

# %%
# The vectorizer maps each word to a column of ``sigma_``, which holds the variances.

words_of = clf.vectorizer_.build_analyzer()
counts = Counter(word for text in texts for word in set(words_of(text)))
words = np.array(sorted(counts))
frequency = np.array([counts[word] for word in words])
columns = clf.vectorizer_.transform(words).indices
deviation = np.sqrt(clf.sigma_[0, columns])
order = spearmanr(frequency, deviation).statistic
print(f"{len(words):,} words; rank correlation of frequency and deviation {order:.2f}")

# %%
# Each dot is a word. A few words are named.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
spread = np.random.default_rng(0).uniform(-0.04, 0.04, len(words))  # equal counts side by side
ax.loglog(frequency * 10**spread, deviation, ".", color=COLOURS[0], alpha=0.12, markersize=4)
for word in ("the", "return", "array", "matrix", "widget", "socket", "mailbox"):
    at = (frequency[words == word].item(), deviation[words == word].item())
    ax.plot(*at, "o", color=COLOURS[1], markersize=6)
    ax.annotate(word, at, (-4, -5), textcoords="offset points", ha="right", va="top", fontsize=FONT)
ax.axhline(np.sqrt(clf.initial_variance), color=GREY, linewidth=1, linestyle="--")
ax.set_xlabel("Training texts with the word (log scale)", fontsize=FONT)
ax.set_ylabel("Standard deviation of its weight (log scale)", fontsize=FONT)
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.set_yticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
ax.minorticks_off()
ax.set_ylim(bottom=0.05)
quiet(ax)
head(ax, "The more often a word occurs, the surer its weight", "Dashed: before the first text")
plt.show()

# %%
# The deviation falls with frequency, but words of equal frequency differ. A text is scaled to
# length one, so a word has a larger value in a short text, and a larger value shrinks the variance
# more. The sum of the squared values of a word tells more than the number of its texts:

X = clf.vectorizer_.transform(texts)
squares = np.bincount(X.indices, X.data**2)[columns]
closer = spearmanr(squares, deviation).statistic
print(f"rank correlation of the sum of squares and deviation {closer:.2f}")
