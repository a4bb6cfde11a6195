"""The two large sets of section 5.3, or what stands in for them; must not know what is shown."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import sets
from experiments.papers.variance.learners import Learner
from surelearn.text import HashingVectorizer

REUTERS, SENTIMENT = "Reuters", "Sentiment"
#: Rows that are judged.
JUDGED = {REUTERS: 2_000, SENTIMENT: 10_000}
#: Rows that a parameter is chosen with, of those that are learnt: learnt, and judged.
CHOICE = 5_000, 10_000


class Part(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: NDArray[Any]

    def taken(self, places: Any) -> Part:
        """Some of the rows."""
        return Part(self.X[places], self.y[places])


@cache
def corpus(name: str) -> sets.Corpus:
    """Stories and whether they are of companies, or tweets and their sentiment; no text twice."""
    if name == SENTIMENT:
        found = sets.sentiment140()
    else:
        kept = [r for r in sets.records("reuters-21578.jsonl.xz") if r["topics"]]
        y = np.array([not {"earn", "acq"}.isdisjoint(r["topics"]) for r in kept])
        found = sets.Corpus([r["text"] for r in kept], y)
    _, first = np.unique(sets.numbered(found.texts), return_index=True)
    return sets.Corpus([found.texts[place] for place in first], found.y[first])


def vectorizer(name: str) -> HashingVectorizer:
    """Presence of words, and of pairs of words in tweets."""
    words = (1, 2 if name == SENTIMENT else 1)
    values: dict[str, Any] = {"binary": True, "norm": None, "dtype": np.float32}
    return HashingVectorizer(n_features=2**24, ngram_range=words, alternate_sign=False, **values)


@cache
def rows_of(name: str) -> Part:
    """A set as a matrix of the features that occur."""
    X = vectorizer(name).transform(corpus(name).texts)
    y = np.unique(corpus(name).y, return_inverse=True)[1].astype(bool)
    return Part(X[:, np.unique(X.indices)], y)


def split(data: Part, n_judged: int, run: int) -> tuple[Part, Part]:
    """Rows to learn, in random order, and rows to judge."""
    order = np.random.default_rng(run).permutation(len(data.y))
    return data.taken(order[n_judged:]), data.taken(order[:n_judged])


def fitted(learner: Learner, parameter: float, data: Part) -> Any:
    """A model after one pass."""
    return learner.make(parameter).partial_fit(data.X, data.y, classes=[False, True])


def chosen(learner: Learner, learn: Part) -> float:
    """The parameter, as in the paper: learnt on 5,000 rows, judged on 10,000 or what is left."""
    first, judge = learn.taken(slice(CHOICE[0])), learn.taken(slice(CHOICE[0], sum(CHOICE)))
    accuracy = [fitted(learner, one, first).score(judge.X, judge.y) for one in learner.grid]
    return learner.grid[int(np.argmax(accuracy))]
