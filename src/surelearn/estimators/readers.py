"""Readers turn the records of a stream into rows; must not know how rows are learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_array

from surelearn import _check
from surelearn.estimators.feature_names import FeatureNames
from surelearn.estimators.linear import ROWS
from surelearn.merging import Words
from surelearn.models.row_training import Features
from surelearn.text import HashingVectorizer


class NumberReader:
    """Reads rows of numbers; all have the number of columns of the first block.

    Parameters
    ----------
    n_features : int, optional
    names : list of str, optional
        Names of the columns.
    hashed : FeatureNames, optional
        Names of features in dicts. The estimator adds to them; a stream has no dicts.
    """

    def __init__(
        self,
        n_features: int | None = None,
        names: list[str] | None = None,
        hashed: FeatureNames | None = None,
    ) -> None:
        self.n_features = n_features
        self.names = names
        self.hashed = hashed

    def read(self, X: Any, names: list[str] | None) -> Features:
        _check.no_texts(X)
        X = check_array(X, **ROWS)
        if self.n_features is None:
            self.n_features, self.names = X.shape[1], names
        _check.n_features(self.n_features, X.shape[1], "X")
        arrays = (X.indptr, X.indices, X.data) if issparse(X) else (X,)
        return Features(arrays, X.shape[1])

    def meet(self, features: Features) -> None:
        pass  # the names of columns are known from the source

    def words(self) -> Words | None:
        return None if self.hashed is None else self.hashed.words()

    def know(self, words: Words | None) -> None:
        if words is not None:
            self.hashed = FeatureNames.of(words)

    def fork(self) -> NumberReader:
        return NumberReader(self.n_features, self.names, self.hashed)


class TextReader:
    """Reads texts as rows of hashed words.

    Parameters
    ----------
    vectorizer : HashingVectorizer
        It also remembers the words of learnt texts.
    """

    def __init__(self, vectorizer: HashingVectorizer) -> None:
        self.vectorizer = vectorizer

    @property
    def n_features(self) -> int:
        return int(self.vectorizer.n_features)

    def read(self, X: Any, names: list[str] | None) -> Features:
        _check.only_texts(X)
        arrays, words = self.vectorizer.transform_apart(X)
        return Features(arrays, self.n_features, words)

    def meet(self, features: Features) -> None:
        if features.names is not None:
            self.vectorizer.meet_names(features.names)

    def words(self) -> Words | None:
        return Words(*self.vectorizer.names_met()) if self.vectorizer.keep_names else None

    def know(self, words: Words | None) -> None:
        self.vectorizer = clone(self.vectorizer)
        self.vectorizer.fit([])
        if words is not None:
            features, ends, text, shared = words
            letters = np.frombuffer(text, dtype=np.uint8)
            self.vectorizer.restore_names(features, ends, letters, shared)

    def fork(self) -> TextReader:
        return TextReader(clone(self.vectorizer))
