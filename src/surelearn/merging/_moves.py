"""How far models have moved from where they started, as sums that add up; see `Evidence`.

Only weights that a model has moved are in its sums, so the others are as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.merging._exact import ExactSums
from surelearn.merging._scale import Move, Scale, State, prior_run
from surelearn.merging._sums import check_memory, n_digits
from surelearn.merging._threads import in_threads, slices
from surelearn.weights import Layout

#: Of a place and a count.
_BYTES = 12


class Lifetime(NamedTuple):
    """Updates that a model had seen where it started, and those since."""

    before: int
    since: int


def lifetime(state: State, start: State | None) -> Lifetime:
    before = 0 if start is None else start["rounds"]
    return Lifetime(before, state["rounds"] - before)


def changed(state: State, start: State) -> tuple[State, State]:
    """A model and its start, of one scale and the same columns, where they differ."""
    layout = Layout(**state["layout"])
    prior = prior_run(layout, state["n_columns"], state["prior"])
    features, here, there = _core.changed_runs(
        state["features"], state["cells"], start["features"], start["cells"], prior
    )
    own, before = _lines(state["cells"], here, prior), _lines(start["cells"], there, prior)
    if layout.second_order:
        variances = slice(state["n_columns"], 2 * state["n_columns"])
        _check.surer_than_start(own[:, variances], before[:, variances])
    return (
        {**state, "features": features, "cells": own},
        {**start, "features": features, "cells": before},
    )


def _lines(cells: NDArray[Any], lines: NDArray[np.int64], prior: NDArray[Any]) -> NDArray[Any]:
    """Runs by their lines; -1: one that was never moved."""
    runs = cells[lines] if len(cells) else np.empty((len(lines), len(prior)), prior.dtype)
    runs[lines < 0] = prior
    return runs


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
        _check.finite_moves(found)
        return cls._made(found, K)

    @classmethod
    def _made(cls, found: Any, n_columns: int) -> DiagonalMoves:
        places, digits, tops, counts = found
        return cls(places, ExactSums(digits, tops), counts, n_columns)

    def plus(self, other: DiagonalMoves, *, threads: int = 1) -> DiagonalMoves:
        """The moves of both."""
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
        self, layout: Layout, start: State, *, scale: Scale, since: int, tau: float, threads: int
    ) -> dict[str, Any]:
        """Features that were moved, and their runs after `since` updates more than the start's."""
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
        return {"features": features, "cells": _check.finite_weights(cells)}


def _runs(state: State, features: NDArray[np.int64], prior: NDArray[Any]) -> NDArray[Any]:
    """What a model has for features, ascending, some of which it may not have moved."""
    runs = np.tile(prior, (len(features), 1))
    _, here, there = np.intersect1d(
        features, state["features"], assume_unique=True, return_indices=True
    )
    runs[here] = state["cells"][there]
    return runs
