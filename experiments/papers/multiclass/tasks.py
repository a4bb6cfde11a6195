"""The tasks of the 2009 paper, and open sets that stand in for others; must not know learners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from experiments import sets

#: Rows of a task in a quick run, and folds of which learners judge the first few.
QUICK_ROWS, FOLDS = 2000, 10
Places = NDArray[Any]


class Source(NamedTuple):
    """How a task is made of texts, and what it has to do with those of the paper."""

    corpus: str
    about: str
    binary: bool = True
    pairs: bool = False
    stop_words: str | None = None
    n_classes: int | None = None
    n_rows: int | None = None


#: Ten folders and 3,000 texts, as the mail of the paper: binary words without stop words.
_MAIL: dict[str, Any] = {"stop_words": "english", "n_classes": 10, "n_rows": 3000}
TASKS = {
    "20 Newsgroups": Source("20 Newsgroups", "as in the paper"),
    "Amazon 7": Source("Amazon 7", "drawn from the same reviews", binary=False, pairs=True),
    "Amazon 3": Source("Amazon 3", "drawn from the same reviews", binary=False, pairs=True),
    "Reuters R52": Source("Reuters R52", "stands in for Reuters (RCV1)", binary=False),
    "Newsgroups 10": Source("20 Newsgroups", "stands in for Enron A", **_MAIL),
    "Amazon 10": Source("Amazon domains", "stands in for Enron B", **_MAIL),
    "Stack Overflow": Source("Stack Overflow titles", "one more open set"),
}
QUICK = ("20 Newsgroups", "Amazon 3", "Newsgroups 10")


class Task(NamedTuple):
    """Counted words, labels, and a number for each row that equal texts share."""

    X: Any
    y: NDArray[Any]
    groups: Places


class Split(NamedTuple):
    """Places of rows: to learn, to choose parameters by, and to judge."""

    learn: Places
    choose: Places
    judge: Places


def names(quick: bool) -> tuple[str, ...]:
    """The tasks of a run."""
    return QUICK if quick else tuple(TASKS)


@cache
def load(name: str, quick: bool) -> Task:
    """The rows of a task in random order, a part of them in a quick run."""
    source = TASKS[name]
    corpus = sets.texts(source.corpus)
    kept = _kept(corpus.y, source, QUICK_ROWS if quick else len(corpus.y))
    texts = [corpus.texts[place] for place in kept]
    vectorizer = CountVectorizer(
        binary=source.binary,
        ngram_range=(1, 1 + source.pairs),
        stop_words=source.stop_words,
        token_pattern=r"\w+",
        dtype=np.float32,
    )
    X = vectorizer.fit_transform(texts).sorted_indices()
    return Task(X, corpus.y[kept], sets.numbered(texts))


def _kept(y: NDArray[Any], source: Source, limit: int) -> Places:
    """Places of the rows of a task: of the most frequent classes, and so many."""
    classes, counts = np.unique(y, return_counts=True)
    frequent = classes[np.argsort(-counts, kind="stable")[: source.n_classes]]
    order = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(y, frequent)))
    return order[: min(limit, source.n_rows or limit)]


def splits(task: Task, n_folds: int) -> Iterator[Split]:
    """The first of ten folds of nine tenths of the rows; parameters are chosen by the others."""
    rest, choose = sets.cut(np.arange(len(task.y)), task.groups, 0.1)
    for learn, judge in islice(sets.folds(task.groups[rest], FOLDS), n_folds):
        yield Split(rest[learn], choose, rest[judge])
