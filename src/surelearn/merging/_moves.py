"""How far models have moved from where they started, as sums that add up; see `Evidence`.

Only weights that a model has moved are in its sums, so the others are as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.merging._exact import ExactSums, in_threads, slices
from surelearn.merging._learnt import Move, Scale, State, prior_run
from surelearn.merging._sums import check_memory, finite_sums, finite_weights, n_digits, weights_fit
from surelearn.weights import Diagonal, Full, Layout

#: Of a place and a count.
_BYTES = 12


class Lifetime(NamedTuple):
    """Updates that a model had seen where it started, and those since."""

    before: int
    since: int


def lifetime(state: State, start: State | None) -> Lifetime:
    before = 0 if start is None else start["rounds"]
    return Lifetime(before, state["rounds"] - before)


def changed(weights: Diagonal, start: State) -> tuple[State, State]:
    """A model and its start, of one scale and the same columns, where they differ."""
    features, own, before, prior, rounds = _core.moved_since(
        weights.core, start["features"], start["cells"]
    )
    if weights.layout.second_order:
        variances = slice(weights.n_columns, 2 * weights.n_columns)
        if (own[:, variances] > before[:, variances]).any():
            raise ValueError(
                "start must be the model that all others went on from, got one that is surer of a "
                "weight than they are."
            )
    start = {**start, "features": features, "cells": before}
    return {**start, "prior": prior, "cells": own, "rounds": rounds}, start


@dataclass(frozen=True)
class DiagonalMoves:
    """Moves of diagonal weights.

    Parameters
    ----------
    places : ndarray of int64 of shape (n,)
        Ascending: the feature of a weight times `n_columns`, and its column.
    sums : ExactSums of shape (n, n_sums)
        D; for rules with variances X and G; the same two, D and X, of averaged means.
    counts : ndarray of int32 of shape (n,)
        How many models have moved it.
    n_columns : int
    """

    places: NDArray[np.int64]
    sums: ExactSums
    counts: NDArray[np.int32]
    n_columns: int

    @classmethod
    def of(cls, state: State, start: State | None, scale: Scale) -> DiagonalMoves:
        """Those of one model; without a start from the untrained one."""
        layout, K = Layout(**state["layout"]), state["n_columns"]
        check_memory(2 * state["cells"].size, n_digits(layout.dtype))
        begin = prior_run(layout, K, scale.prior)[None] if start is None else start["cells"]
        found = _core.moves(
            state["features"],
            state["cells"],
            begin,
            K,
            layout.second_order,
            layout.averaged,
            scale.units,
            lifetime(state, start),
            n_digits(layout.dtype),
        )
        if found is None:
            finite_sums(np.array([np.inf]))
        return cls._made(found, K)

    @classmethod
    def _made(cls, found: Any, n_columns: int) -> DiagonalMoves:
        places, digits, tops, counts = found
        return cls(places, ExactSums(digits, tops), counts, n_columns)

    def summed(self, threads: int = 1) -> DiagonalMoves:
        """These sums."""
        return self

    def plus(self, other: DiagonalMoves | FewMoves, *, threads: int = 1) -> DiagonalMoves:
        """The moves of both."""
        other = other.summed(threads)
        n_sums = self.sums.tops.shape[1]
        most = len(self.places) + len(other.places)
        check_memory(most * n_sums, self.sums.n_digits, most * _BYTES)
        larger = max(self.places, other.places, key=len)
        cuts = [larger[part.start] for part in slices(len(larger), threads)[1:]]

        def add(begin: int, end: int) -> Any:
            return _core.add_moves(self._between(begin, end), other._between(begin, end), n_sums)

        spans = list(pairwise([0, *map(int, cuts), np.iinfo(np.int64).max]))
        found = in_threads(lambda span: add(*span), spans, threads)
        if len(found) == 1:
            return self._made(found[0], self.n_columns)
        joined = tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return self._made(joined, self.n_columns)

    def _between(self, begin: int, end: int) -> tuple[Any, ...]:
        """Those of a stretch of places, as the core reads them."""
        return self._view(slice(*np.searchsorted(self.places, [begin, end])))

    def _view(self, part: slice) -> tuple[Any, ...]:
        digits, tops = self.sums.digits[part], self.sums.tops[part]
        return self.places[part], digits.reshape(-1), tops.reshape(-1), self.counts[part]

    def moved(self, move: Move, layout: Layout) -> DiagonalMoves:
        """The same moves under other columns."""
        features, columns = np.divmod(self.places, self.n_columns)
        wanted = [np.flatnonzero(columns == k) for k in move.columns]
        width = len(wanted)
        places = [features[rows] * width + k for k, rows in enumerate(wanted)]
        signs = np.repeat(move.signs, [len(rows) for rows in wanted])
        order = np.argsort(np.concatenate(places), kind="stable")
        rows, signs = np.concatenate(wanted)[order], signs[order]
        digits = self.sums.digits[rows]
        signed = [s for s in range(digits.shape[1]) if not (layout.second_order and s == 2)]
        digits[:, signed] *= signs[:, None, None]
        sums = ExactSums(digits, self.sums.tops[rows])
        return DiagonalMoves(np.concatenate(places)[order], sums, self.counts[rows], width)

    def settled(
        self, start: State, *, scale: Scale, since: int, tau: float, threads: int
    ) -> Diagonal:
        """The weights that were at `start`, `since` updates later."""
        layout = Layout(**start["layout"])
        features, begins = np.unique(self.places // self.n_columns, return_index=True)
        cells = _runs(start, features, prior_run(layout, self.n_columns, scale.prior))
        ends = np.append(begins, len(self.places))

        def settle(part: slice) -> None:
            _core.settle(
                cells[part],
                features[part],
                self._view(slice(ends[part.start], ends[part.stop])),
                self.n_columns,
                layout.second_order,
                layout.averaged,
                scale.units,
                (start["rounds"], since),
                tau,
            )

        in_threads(settle, slices(len(features), threads), threads)
        moved = {"features": features, "cells": finite_weights(cells)}
        return Diagonal.from_state(start).put_features({**moved, "rounds": start["rounds"] + since})


class Moved(NamedTuple):
    """What one model has moved."""

    state: State
    start: State | None  # None: from the untrained one
    scale: Scale

    def summed(self) -> DiagonalMoves:
        return DiagonalMoves.of(*self)

    def runs(self) -> tuple[Any, ...]:
        """As the core reads them."""
        state, start = self.state, self.start
        layout = Layout(**state["layout"])
        first = prior_run(layout, state["n_columns"], self.scale.prior)[None]
        begin = first if start is None else start["cells"]
        life = lifetime(state, start)
        return state["features"], state["cells"], begin, self.scale.units, life


@dataclass(frozen=True)
class FewMoves:
    """Moves of a few models that are still apart.

    They are summed feature by feature where a model is made of them, to the bits of
    `DiagonalMoves`, without its arrays, which are larger than a few models and take several times
    as long to write and read. Only float32: no sum of its numbers overflows.
    """

    models: tuple[Moved, ...]

    #: More of them would be larger than their sums.
    MOST: ClassVar = 4

    def summed(self, threads: int = 1) -> DiagonalMoves:
        first, *others = in_threads(Moved.summed, self.models, threads)
        return reduce(partial(DiagonalMoves.plus, threads=threads), others, first)

    def plus(
        self, other: DiagonalMoves | FewMoves, *, threads: int = 1
    ) -> DiagonalMoves | FewMoves:
        """The moves of both."""
        if isinstance(other, FewMoves) and len(self.models) + len(other.models) <= self.MOST:
            return FewMoves(self.models + other.models)
        return self.summed(threads).plus(other, threads=threads)

    def moved(self, move: Move, layout: Layout) -> DiagonalMoves:
        """The same moves under other columns."""
        return self.summed().moved(move, layout)

    def settled(
        self, start: State, *, scale: Scale, since: int, tau: float, threads: int
    ) -> Diagonal:
        """The weights that were at `start`, `since` updates later."""
        weights = Diagonal.from_state(start)
        runs = [model.runs() for model in self.models]
        worth = len(slices(max(len(moved[0]) for moved in runs), threads))
        fit = _core.settle_runs(
            weights.core, runs, scale.units, (start["rounds"], since), tau, worth
        )
        weights_fit(fit, weights.layout.dtype)
        return weights


def moves_of(state: State, start: State | None, scale: Scale) -> DiagonalMoves | FewMoves:
    """Those of one model; without a start from the untrained one."""
    moved = Moved(state, start, scale)
    return FewMoves((moved,)) if state["layout"]["dtype"] == "float32" else moved.summed()


def moved_state(weights: Diagonal | Full | None) -> State | None:
    """The state of a start; None where it is the untrained one."""
    state = None if weights is None else weights.state()
    return None if state is None or not is_moved(state) else state


def is_moved(state: State) -> bool:
    """Whether any weight differs from the start."""
    if "features" in state:
        return len(state["features"]) > 0
    prior = state["sigma"].dtype.type(state["prior"])
    start = np.eye(len(state["sigma"]), dtype=prior.dtype) * prior
    return bool(state["means"].any()) or not np.array_equal(state["sigma"], start)


def _runs(state: State, features: NDArray[np.int64], prior: NDArray[Any]) -> NDArray[Any]:
    """What a model has for features, ascending, some of which it may not have moved."""
    runs = np.tile(prior, (len(features), 1))
    _, here, there = np.intersect1d(
        features, state["features"], assume_unique=True, return_indices=True
    )
    runs[here] = state["cells"][there]
    return runs
