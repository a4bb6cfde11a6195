"""A model's margins, sureness and probabilities of rows; must not know strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from surelearn import _check, _core
from surelearn.dual import KernelRows
from surelearn.learners.answers.classifier import Probabilistic, scored_rows, scorer
from surelearn.learners.answers.judgement import why_unsure
from surelearn.learners.scoring import Scorer, TopTwoMargin
from surelearn.learners.tasks.row_task import ROWS

Array = NDArray[np.float64]

#: Rows that need not be read again.
_READ = (_core.Rows, KernelRows)


class Missing(Exception):
    """A strategy needs something that the model does not have, with the reason."""

    def __init__(self, needs: str, why: str) -> None:
        super().__init__(needs, why)
        self.needs, self.why = needs, why


def n_rows(X: Any) -> int:
    """The number of rows of a matrix, a frame or a list."""
    return int(_num_samples(X))


def view(model: Any, X: Any) -> NativeView | SklearnView:
    """The rows as `model` sees them."""
    ROWS.check_model("model", model)
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
