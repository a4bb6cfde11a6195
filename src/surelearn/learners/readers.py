"""Readers turn the records of a stream into rows; must not know how rows are learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from surelearn import _check, _core
from surelearn.learners.checks import ROWS, checked
from surelearn.learners.feature_names import FeatureNames
from surelearn.learners.tasks.row_block import Features
from surelearn.merging import Documents, Words
from surelearn.parameters import untrained
from surelearn.text import NativeVectorizer


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
        if not hasattr(X, "shape"):
            raise ValueError("records must be rows of numbers, got texts. Use SureTextClassifier.")
        X = checked(X, **ROWS)
        if self.n_features is None:
            self.n_features, self.names = X.shape[1], names
        _check.n_features(self.n_features, X.shape[1], "X")
        arrays = (X.indptr, X.indices, X.data) if issparse(X) else (X,)
        return Features(arrays, X.shape[1])

    def register(self, features: Features) -> None:
        pass  # the names of columns are known from the source

    def weighed(self, rows: _core.Rows, *, counting: bool) -> _core.Rows:
        return rows  # numbers are learnt as they are

    def forget(self, rows: _core.Rows, first: int) -> None:
        pass

    def words(self) -> Words | None:
        return None if self.hashed is None else self.hashed.words()

    def documents(self) -> Documents | None:
        return None

    def know(self, words: Words | None, documents: Documents | None = None) -> None:
        if words is not None:
            self.hashed = FeatureNames.of(words)

    def fork(self) -> NumberReader:
        return NumberReader(self.n_features, self.names, self.hashed)


class TextReader:
    """Reads texts as rows of hashed words.

    Parameters
    ----------
    vectorizer : NativeVectorizer
        It also remembers the words of learnt texts, and counts these texts.
    is_shard : bool, default False
        Whether the counts are those of all shards, and no part of what this one has learnt.
    """

    def __init__(self, vectorizer: NativeVectorizer, *, is_shard: bool = False) -> None:
        self.vectorizer = vectorizer
        self.is_shard = is_shard

    @property
    def n_features(self) -> int:
        return int(self.vectorizer.n_features)

    def read(self, X: Any, names: list[str] | None) -> Features:
        if hasattr(X, "shape"):
            raise ValueError("records must have a text, got rows of numbers. Use SureClassifier.")
        arrays, words = self.vectorizer.transform_apart(X)
        return Features(arrays, self.n_features, words)

    def register(self, features: Features) -> None:
        if features.names is not None:
            self.vectorizer.meet_names(features.names)

    def weighed(self, rows: _core.Rows, *, counting: bool) -> _core.Rows:
        if not self.vectorizer.idf:
            return rows
        if counting:
            return self.vectorizer.count_and_weigh_rows(rows)
        return self.vectorizer.weigh_rows(rows)

    def forget(self, rows: _core.Rows, first: int) -> None:
        if self.vectorizer.idf:
            self.vectorizer.documents.forget_rows(rows, first)

    def words(self) -> Words | None:
        return Words(*self.vectorizer.names_met()) if self.vectorizer.keep_names else None

    def documents(self) -> Documents | None:
        counted = self.vectorizer.idf and not self.is_shard
        return self.vectorizer.documents_met() if counted else None

    def know(self, words: Words | None, documents: Documents | None = None) -> None:
        counted = self.documents() if documents is None else documents
        self.vectorizer = untrained(self.vectorizer)
        self.vectorizer.check_settings([])
        if self.vectorizer.idf:
            self.vectorizer.fit([])
        if counted is not None:
            self.vectorizer.restore_documents(counted)
        if words is not None:
            features, ends, text, shared = words
            letters = np.frombuffer(text, dtype=np.uint8)
            self.vectorizer.restore_names(features, ends, letters, shared)

    def fork(self) -> TextReader:
        other, counted = TextReader(untrained(self.vectorizer)), self.documents()
        if counted is not None:
            other.vectorizer.restore_documents(counted)
        return other
