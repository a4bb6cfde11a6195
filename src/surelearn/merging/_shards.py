"""Shards that went on from one base, merged into it in their order; see `Evidence`.

Their order is known, so plain sums in this order are the same in any number of threads and on any
machine. `MergeState` needs more: it must not depend on the order of models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.merging._exact import slices
from surelearn.merging._learnt import Evidence, Way, at_power, scaled_by
from surelearn.merging._sums import weights_fit
from surelearn.weights import Diagonal


class ShardRuns(NamedTuple):
    """The weights of a shard: the runs of some features of its base.

    Parameters
    ----------
    features : ndarray of int64 or None
        Ascending; None: all of them.
    cells : ndarray of shape (n, numbers of a feature)
    since : int
        Updates since the base.
    prior : float
        Variance of an untouched weight.
    """

    features: NDArray[np.int64] | None
    cells: NDArray[Any]
    since: int
    prior: float

    @classmethod
    def of(
        cls, weights: Diagonal, base: Diagonal, features: NDArray[np.int64] | None = None
    ) -> Self:
        """A view of the weights of a shard, whose features are these of the base."""
        cells, rounds = _core.runs(weights.core)
        return cls(features, cells, rounds - _core.runs(base.core)[1], weights.prior)

    def moved(self, base: Diagonal) -> Self:
        """Of the features that have moved, to be sent: the others add nothing."""
        start, _ = _core.runs(base.core)
        features = np.arange(len(start)) if self.features is None else self.features
        some = np.flatnonzero((self.cells != start[features]).any(axis=1))
        return self._replace(features=features[some], cells=self.cells[some])


class Entries(NamedTuple):
    """Sparse rows, and how many values other than 0 they have."""

    rows: int
    values: int


class LearntByColumns(Protocol):
    """What shards have to know of a model."""

    weights: Any
    mistakes: list[int]
    updates: int


@dataclass(frozen=True)
class ShardState:
    """What one shard has learnt in a round, to be merged in the order of the shards.

    Parameters
    ----------
    runs : ShardRuns
        Its weights.
    mistakes, updates, counts
        Of this round: mistakes in each pass, updates, and whatever else is counted.
    entries : Entries or None
        How long its rows are; None where that does not matter.
    held : tuple
        Records that it has kept back.
    """

    runs: ShardRuns
    mistakes: list[int]
    updates: int
    counts: NDArray[np.int64]
    entries: Entries | None = None
    held: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        model: LearntByColumns,
        start: LearntByColumns,
        counts: NDArray[np.int64],
        *,
        features: NDArray[np.int64] | None = None,
        entries: Entries | None = None,
    ) -> Self:
        """The state of a model that went on from `start`, and has these of its features."""
        runs = ShardRuns.of(model.weights, start.weights, features)
        mistakes = model.mistakes[len(start.mistakes) :]
        return cls(runs, mistakes, model.updates - start.updates, counts, entries)


class Round(NamedTuple):
    """What shards have made of the model that they went on from."""

    weights: Diagonal
    mistakes: list[int]
    updates: int
    counts: NDArray[np.int64]  # of this round


def merges_in_order(how: Way, weights: object) -> bool:
    """Whether shards are merged in their order: diagonal weights, by their moves."""
    return isinstance(how, Evidence) and isinstance(weights, Diagonal)


def merged_round(
    start: LearntByColumns, states: Sequence[ShardState], how: Evidence, *, threads: int = 1
) -> Round:
    """What shards have made of `start`, whose weights change."""
    tau = how.tau if math.isfinite(how.tau) else _mean_length(states)
    runs = [state.runs for state in states]
    mistakes = np.array([state.mistakes for state in states], dtype=np.int64).sum(axis=0)
    return Round(
        merged_in_order(start.weights, runs, tau, threads=threads),
        start.mistakes + list(map(int, mistakes)),
        start.updates + sum(state.updates for state in states),
        np.array([state.counts for state in states], dtype=np.int64).sum(axis=0),
    )


def _mean_length(states: Sequence[ShardState]) -> float:
    """The tau of rounds: how many values a sparse row has.

    A row of k values moves k weights along one direction, of which up to k times as much is known
    as their variances say. Of dense rows, all of which move the same weights: infinity.
    """
    entries = [state.entries for state in states if state.entries is not None]
    rows = sum(one.rows for one in entries)
    return max(1.0, sum(one.values for one in entries) / rows) if rows else math.inf


def go_on_from(shard: Diagonal, base: Diagonal, features: NDArray[np.int64] | None = None) -> None:
    """Put the weights of a shard, whose features are these of the base, where the base is."""
    _core.go_on_from(shard.core, base.core, features)


def merged_in_order(
    base: Diagonal, shards: Sequence[ShardRuns], tau: float, *, threads: int = 1
) -> Diagonal:
    """The base with what shards have moved since; the base changes.

    A rule that is free of scale may have multiplied the weights of some shards: the result has the
    largest scale.
    """
    powers = [_power(shard.prior, base) for shard in shards]
    highest = max([0, *powers])
    if any(power != highest for power in powers):
        layout = base.layout
        shards = [
            shard._replace(cells=scaled_by(shard.cells, highest - power, layout, base.n_columns))
            for shard, power in zip(shards, powers, strict=True)
        ]
    if highest:
        base = Diagonal.from_state(at_power(base.state(), highest))
    runs = [(shard.features, shard.cells, float(shard.since)) for shard in shards]
    worth = len(slices(max((len(shard.cells) for shard in shards), default=0), threads))
    weights_fit(_core.merge_shards(base.core, runs, tau, worth), base.layout.dtype)
    return base


def _power(prior: float, base: Diagonal) -> int:
    """By which power of two a shard's means were multiplied; its variances by the square."""
    fraction, exponent = math.frexp(prior / base.prior)
    if fraction != 0.5 or exponent % 2 == 0:
        raise ValueError(
            "shards must have variances of a known scale to be merged, got one that has been "
            f"rescaled beyond what {base.layout.dtype} holds. Use dtype='float64'."
        )
    return (exponent - 1) // 2
