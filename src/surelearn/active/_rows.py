"""Rows that are read once and scored again and again; must not know strategies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surelearn.active._view import NativeView, SklearnView
from surelearn.learners.answers.classifier import Probabilistic, scored_rows
from surelearn.learners.answers.linear import Linear, reads_by_names
from surelearn.learners.text_classifier import SureTextClassifier, new_vectorizer, taken
from surelearn.rows import rows_of

Rows = NDArray[np.int64]

#: Rows of a part at most: scoring them takes milliseconds, however large the pool is.
_MOST = 10_000


class ReadRows:
    """Rows of X by number, or all; a model of ours reads them when it first sees them.

    Only what was read is kept: X may be a column that makes its texts anew each time.
    """

    def __init__(self, X: Any, numbers: Rows | None = None) -> None:
        self._X, self._numbers = X, numbers
        self._read: Any = None

    @property
    def X(self) -> Any:
        return self._X if self._numbers is None else taken(self._X, self._numbers)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_read": None}  # core rows cannot be pickled; they are read again

    def read(self, model: Any) -> None:
        """Read the rows once, if the model is one that can keep what was read."""
        if self._read is not None or not isinstance(model, Probabilistic) or _by_names(model):
            return
        if _weighs(model):
            vectorizer = new_vectorizer(clone(model).set_params(keep_names=False))
            vectorizer.n_jobs = model.n_jobs
            self._read = rows_of(vectorizer.unweighed(self.X))
        else:
            self._read = scored_rows(model, self.X)

    def view(self, model: Any) -> NativeView | SklearnView:
        """The rows as the model sees them now."""
        if not isinstance(model, Probabilistic):
            return SklearnView(model, self.X)
        self.read(model)
        if self._read is None:
            return NativeView(model, self.X)
        # Texts are weighed by those learnt so far, which are more each time.
        if isinstance(model, SureTextClassifier) and model.idf:
            return NativeView(model, model.vectorizer_.weigh_rows(self._read))
        return NativeView(model, self._read)


class PoolRows:
    """Rows in random parts of nearly the same size, which questions score in turn.

    The least sure of ten thousand random rows teaches about as much as the least sure of all.
    """

    def __init__(self, X: Any, order: Rows) -> None:
        self._X = X
        n_parts = -(-len(order) // _MOST)
        self._parts = [np.sort(order[k::n_parts]) for k in range(n_parts)]
        self._read = [self._rows([part]) for part in range(n_parts)]

    def candidates(self, turn: int, n: int, is_open: NDArray[np.bool_]) -> tuple[list[int], Rows]:
        """The parts whose turn it is, as many as hold n open rows, and the numbers of their rows.

        The parts are given by number, in the order of their rows.
        """
        parts: list[int] = []
        found = 0
        while found < n and len(parts) < len(self._parts):
            parts.append((turn + len(parts)) % len(self._parts))
            found += int(is_open[self._parts[parts[-1]]].sum())
        return parts, self._numbers(parts)

    def view(self, model: Any, parts: list[int]) -> NativeView | SklearnView:
        """Parts as the model sees them now."""
        for rows in self._read:
            rows.read(model)  # all with the first question, so that no other waits for a part
        rows = self._read[parts[0]] if len(parts) == 1 else self._rows(parts)
        return rows.view(model)

    def _rows(self, parts: list[int]) -> ReadRows:
        if len(self._parts) == 1:
            return ReadRows(self._X)
        return ReadRows(self._X, self._numbers(parts))

    def _numbers(self, parts: list[int]) -> Rows:
        found = [self._parts[part] for part in parts]
        return found[0] if len(found) == 1 else np.concatenate(found)


def _weighs(model: Any) -> bool:
    """Whether the rows of a text depend on the texts that the model has learnt."""
    return isinstance(model, SureTextClassifier) and bool(model.idf)


def _by_names(model: Any) -> bool:
    """Whether a name that the model meets later gets a column, so that rows are read again."""
    return isinstance(model, Linear) and reads_by_names(model)
