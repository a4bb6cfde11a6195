"""Taggers trained apart as one: labels, features and pairs are matched by name, then summed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.merging import Evidence, MergeState, Way, joined, way_of
from surelearn.models.sequences import SequenceModel
from surelearn.weights import Diagonal

#: Where features of tokens and of pairs stand in the merged model.
_Numbers = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class SequenceMergeState:
    """Taggers that are merged: states add up, and `result` makes one model of them.

    Features are numbered as the first model has met them, then the second, and so on; the weights
    of a feature do not depend on the order of the models.
    """

    how: Way
    models: tuple[SequenceModel, ...]
    make: Callable[[SequenceMergeState, SequenceMergeState | None], Any] | None = None
    held: tuple[Any, ...] = ()  # records that were kept back

    @classmethod
    def of(cls, model: SequenceModel, how: str | Evidence = "evidence") -> SequenceMergeState:
        """The state of one model, which may go on learning."""
        return cls(way_of(how), (model.copy(),))

    def __add__(self, other: SequenceMergeState) -> SequenceMergeState:
        _check.agree("how", self.how, other.how)
        return replace(self, models=self.models + other.models, held=self.held + other.held)

    @staticmethod
    def combined(states: Iterable[SequenceMergeState], *, threads: int = 1) -> SequenceMergeState:
        """Of the models of all."""
        return reduce(operator.add, states)

    def result(self, prior: SequenceMergeState | None = None) -> Any:
        """One tagger where these were taggers, otherwise what `merged` gives."""
        return self.merged(prior) if self.make is None else self.make(self, prior)

    def merged(self, prior: SequenceMergeState | None = None) -> SequenceModel:
        """One model of all; `prior` is what each of them started from."""
        starts = () if prior is None else prior.models
        whole, numbers = _union((*self.models, *starts))
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


def _union(models: tuple[SequenceModel, ...]) -> tuple[SequenceModel, list[_Numbers]]:
    """A model that has learnt nothing but knows all labels and features, and where these stand."""
    first = models[0]
    blank = replace(
        first.copy(),
        layout=replace(first.layout, n_features=2),
        features=deepcopy(first.features),
        classes=first.classes[:0],
        n_pairs=0,
        weights=None,
        mistakes=[],
        updates=0,
    )
    numbers = [blank.features.absorb(model.features) for model in models]
    classes = first.classes
    for model in models:
        classes = joined(classes, model.classes)
    return blank.fitting(classes), numbers


def _weights(whole: SequenceModel, model: SequenceModel, numbers: _Numbers) -> Diagonal | None:
    """A model's weights under the rows and columns of the whole."""
    if model.weights is None:
        return None
    known = {label: k for k, label in enumerate(model.classes.tolist())}
    places = [known.get(label, -1) for label in whole.classes.tolist()]
    rows = model.rows_for(whole, np.array(places), *numbers)
    return model.weights.with_features(rows).with_columns(places)


def _state(
    whole: SequenceModel,
    model: SequenceModel,
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
