"""Rooms 3 and 6, weights: the Gaussian over the weights as a plain object; must not know labels.

`Diagonal` wraps the core's own class, so that a model can be copied, pickled, widened by a class
and turned into plain arrays and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _core

__all__ = ["Diagonal", "Layout", "Tally", "Targets", "in_order", "rows_of", "rows_of_dict"]


class Targets(NamedTuple):
    """The labels' side of a pass over rows, and the projection of its updates."""

    covariance: bool
    y: NDArray[np.int32]  # column of each row's label; two classes: 0 or 1
    weight: NDArray[np.float64] | None  # of each row, all > 0
    order: NDArray[np.int64] | None  # rows in the order they are learnt
    known: NDArray[np.uint8]  # for each class: may it be a rival yet?


class Tally(NamedTuple):
    """What a stretch of learning did."""

    rows: int
    mistakes: int
    updates: int


@dataclass(frozen=True)
class Layout:
    """What is kept for each feature; it cannot change while a model lives.

    Parameters
    ----------
    n_features : int
        Without the intercept.
    intercept : bool
        Whether a last feature is 1 in every row.
    second_order : bool
        Whether variances are kept beside the means.
    averaged : bool
        Whether sums for the average of all means are kept too.
    dtype : str
        ``"float32"`` or ``"float64"``.
    """

    n_features: int
    intercept: bool
    second_order: bool
    averaged: bool
    dtype: str

    @property
    def parts(self) -> int:
        """Numbers for each feature and column."""
        return 1 + self.second_order + self.averaged


class Diagonal:
    """One mean and one variance for each feature and column.

    Two classes share one column; more have a column each.

    Parameters
    ----------
    layout : Layout
    n_columns : int
    prior : float
        Variance of an untouched weight.

    Examples
    --------
    >>> layout = Layout(2, intercept=False, second_order=True, averaged=False, dtype="float64")
    >>> weights = Diagonal(layout, n_columns=1, prior=1.0)
    >>> mean, variance = weights.margin(rows_of(np.array([[1.0, 2.0]])))
    >>> float(mean[0, 0]), float(variance[0, 0])
    (0.0, 5.0)
    """

    def __init__(self, layout: Layout, n_columns: int, prior: float) -> None:
        kind = _core.Diagonal32 if layout.dtype == "float32" else _core.Diagonal64
        self.layout = layout
        self._core = kind(
            layout.n_features,
            n_columns,
            intercept=layout.intercept,
            second_order=layout.second_order,
            averaged=layout.averaged,
            prior=prior,
        )

    @property
    def n_columns(self) -> int:
        return self._core.n_columns

    @property
    def prior(self) -> float:
        return self._core.prior

    @property
    def means(self) -> NDArray[Any]:
        """Means of shape (n_columns, features with intercept last): a read-only view, or the
        averages, which are computed."""
        return self._core.averages() if self.layout.averaged else self._core.part(0)

    @property
    def variances(self) -> NDArray[Any]:
        """Variances in the same shape: a read-only view (second order only)."""
        return self._core.part(1)

    def learn(
        self,
        rule: _core.Rule,
        rows: _core.Rows,
        targets: Targets,
        *,
        span: tuple[int, int],
        done: NDArray[np.uint64],
    ) -> bool:
        """Learn the rows of `span` in their order, each once. Releases the interpreter's lock.

        Adds (rows, mistakes, updates) to `done`, also when Ctrl-C ends it. Tells whether a row was
        refused, which then is the next after those done.
        """
        return self._core.learn(rule, targets.covariance, rows, *targets[1:], *span, done)

    def learn_row(
        self, rule: _core.Rule, row: _core.Rows, y: int, *, covariance: bool, weight: float
    ) -> tuple[Tally, bool]:
        """Learn one row of a class among those known, the shortest way; and was it refused?"""
        mistakes, updates, refused = self._core.learn_row(rule, covariance, row, y, weight)
        return Tally(1 - refused, mistakes, updates), refused

    def winners(self, rows: _core.Rows) -> NDArray[np.int64]:
        """Place of the class with the largest mean score of every row; the first of equals."""
        return self._core.winners(rows)

    def winner(self, row: _core.Rows) -> int:
        """The same for one row."""
        return self._core.winner(row)

    def scores(self, rows: _core.Rows) -> NDArray[np.float64]:
        """Mean score of every row and column."""
        return self._core.scores(rows)

    def margin(self, rows: _core.Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the score of every row and column (second order only)."""
        return self._core.margin(rows)

    def split(self) -> Self:
        """The one column of two classes as two: mean -mu/2 and +mu/2, variance sigma/2 each."""
        return self._with_core(self._core.split())

    def with_columns(self, columns: Sequence[int]) -> Self:
        """The same weights under other columns; -1 stands for a new one at its prior."""
        return self._with_core(self._core.with_columns(list(columns)))

    def _with_core(self, core: Any) -> Self:
        other = object.__new__(type(self))
        other.layout = self.layout
        other._core = core
        return other

    def state(self) -> dict[str, Any]:
        """Plain numbers and arrays that `from_state` turns back into the same weights.

        Only features that differ from the start are in it. All of one moment, also while another
        thread is learning.
        """
        features, cells, prior, rounds = self._core.snapshot()
        return {
            "layout": asdict(self.layout),
            "n_columns": self.n_columns,
            "prior": prior,
            "rounds": rounds,
            "features": features,
            "cells": cells,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The weights that `state` describes; trusts its caller."""
        weights = cls(Layout(**state["layout"]), state["n_columns"], state["prior"])
        weights._core.restore(state["features"], state["cells"], state["rounds"])
        return weights

    def __getstate__(self) -> dict[str, Any]:
        return self.state()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(vars(self.from_state(state)))


def rows_of(X: Any) -> _core.Rows:
    """Rows of a CSR matrix or a 2-D array of float32 or float64.

    Read in place where they are in C order and aligned, as nearly all are.
    """
    if isinstance(X, np.ndarray):
        return _core.Rows.dense(in_order(X))
    start, indices = X.indptr, X.indices
    if start.dtype != indices.dtype or indices.dtype.kind != "i" or indices.itemsize < 4:
        start, indices = start.astype(np.int64), indices.astype(np.int64)
    return _core.Rows.csr(in_order(start), in_order(indices), in_order(X.data), X.shape[1])


def in_order(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself where it is in C order and aligned, otherwise a copy that is."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])


def rows_of_dict(x: Mapping[int, float], n_features: int) -> _core.Rows:
    """One row from ``{feature: value}``; TypeError or OverflowError for what is neither."""
    return _core.Rows.from_dict(x if type(x) is dict else dict(x), n_features)
