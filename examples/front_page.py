"""The picture of the README: what a trained model knows of some words, and how fast it learns.

    export SURELEARN_DATA=...           # the folder with amazon-raw-4domains.jsonl.xz
    python -m examples.front_page       # from the root; writes docs/front_page.png

8,000 Amazon reviews, a quarter held out. On the left the weights of some words after training with
the defaults; one of the words is in no review. On the right accuracy after one pass over more
and more reviews, in 20 random orders; scikit-learn's classifiers have their defaults and get the
same rows.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import train_test_split

from experiments import sets
from surelearn import SureClassifier, SureTextClassifier
from surelearn.plot import ExplanationDisplay, LearningCurveDisplay
from surelearn.text import HashingVectorizer

PICTURE = Path(__file__).parents[1] / "docs" / "front_page.png"
WORDS = (
    "excellent", "best", "great", "terrific", "riveting", "spellbinding", "the", "unfunny",
    "tedious", "disappointed", "boring", "terrible",
)  # fmt: skip


class Split(NamedTuple):
    """Reviews to learn from and to test on."""

    train: list[str]
    test: list[str]
    y_train: np.ndarray
    y_test: np.ndarray


def reviews() -> Split:
    """The reviews, a quarter of each class held out."""
    corpus = sets.reviews()
    return Split(
        *train_test_split(corpus.texts, corpus.y, test_size=0.25, stratify=corpus.y, random_state=0)
    )


def weights(split: Split) -> ExplanationDisplay:
    """The words with their weights, and the number of reviews with each."""
    clf = SureTextClassifier(random_state=0).fit(split.train, split.y_train)
    words_of = clf.vectorizer_.build_analyzer()
    counts = Counter(word for text in split.train for word in set(words_of(text)))
    named = {word: f"{word}  ({counts[word]:,})" for word in WORDS}
    return ExplanationDisplay.from_estimator(clf, features=named)


def curves(split: Split, n_repeats: int = 20) -> LearningCurveDisplay:
    """Accuracy by the number of reviews, the same hashed words for all learners."""
    rows = HashingVectorizer(n_features=2**18, log_counts=True, dtype=np.float32)
    learners = {
        "surelearn": SureClassifier(random_state=0),
        "SGDClassifier": SGDClassifier(random_state=0),
        "Perceptron": Perceptron(random_state=0),
    }
    return LearningCurveDisplay.from_estimators(
        learners,
        rows.transform(split.train),
        split.y_train,
        X_test=rows.transform(split.test),
        y_test=split.y_test,
        n_repeats=n_repeats,
        random_state=0,
    )


def finding(display: LearningCurveDisplay) -> str:
    """How many reviews are saved, read off the curves."""
    everything = display.sizes_[-1]
    needed = display.rows_needed("surelearn", display.mean("SGDClassifier")[-1])
    about = float(f"{needed:.2g}")
    return f"{about:,.0f} reviews teach it what SGDClassifier learns from {everything:,}"


def draw(found: ExplanationDisplay, display: LearningCurveDisplay, to: Path) -> None:
    """Both halves of the picture."""
    figure = Figure(figsize=(14, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.05))
    found.plot(left, title="It knows how sure it is of every word")
    left.set_ylabel("Word (reviews with it)", fontsize=11)
    display.plot(right, title=finding(display), unit="reviews")
    figure.savefig(to, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    data = reviews()
    draw(weights(data), curves(data), PICTURE)
    print(f"The picture is in {PICTURE}.")
