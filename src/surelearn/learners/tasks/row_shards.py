"""Shards of rows in memory: weights of their own features alone; must not know estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.label_scoring import scorer_of
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.rows import RowModel
from surelearn.merging import (
    Entries,
    Evidence,
    MergeState,
    ShardState,
    Way,
    go_on_from,
    merged_round,
    merges_in_order,
)
from surelearn.read import Labels
from surelearn.rows import rows_of
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.shards import Shard, spans
from surelearn.units import Units
from surelearn.weights import Diagonal

if TYPE_CHECKING:
    from surelearn.learners.tasks.row_settings import RowSettings
    from surelearn.learners.tasks.row_training import RowTrainable


class OwnRows(NamedTuple):
    """Rows of a shard under the numbers of the features that they have.

    Parameters
    ----------
    given : RowBlock
    block : RowBlock
        The same rows under those numbers.
    features : ndarray of int64 or None
        The features, and the intercept's; None: those of the model.
    """

    given: RowBlock
    block: RowBlock
    features: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, block: RowBlock, start: RowModel) -> Self:
        begin, end = _span(block)
        found = block.rows.with_own_features(begin, end) if block.size else None
        if found is None:
            return cls(block, block)
        features, rows = found
        if start.layout.intercept:
            features = np.append(features, start.layout.n_features)
        some = slice(begin, end)
        own = block._replace(
            rows=rows,
            labels=block.labels.take(some),
            weight=None if block.weight is None else block.weight[some],
            numbers=np.arange(begin, end) if block.numbers is None else block.numbers[some],
            span=None,
            X=None,
        )
        return cls(block, own, features)

    @property
    def entries(self) -> Entries | None:
        """How long these rows are; None of dense ones."""
        if not self.block.size:
            return None
        values = self.given.rows.n_values(*_span(self.given))
        return None if values is None else Entries(self.given.size, values)

    def model(self, start: RowModel, before: RowModel | None) -> RowModel:
        """A model that goes on from `start`, in the memory of that of the round before."""
        assert isinstance(start.weights, Diagonal)
        layout = start.layout
        if self.features is not None:
            n_features = len(self.features) - layout.intercept
            layout = replace(layout, n_features=n_features)
        weights = None if before is None else before.weights
        if not isinstance(weights, Diagonal):
            weights = Diagonal(layout, start.weights.n_columns, start.weights.prior)
        go_on_from(weights, start.weights, self.features)
        counts, mistakes = start.counts.copy(), list(start.mistakes)
        return replace(start, layout=layout, weights=weights, counts=counts, mistakes=mistakes)

    def state(self, model: RowModel, start: RowModel) -> ShardState:
        """What a model of `model` has learnt."""
        counts = model.counts - start.counts
        return ShardState.of(model, start, counts, features=self.features, entries=self.entries)

    def last(self, n: int) -> tuple[tuple[Any, Labels], Any]:
        """The last n records, and their rows for weights of so many own features."""
        _, end = _span(self.given)
        some = slice(end - n, end)
        X = self.given.X[some]
        records = X, self.given.labels.take(some)
        _, end = _span(self.block)
        return records, self.block.rows.part(end - n, end)


def _span(block: RowBlock) -> tuple[int, int]:
    return block.span or (0, block.size)


def merged_rows(
    start: RowModel, states: Iterable[MergeState | ShardState], how: Way, *, threads: int = 1
) -> tuple[RowModel, tuple[HeldOut, ...]]:
    """What shards, in their order, have made of `start`, and what they have kept back.

    Weights that are not merged by their moves have sums without an order: `MergeState`.
    """
    if merges_in_order(how, start.weights):
        shards = cast("list[ShardState]", list(states))
        assert isinstance(how, Evidence)
        found = merged_round(start, shards, how, threads=threads)
        counts = start.counts + found.counts
        merged = replace(start, **{**found._asdict(), "counts": counts})
        return merged, tuple(one for state in shards for one in state.held)
    prior = start.merge_state(how) if start.mistakes else None
    total = MergeState.combined(cast("Iterable[MergeState]", states), threads=threads)
    return RowModel.merged(total, prior, projection=start.projection, threads=threads), total.held


def with_weights(start: RowModel) -> RowModel:
    """A model that has weights; one without gets those of a new model of its classes."""
    if start.weights is not None:
        return start
    blank = replace(start, classes=start.classes[:0], counts=start.counts[:0], code=None)
    return blank.with_classes(start.classes)


class RowShards:
    """Shards of rows in memory; see `protocol.Learner`.

    Parameters
    ----------
    settings : RowSettings
    model : RowModel or None
    """

    def __init__(self, settings: RowSettings, model: RowModel | None) -> None:
        self.settings = settings
        self.model = model
        self.held: list[tuple[Any, Labels]] = []  # rows that no merged part has learnt
        self.units: Units | None = None  # that the model, but not these rows, is in
        self._own: OwnRows | None = None  # of a shard

    @abstractmethod
    def _publish(self, model: RowModel) -> None:
        """Go on with a new model."""

    def begin_round(self, block: RowBlock, start: RowModel, how: Way) -> RowBlock:
        if not merges_in_order(how, start.weights):
            self.model = start.copy()
            self._own = OwnRows(block, block)
            return block
        self._own = self._own or OwnRows.of(block, start)
        self.model = self._own.model(start, self.model)
        return self._own.block

    def end_round(self, start: RowModel, how: Way, held: int) -> Any:
        model, own = self.model, self._own
        assert model is not None
        assert own is not None
        in_order = merges_in_order(how, model.weights)
        state: Any = own.state(model, start) if in_order else model.merge_state(how, start=start)
        if not held:
            return state
        records, rows = own.last(held)
        right = scorer_of(model, self.settings.rule).right(rows, records[1])
        return replace(state, held=(HeldOut(records, right),))

    def merge_round(
        self, states: Iterable[MergeState | ShardState], how: Way, *, threads: int = 1
    ) -> None:
        start = self.model
        assert start is not None
        merged, held = merged_rows(start, states, how, threads=threads)
        self._publish(merged)
        self.held = [one.records for one in held]
        warn_if_worse(held, self._right, how)

    def _right(self, records: tuple[Any, Labels]) -> NDArray[np.bool_]:
        """Where the model is right."""
        assert self.model is not None
        X, labels = records
        rows = rows_of(X) if self.units is None else self.units.of(rows_of(X))
        return scorer_of(self.model, self.settings.rule).right(rows, labels)


def cut(whole: RowTrainable, block: RowBlock) -> list[Shard]:
    """Stretches of a block, each with a learner of its own."""
    n, method = whole.settings.n_shards, whole.settings.method
    # Threads that are not needed for shards help with large full covariances.
    each = whole.settings.but(method=method._replace(threads=max(1, method.threads // n)))
    return [
        Shard(number, type(whole)(each, whole.reader), block._replace(span=span))
        for number, span in enumerate(spans(block.size, n))
    ]
