"""What learners of sequences, graphs and groups share: labels, the loop of a pass, merging."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, merging, probability
from surelearn._check import FormatError
from surelearn.files import Fields, Tensors
from surelearn.learners.base import is_fitted, put_model, settings_of
from surelearn.learners.file_parts import diagonal_in
from surelearn.learners.task import Task
from surelearn.merging import (
    Evidence,
    Merged,
    MergeState,
    ShardState,
    Way,
    go_on_from,
    merged_round,
    merges_in_order,
    way_of,
)
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.protocol import Order, Report, refused
from surelearn.weights import Diagonal, Layout, Tally

#: Structures between two reports of progress.
_REPORT = 1 << 16


def weighted(
    X: list[Any], y: list[list[Any]], sample_weight: Any
) -> tuple[list[Any], list[list[Any]], NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Structures, labels and weights without those of weight 0; their numbers, if any is left out.

    Parameters
    ----------
    X : list of structures
    y : list of lists of labels
    sample_weight : array or None
    """
    weight = _check.sample_weight(sample_weight, len(y))
    if weight is None or weight.all():
        return X, y, weight, None
    numbers = np.flatnonzero(weight)
    return [X[i] for i in numbers], [y[i] for i in numbers], weight[numbers], numbers


def places_of(y: list[list[Any]], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the classes, list after list; -1: it is unknown."""
    places = {label: k for k, label in enumerate(classes.tolist())}
    return np.fromiter((places.get(label, -1) for label in chain.from_iterable(y)), np.int32)


def known_places(known: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each class among the known ones; -1: it is not known."""
    places = {label: k for k, label in enumerate(known.tolist())}
    return np.array([places.get(label, -1) for label in classes.tolist()], dtype=np.int64)


def with_labels(
    classes: NDArray[Any], labels: NDArray[Any], declared: NDArray[Any] | None
) -> NDArray[Any]:
    """All labels known so far, including the declared ones."""
    for some in (labels[:0] if declared is None else declared, labels):
        _check.one_kind(classes, some)
        classes = merging.merged_classes(classes, np.unique(some))
    return classes


def learn_in_turns(
    model: Any,
    size: int,
    learn: Callable[[tuple[int, int], NDArray[np.uint64]], bool],
    *,
    name: Callable[[int], tuple[int, int]],
    unit: str,
    report: Callable[[Tally], None] | None = None,
) -> None:
    """One pass over structures; a bad one raises `Refused` after those before it are learnt.

    Parameters
    ----------
    model : SequenceModel, GraphModel or RankModel
        What is learnt is counted, also if the pass is interrupted.
    size : int
        Number of structures to learn.
    learn : function
        Learns a span of them and adds to (learnt, mistakes, updates); returns whether one was
        refused.
    name : function
        For the structure in this place: its number in the user's data, and how many records come
        before it in this call.
    unit : str
        The word for a structure.
    report : function, optional
    """
    done, learnt, stopped = np.zeros(3, np.uint64), 0, False
    try:
        while learnt < size and not stopped:
            end = size if report is None else min(size, learnt + _REPORT)
            stopped = learn((learnt, end), done)
            learnt = int(done[0])
            if report is not None:
                report(Tally(*done.tolist()))
    finally:
        if done[0]:
            if not model.mistakes:
                model.mistakes.append(0)
            model.mistakes[-1] += int(done[1])
        model.updates += int(done[2])
        model.records_learnt += int(done[0])
    if stopped:
        number, before = name(learnt)
        raise refused(model, number, before, exact=False, unit=unit)


def check_fit(block: Any, unit: str) -> None:
    """Refuse structures that a model cannot be fitted to: `LabelledSequences`, `LabelledGraphs`."""
    if block.numbers is not None:  # some weights are zero
        _check.some_weight(block.size, unit)
    _check.two_classes(block.labels, "fit")


# ---------------------------------------------------------------------------- answers


def share_right(
    y: list[list[Any]], predicted: list[list[Any]], weight: NDArray[np.float64] | None
) -> float:
    """The share of labels that were predicted right; those of a structure have its weight."""
    factor = np.ones(len(y)) if weight is None else weight
    right = [
        sum(a == b for a, b in zip(*both, strict=True)) for both in zip(y, predicted, strict=True)
    ]
    total = float(factor @ np.array([len(own) for own in y], dtype=np.float64))
    return float(factor @ np.array(right, dtype=np.float64)) / total if total else float("nan")


def fitted_temperature(
    marginals: Callable[[float], NDArray[np.float64]], places: NDArray[np.int32]
) -> float:
    """The temperature with the least log loss of the marginals, drawn to 1 if labels are few.

    Parameters
    ----------
    marginals : function
        Gives the probability of each label, a row for each part, at a temperature.
    places : ndarray of int
        The right label of each part.
    """

    def log_probabilities(temperature: float) -> NDArray[np.float64]:
        own = marginals(temperature)[np.arange(len(places)), places]
        return np.asarray(np.log(np.maximum(own, np.finfo(float).tiny)))

    return probability.best_temperature(log_probabilities, shrink=True, near=1e-4)


# --------------------------------------------------------------------------- merging


def all_classes(models: Sequence[Any]) -> NDArray[Any]:
    """The labels of all models, sorted."""
    classes: NDArray[Any] = models[0].classes
    for model in models:
        classes = merging.merged_classes(classes, model.classes)
    return classes


def columns_state(
    model: Any, how: Way, *, n_columns: int, start: Any = None, counts: NDArray[Any] | None = None
) -> MergeState:
    """What merging needs from a model each column of which is merged for itself."""
    return MergeState.of_columns(
        model.weights,
        how,
        layout=model.layout,
        initial_variance=model.initial_variance,
        n_columns=n_columns,
        mistakes=model.mistakes,
        updates=model.updates,
        start=None if start is None else start.weights,
        counts=counts,
    )


def with_merged(model: Any, found: Merged) -> Any:
    """A model with merged weights and counters; `found` has no weights if no part has learnt."""
    weights = model.weights if found.weights is None else found.weights
    return replace(model, weights=weights, mistakes=found.mistakes, updates=found.updates)


# -------------------------------------------------------------------------- training


class StructureTrainable:
    """A model of structures in training; see `training.protocol.Trainable`.

    Parameters
    ----------
    settings : settings of the estimator
    model : model or None
        The model to continue with; None: start untrained.
    declared : ndarray or None
        Labels that the model knows from the first structure on.
    watch : function, optional
        Called with each new model.
    same_space : bool, default False
        Whether all shards know the same labels and features: then they are merged column by column,
        without a look at names.
    """

    def __init__(
        self,
        settings: Any,
        model: Any = None,
        *,
        declared: NDArray[Any] | None = None,
        watch: Callable[[Any], None] | None = None,
        same_space: bool = False,
    ) -> None:
        self.settings = settings
        self.model = model
        self._declared = declared
        self._watch = watch
        self._same_space = same_space
        self._block: Any = None  # of a shard in memory

    # ------------------------------------------------- what a kind of structures has to say

    @abstractmethod
    def register(self, block: Any) -> Any:
        """Let the model know the labels and features of a block, and encode it."""

    @abstractmethod
    def _learn(self, encoded: Any, order: Order, report: Report | None) -> None:
        """Learn an encoded block by the core."""

    @abstractmethod
    def _right(self, encoded: Any) -> NDArray[np.bool_]:
        """Where the model is right, for each label of a block."""

    # ---------------------------------------------------------------- learning

    def check_all_read(self, *, resumed: bool) -> None:
        pass  # no setting names labels or features

    def check_learnt(self) -> None:
        _check.two_classes(self.model.classes, "fit_stream")

    def learn(
        self,
        block: Any,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> Any:
        encoded = self.register(block)
        if starts_pass:
            self.model.mistakes.append(0)
        if encoded.size:
            self._learn(encoded, order, report)
        return encoded

    def _publish(self, model: Any) -> None:
        self.model = model
        if self._watch is not None:
            self._watch(model)

    # ----------------------------------------------------------------- merging

    def fork(self, model: Any = None, *, threads: int = 1) -> Self:
        return type(self)(
            self.settings, model, declared=self._declared, same_space=self._same_space
        )

    def state(self, how: Way, start: Any = None) -> Any:
        if self._same_space:
            n_columns = len(self.model.classes)
            return columns_state(self.model, how, n_columns=n_columns, start=start)
        model = self.settings.untrained() if self.model is None else self.model
        return StructureMergeState.of(model, how)

    def align(self, shards: Sequence[Any]) -> None:
        pass  # features of structures have no units

    def take(self, total: Any, prior: Any = None, *, threads: int = 1) -> None:
        if self._same_space:
            self.model = with_merged(self.model, total.merged(prior, threads=threads))
        else:
            self._publish(total.merged(prior))
        warn_if_worse(total.held, self._right, total.how)

    def begin_round(self, block: Any, start: Any, how: Way) -> Any:
        self._block = block
        before = self.model
        if before is None or not merges_in_order(how, start.weights):
            self.model = start.copy()
            return block
        go_on_from(before.weights, start.weights)
        self.model = replace(before, mistakes=list(start.mistakes), updates=start.updates)
        return block

    def end_round(self, start: Any, how: Way, held: int) -> Any:
        model, block = self.model, self._block
        if merges_in_order(how, model.weights):
            state: Any = ShardState.of(model, start, self._counted(model) - self._counted(start))
        else:
            state = self.state(how, start)
        if not held:
            return state
        records = block.part(block.size - held, block.size)
        return replace(state, held=(HeldOut(records, self._right(records)),))

    def merge_round(self, states: Iterable[Any], how: Way, *, threads: int = 1) -> None:
        start = self.model
        if not merges_in_order(how, start.weights):
            prior = self.state(how) if start.mistakes else None
            self.take(MergeState.combined(states, threads=threads), prior, threads=threads)
            return
        shards = list(states)
        assert isinstance(how, Evidence)
        weights, mistakes, updates, counts = merged_round(start, shards, how, threads=threads)
        merged = replace(start, weights=weights, mistakes=mistakes, updates=updates)
        self._publish(self._counting(merged, counts))
        warn_if_worse([one for state in shards for one in state.held], self._right, how)

    def _counted(self, model: Any) -> NDArray[np.int64]:
        """What else a model counts."""
        return np.zeros(0, dtype=np.int64)

    def _counting(self, model: Any, more: NDArray[np.int64]) -> Any:
        """The same model after so many more."""
        return model


# --------------------------------------------------------- merging by names, files

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
