"""Rows as a model sees them, read once and scored again and again; must not know strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surelearn import _check, _core
from surelearn.active._table_rows import as_read_by, n_rows, taken
from surelearn.dual import KernelRows
from surelearn.learners.answers.classifier import Probabilistic, scored_rows, scorer
from surelearn.learners.answers.judgement import why_unsure
from surelearn.learners.answers.linear import Linear, reads_by_names
from surelearn.learners.answers.views import RowView
from surelearn.learners.scoring import Scorer, TopTwoMargin
from surelearn.learners.table_classifier import (
    SureTableClassifier,
    unweighed_rows,
    weighed_rows,
)
from surelearn.learners.tasks.row_task import ROWS
from surelearn.learners.text_classifier import SureTextClassifier, new_vectorizer
from surelearn.rows import rows_of

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Rows of a part at most: scoring them takes milliseconds, however large the pool is.
_MOST = 10_000

#: Rows that need not be read again.
_READ = (_core.Rows, KernelRows)


class Missing(Exception):
    """A strategy needs something that the model does not have, with the reason."""

    def __init__(self, needs: str, why: str) -> None:
        super().__init__(needs, why)
        self.needs, self.why = needs, why


def view(model: Any, X: Any) -> NativeView | SklearnView:
    """The rows as `model` sees them."""
    ROWS.check_model("model", model)
    X = as_read_by(model, X)
    return NativeView(model, X) if isinstance(model, Probabilistic) else SklearnView(model, X)


@dataclass(frozen=True)
class NativeView:
    """One of our classifiers; rows in `X` that one has read are not read again."""

    model: Any
    X: Any

    def __len__(self) -> int:
        return len(self.X) if isinstance(self.X, _READ) else n_rows(self.X)

    @cached_property
    def rows(self) -> Any:
        if isinstance(self.X, _READ):
            return self.X
        return scored_rows(self.model, self.X)

    @cached_property
    def scorer(self) -> Scorer:
        return scorer(self.model)

    def predict(self) -> NDArray[Any]:
        return np.asarray(self.scorer.model.classes[self.scorer.winners(self.rows)])

    def margin(self) -> Array:
        """The best score minus the second best."""
        model = self.scorer.model
        _check.trained(model.weights, "margin")
        if model.many_labels:  # the least margin of any label
            return np.asarray(np.abs(self.scorer.class_scores(self.rows)).min(axis=1))
        if model.code is not None:
            return best_less_next(self.scorer.class_scores(self.rows))
        return self.scorer.top_two(self.rows).gap

    def sureness(self) -> Array:
        """The margin of the best two labels in standard deviations; inf without variance."""
        self.check_certain("variances")
        return unsure_first(self.scorer.top_two(self.rows))

    def familiarity(self) -> Array:
        """The best label's score in standard deviations; inf without variance."""
        self.check_certain("variances")
        if self.scorer.model.many_labels:
            raise Missing("best label", "its rows have many labels")
        found = -RowView(self.scorer, self.rows, None).novelty("deviations")
        (zero,) = np.nonzero(found == 0)
        if len(zero):  # a mean of 0, or a row that cannot teach the model anything
            found[zero[self.scorer.top_two(self.rows, zero).own <= 0]] = np.inf
        return found

    def probabilities(self) -> Array:
        self.check_certain("probabilities")
        if self.scorer.model.many_labels:
            raise Missing("probabilities that sum to one", "its rows have many labels")
        return self.scorer.probabilities(self.rows)

    def check_certain(self, needs: str) -> None:
        """Raise `Missing` for a model without variances."""
        why = why_unsure(self.model)
        if why:
            raise Missing(needs, why)


@dataclass(frozen=True)
class SklearnView:
    """Any other classifier, scored through its scikit-learn methods."""

    model: Any
    X: Any

    def __len__(self) -> int:
        return n_rows(self.X)

    def predict(self) -> NDArray[Any]:
        return np.asarray(self.model.predict(self.X))

    def margin(self) -> Array:
        check_is_fitted(self.model)
        if not hasattr(self.model, "decision_function"):
            raise Missing("margins", f"{type(self.model).__name__} has no decision_function")
        found = np.asarray(self.model.decision_function(self.X), dtype=np.float64)
        return best_less_next(found[:, None] if found.ndim == 1 else found)

    def sureness(self) -> Array:
        raise self.without_variances()

    def familiarity(self) -> Array:
        raise self.without_variances()

    def without_variances(self) -> Missing:
        return Missing("variances", f"{type(self.model).__name__} keeps none")

    def probabilities(self) -> Array:
        check_is_fitted(self.model)
        if not hasattr(self.model, "predict_proba"):
            raise Missing("probabilities", why_unsure(self.model))
        return np.asarray(self.model.predict_proba(self.X), dtype=np.float64)


def unsure_first(found: TopTwoMargin) -> Array:
    """The score of `acl`: the sureness, or inf for rows that cannot teach the model anything."""
    none = (found.own <= 0) | (found.variance <= 0)
    return np.where(none, np.inf, np.abs(found.sureness))


def best_less_next(scores: Array) -> Array:
    """Difference between the two largest scores of each row; the absolute value of one column."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


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
        if self._read is not None or not isinstance(model, Probabilistic):
            return
        # A name that the model meets later gets a column, so its rows are read again each time.
        if isinstance(model, Linear) and reads_by_names(model):
            return
        if isinstance(model, SureTableClassifier):
            self._read = unweighed_rows(model, self.X)
        elif isinstance(model, SureTextClassifier) and model.idf:
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
        if isinstance(model, SureTableClassifier):
            return NativeView(model, weighed_rows(model, self._read))
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
