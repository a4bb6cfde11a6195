"""Learning one row the shortest way, and a batch in which classes appear; must not know files."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.estimators._base import as_labels
from surelearn.estimators._proba import Certain
from surelearn.models.row_settings import Plan, balanced_stream, given_weight, times
from surelearn.models.rows import Batch, Model, joined
from surelearn.weights import Method


class RowByRow(Certain):
    """A classifier that goes on learning, down to single rows."""

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn one row.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict of {feature: value}
            A dict once the number of features is known.
        y : label
        sample_weight : float, optional
        """
        rows, n_features, is_sparse = self._one(x, learning=True)
        weight = 1.0
        if sample_weight is not None:
            weight = _check.number("sample_weight", sample_weight, "[0, inf)", low=0.0)
        if weight == 0.0:
            return self
        method = self._kept_method()
        place = None if method is None else _place(self._model, y)
        if method is None or place is None:
            self._learn_unprepared(rows, n_features, is_sparse, y=y, weight=weight)
        else:
            self._model.learn_row(method, rows, place, weight)
        return self

    def _untrained(self, plan: Plan, n_features: int, is_sparse: bool) -> Model:
        layout = plan.layout(n_features)
        none: NDArray[Any] = np.zeros(0, dtype=np.int64)
        projection = plan.resolved(is_sparse)
        return Model(layout, plan.initial_variance, projection, none, multiclass=plan.multiclass)

    def _present(self, plan: Plan, n_features: int, is_sparse: bool) -> Model:
        """The model to go on with."""
        if self._fresh:
            return self._untrained(plan, n_features, is_sparse)
        model = self._model
        plan.check_fits(model)
        projection = model.projection if plan.projection == "auto" else plan.projection
        return model if projection == model.projection else replace(model, projection=projection)

    def _learn_unprepared(
        self, row: _core.Rows, n_features: int, is_sparse: bool, *, y: Any, weight: float
    ) -> None:
        """Learn one row with every check; the next ones may go the short way."""
        params = self.get_params(deep=False)
        plan = Plan.of(params)
        labels = as_labels([y])
        if not self._fresh:
            self._check_settings()
        model = self._present(plan, n_features, is_sparse)
        _check.one_kind(model.classes, labels)
        plan.check_classes(joined(model.classes, labels), model)
        weights = given_weight(plan.class_weight, labels, np.array([weight]))
        if weights is not None and not weights[0]:
            return
        self.n_features_in_ = n_features
        self._absorb(model, plan, Batch(row, None, labels, weights))
        if plan.can_be_kept and self._model.weights is not None:
            method = self._model.method(plan.how)
            self._kept = (list(params), list(params.values()), method, self._model.layout)

    def _kept_method(self) -> Method | None:
        """The method of the last row, if nothing has changed that it depends on."""
        kept = self.__dict__.get("_kept")
        if kept is None or self._model.layout is not kept[3]:
            return None
        values = map(self.__dict__.get, kept[0])
        return kept[2] if all(map(operator.is_, values, kept[1])) else None

    def _absorb(self, model: Model, plan: Plan, batch: Batch) -> None:
        """Learn a batch, classes that are new in it too."""
        if plan.class_weight == "balanced":
            batch = batch._replace(weight=_stream_weight(model, batch))
        model.absorb(plan.how, batch, publish=self._publish)

    def _publish(self, model: Model) -> None:
        self._model = model


def _place(model: Model, y: Any) -> int | None:
    """The place of a known label."""
    try:
        return model.places.get(y)
    except TypeError:  # not hashable, so not a label: the long way says so
        return None


def _stream_weight(model: Model, batch: Batch) -> NDArray[np.float64]:
    every = joined(model.classes, batch.y)
    counts = np.zeros(len(every), dtype=np.int64)
    counts[np.searchsorted(every, model.classes)] = model.counts
    return times(balanced_stream(np.searchsorted(every, batch.y), counts), batch.weight)
