"""Rows and sentences of the experiment, and how they are cut; must not know learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from experiments import sets

#: One of so many parts is judged; of the rest, this share chooses parameters.
FOLDS, CHECKED = 3, 0.25


class Part(NamedTuple):
    """Rows or sentences with their labels, and a number that equal ones share."""

    X: Any
    y: Any
    groups: np.ndarray

    def at(self, places: np.ndarray) -> Part:
        """Some of them, in this order."""
        groups = self.groups[places]
        if isinstance(self.X, list):
            return Part([self.X[i] for i in places], [self.y[i] for i in places], groups)
        return Part(self.X[places], self.y[places], groups)

    def cut(self, share: float = CHECKED) -> tuple[Part, Part]:
        """Two parts, the second with a share of all; equal ones stay together."""
        first, second = sets.cut(np.arange(len(self.groups)), self.groups, share)
        return self.at(first), self.at(second)


class Split(NamedTuple):
    """What is learnt, in random order, and what is judged."""

    learn: Part
    judge: Part


def splits(name: str, n_folds: int = FOLDS) -> Iterator[Split]:
    """A set of rows, each part judged once.

    Texts are log counts of words times how rare they are among the rows to learn, of length 1.
    Dense features have mean 0 and variance 1 there.
    """
    X, y, groups = sets.rows(name, norm=None)
    if name not in sets.DENSE:
        X = X[:, np.unique(X.indices)].astype(np.float64)
    for learn, judge in sets.folds(groups, n_folds):
        if name in sets.DENSE:
            rows = sets.standardised(X[learn], X[judge])
        else:
            scale = TfidfTransformer(sublinear_tf=True).fit(X[learn])
            rows = tuple(scale.transform(X[places]) for places in (learn, judge))
        yield Split(
            *(Part(x, y[at], groups[at]) for x, at in zip(rows, (learn, judge), strict=True))
        )


def chunks() -> Split:
    """CoNLL-2000 as published: words and parts of speech, tags of chunks; to learn in random
    order."""
    learn, judge = (_sentences(f"conll2000/{part}.txt.xz") for part in ("train", "test"))
    order = np.random.default_rng(0).permutation(len(learn.groups))
    return Split(learn.at(order), judge)


def _sentences(name: str) -> Part:
    found = sets.sentences(name)
    X = [[token[:2] for token in tokens] for tokens in found]
    y = [[token[2] for token in tokens] for tokens in found]
    return Part(X, y, sets.numbered([tuple(tokens) for tokens in X]))
