"""
A tagger's confidence for each word
===================================

A tagger labels every word of a sentence. ``confidence`` is the probability that the Gaussian over
the weights prefers the predicted tag of a word. The sentences of this example are lines of Python
code without brackets, dots and other signs: the tagger has to tell from the words alone which of
them are keywords, variables, functions or methods. The right answer is known from the code.
"""

import keyword
import sysconfig
import tokenize
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from surelearn import SureTagger
from surelearn.plot.style import COLOURS, FONT, GREY, head, quiet

# %%
# Modules of the standard library give the lines. The signs beside a word decide its tag, and are
# hidden from the tagger.

TRAIN = "argparse calendar cmd csv difflib ftplib inspect optparse pdb pickle pydoc shutil smtplib"
TEST = "configparser gzip mailbox statistics tarfile textwrap zipfile"


def kind(before, word, after):
    """What a word of the code is, by the tokens on both sides."""
    if keyword.iskeyword(word):
        return "keyword"
    if before in ("def", "class"):
        return "definition"
    if before == ".":
        return "method" if after == "(" else "attribute"
    return "function" if after == "(" else "variable"


def lines(modules):
    """Words and tags of all lines with at least three words."""
    for module in modules.split():
        path = Path(sysconfig.get_path("stdlib"), f"{module}.py")
        if not path.exists():  # a package in other versions of Python
            continue
        with tokenize.open(path) as file:
            tokens = [token for token in tokenize.generate_tokens(file.readline) if token.string]
        found = []
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if token.type == tokenize.NAME:
                found.append((token.string, kind(before.string, token.string, after.string)))
            elif token.type == tokenize.NEWLINE:
                if len(found) >= 3:
                    yield [word for word, _ in found], [tag for _, tag in found]
                found = []


# %%
# The test lines come from modules that the tagger has not seen.

X, y = map(list, zip(*lines(TRAIN), strict=True))
X_test, y_test = map(list, zip(*lines(TEST), strict=True))
tagger = SureTagger(passes=5, random_state=0).fit(X, y)
predicted, confidence = tagger.predict(X_test), tagger.confidence(X_test)
right = np.concatenate(
    [np.equal(tags, truth) for tags, truth in zip(predicted, y_test, strict=True)]
)
sure = np.concatenate(confidence)
print(f"{len(X):,} lines to learn, {len(right):,} test words, {right.mean():.1%} right")

# %%
# Above, one test line word by word: a bar for the confidence in its tag. The line is the first one
# with eight to ten words of which exactly two are wrong. Below, all test words in bins of the
# confidence.

n_wrong = [np.not_equal(tags, truth).sum() for tags, truth in zip(predicted, y_test, strict=True)]
shown = next(i for i, x in enumerate(X_test) if 8 <= len(x) <= 10 and n_wrong[i] == 2)
correct = np.equal(predicted[shown], y_test[shown])
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
places = np.arange(len(correct))
top.barh(places, confidence[shown], color=np.where(correct, COLOURS[0], COLOURS[1]), height=0.7)
for place, (guess, truth) in enumerate(zip(predicted[shown], y_test[shown], strict=True)):
    text = guess if guess == truth else f"{guess} (in fact: {truth})"
    top.text(0.02, place, text, color="white", va="center", fontsize=FONT - 1)
top.set_yticks(places, X_test[shown])
top.invert_yaxis()
top.set(xlim=(0, 1))
top.set_xlabel("Confidence in the predicted tag", fontsize=FONT)
quiet(top, "x")
head(top, "One line of code", "Blue: right, orange: wrong")

edges = np.linspace(0.5, 1, 11)
bins = np.clip(np.digitize(sure, edges) - 1, 0, 9)
counts = np.bincount(bins, minlength=10)
shares = 100 * np.bincount(bins, right, minlength=10) / np.maximum(counts, 1)
bottom.bar(edges[:-1], shares, 0.045, align="edge", color=COLOURS[0])
for left, share, count in zip(edges, shares, counts, strict=False):
    bottom.text(left + 0.0225, share + 1, f"{count:,}", ha="center", color=GREY, fontsize=FONT - 1)
bottom.set(ylim=(0, 110))
bottom.set_xlabel("Confidence in the predicted tag", fontsize=FONT)
bottom.set_ylabel("Right tags (%)", fontsize=FONT)
quiet(bottom)
head(
    bottom, "Confident tags are right more often", "All test words; numbers of words above the bars"
)
plt.show()

# %%
# The tags that the tagger is sure of are nearly all right, and about half of those at the lower end
# are wrong. Words to check by hand can be found by their confidence.
