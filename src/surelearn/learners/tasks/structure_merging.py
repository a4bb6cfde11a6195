"""Structured models trained apart as one: labels and features are matched by name, then summed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn._check import FormatError
from surelearn.files import Fields, Tensors
from surelearn.learners.base import is_fitted, put_model, settings_of
from surelearn.learners.file_parts import diagonal_in
from surelearn.learners.task import Task
from surelearn.learners.tasks.structured import known_places
from surelearn.merging import Evidence, MergeState, Way, way_of
from surelearn.weights import Diagonal, Layout

#: Where the features of a model stand in the merged one, an array for each kind of feature.
Numbers = tuple[NDArray[np.int64], ...]


class Mergeable(Protocol):
    """A model of structures whose rows and columns of weights have names."""

    layout: Layout
    initial_variance: float
    classes: NDArray[Any]
    weights: Diagonal | None
    mistakes: list[int]
    updates: int

    def copy(self) -> Self:
        """An independent copy."""

    @staticmethod
    def united(models: Any) -> tuple[Any, list[Any]]:
        """A model that has learnt nothing but knows all labels and features, and where those of
        each model stand in it: `Numbers`."""

    @property
    def rows_for(self) -> Callable[..., NDArray[np.int64]]:
        """``rows_for(other, places, *numbers)``: for each row of the other's weights, the matching
        row here; -1: there is none."""


@dataclass(frozen=True)
class StructureMergeState:
    """Models that are merged: states add up, and `result` makes one model of them.

    Features are numbered as the first model has met them, then the second, and so on; the weights
    of a feature do not depend on the order of the models.
    """

    how: Way
    models: tuple[Mergeable, ...]
    make: Callable[[StructureMergeState, StructureMergeState | None], Any] | None = None
    held: tuple[Any, ...] = ()  # records that were kept back

    @classmethod
    def of(cls, model: Mergeable, how: str | Evidence = "evidence") -> StructureMergeState:
        """The state of one model, which may go on learning."""
        return cls(way_of(how), (model.copy(),))

    def __add__(self, other: StructureMergeState) -> StructureMergeState:
        _check.agree("how", self.how, other.how)
        return replace(self, models=self.models + other.models, held=self.held + other.held)

    @staticmethod
    def combined(states: Iterable[StructureMergeState], *, threads: int = 1) -> StructureMergeState:
        """Of the models of all."""
        listed = list(states)
        _check.some_state(len(listed))
        return reduce(operator.add, listed)

    def result(self, prior: StructureMergeState | None = None) -> Any:
        """One estimator where these were of estimators, otherwise what `merged` gives."""
        return self.merged(prior) if self.make is None else self.make(self, prior)

    def merged(self, prior: StructureMergeState | None = None) -> Any:
        """One model of all; `prior` is what each of them started from."""
        starts = () if prior is None else prior.models
        whole, numbers = self.models[0].united((*self.models, *starts))
        start, begun = None, None
        if prior is not None:
            begun = _weights(whole, prior.models[0], numbers[len(self.models)])
            start = _state(whole, prior.models[0], begun, how=self.how)
        states = [
            _state(whole, model, _weights(whole, model, rows), how=self.how, start=begun)
            for model, rows in zip(self.models, numbers, strict=False)
        ]
        merged = MergeState.combined(states).merged(start)
        if isinstance(merged.weights, Diagonal):
            whole.weights = merged.weights
        whole.mistakes, whole.updates = merged.mistakes, merged.updates
        return whole


def _weights(whole: Mergeable, model: Mergeable, numbers: Numbers) -> Diagonal | None:
    """A model's weights under the rows and columns of the whole."""
    if model.weights is None:
        return None
    places = known_places(model.classes, whole.classes)
    rows = model.rows_for(whole, places, *numbers)
    return model.weights.with_features(rows).with_columns(places.tolist())


def _state(
    whole: Mergeable,
    model: Mergeable,
    weights: Diagonal | None,
    *,
    how: Way,
    start: Diagonal | None = None,
) -> MergeState:
    """What merging has to know of a model whose weights are those of the whole."""
    return MergeState.of_columns(
        weights,
        how,
        layout=whole.layout,
        initial_variance=whole.initial_variance,
        n_columns=len(whole.classes),
        mistakes=model.mistakes,
        updates=model.updates,
        start=start,
    )


class StructureTask(Task):
    """What taggers and classifiers of graphs share: labels and features matched by name."""

    def put_weights(
        self, model: Any, fields: Fields, tensors: Tensors, budget: int, *, n_rows: int
    ) -> None:
        """Put the weights of a file into a model, whose features have so many rows."""
        layout = model.layout
        if layout.intercept or layout.covariance != "diagonal" or layout.n_features != n_rows:
            raise FormatError(
                f"{fields.where}: layout must be diagonal, without intercept, with {n_rows} "
                "features."
            )
        if len(model.classes):
            own, K = fields.inner("weights"), len(model.classes)
            model.weights = diagonal_in(own, tensors, layout, n_columns=K, budget=budget)

    def state(self, estimator: Any, how: Way, *, like: Any) -> StructureMergeState:
        if is_fitted(estimator):
            state: StructureMergeState = estimator.__merge_state__(how)
            return state
        blank = settings_of(estimator).untrained()
        return StructureMergeState.of(replace(blank, projection=like.model_.projection), how)

    def put_merged(self, estimator: Any, total: StructureMergeState, fitted: Sequence[Any]) -> Any:
        put_model(estimator, total.merged())
        return estimator
