"""Six sets as bags of words or dense rows, cut into what is learnt, calibrates and is judged."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from surelearn.reproduce import sets


class Split(NamedTuple):
    """Rows and labels to learn from, to calibrate with and to judge by."""

    learn: tuple[Any, np.ndarray]
    calibrate: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]


def text(name: str) -> Split:
    """A fifth to judge by, a tenth of the rest to calibrate; equal texts on one side only."""
    corpus = sets.texts(name)
    groups = sets.numbered(corpus.texts)
    rest, judge = sets.cut(np.arange(len(groups)), groups, 0.2)
    learn, calibrate = sets.cut(rest, groups[rest], 0.1)
    return _split(_words(corpus.texts), corpus.y, learn, (calibrate, judge))


def reuters() -> Split:
    """Judged by the published test part."""
    corpus = sets.texts("Reuters R52")
    train, test = np.flatnonzero(~corpus.test), np.flatnonzero(corpus.test)
    learn, calibrate = sets.cut(train, sets.numbered(corpus.texts)[train], 0.1)
    return _split(_words(corpus.texts), corpus.y, learn, (calibrate, test))


def digits() -> Split:
    """Handwritten digits of 8 x 8 pixels."""
    X, y = sets.dense("digits")
    return _dense(X / 16.0, y)


def wine() -> Split:
    """Wines by chemical analysis."""
    X, y = sets.dense("wine")
    return _dense(StandardScaler().fit_transform(X), y)


SETS = {
    "20 Newsgroups": partial(text, "20 Newsgroups"),
    "Stack Overflow titles": partial(text, "Stack Overflow titles"),
    "Amazon domains": partial(text, "Amazon domains"),
    "Reuters R52": reuters,
    "digits": digits,
    "wine": wine,
}


def _words(texts: list[str]) -> Any:
    vectorizer = CountVectorizer(binary=True, token_pattern=r"\w+", dtype=np.float32)
    return vectorizer.fit_transform(texts).sorted_indices()


def _dense(X: np.ndarray, y: np.ndarray) -> Split:
    """As for texts, but with a third to judge by and a fifth to calibrate: there are few rows."""
    every = np.arange(len(y))
    rest, judge = sets.cut(every, every, 0.33)
    learn, calibrate = sets.cut(rest, rest, 0.2)
    return _split(X, y, learn, (calibrate, judge))


def _split(X: Any, y: np.ndarray, learn: np.ndarray, others: Iterable[np.ndarray]) -> Split:
    # A class of a few rows may be missing from the training rows: no model can predict it.
    known = np.unique(y[learn])
    parts = (rows[np.isin(y[rows], known)] for rows in (learn, *others))
    return Split(*((X[rows], y[rows]) for rows in parts))
