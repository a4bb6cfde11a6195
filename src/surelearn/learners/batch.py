"""What batch estimators share: what becomes of a solution, and which weights a loss can move."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core, rules
from surelearn.files import Fields
from surelearn.learners.base import Estimator, M
from surelearn.learners.checks import random_numbers
from surelearn.solvers import Interrupted, Solution
from surelearn.training.passes import new_order
from surelearn.weights import Diagonal

if TYPE_CHECKING:
    from surelearn.learners.tasks.sequences import SequenceBatch

#: Logistic noise of a label is nearly normal with a variance of 1.7 squared.
NOISE = rules.Probit(noise=2.9)


def loss_factors(C: float, weight: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    """C times the weight of each of n examples: the bounds of their dual variables."""
    return np.full(n, C) if weight is None else C * weight


class BatchEstimator(Estimator[M]):
    """An estimator that minimises a loss over all its examples at once."""

    random_state: Any
    n_iter_: int
    objective_: float
    gap_: float | None

    def _minimise(
        self, solve: Callable[[], Solution], take: Callable[[Solution], None], limit: int
    ) -> None:
        """Solve, and take the solution; at Ctrl-C the best so far."""
        from threadpoolctl import threadpool_limits

        try:
            # Threads of the core are those of `n_jobs`. Sums of BLAS depend on how many threads it
            # has, and wait for them on a busy machine.
            with threadpool_limits(1, user_api="blas"):
                solution = solve()
        except Interrupted as stopped:
            self._note(stopped.solution, take)
            raise
        self._note(solution, take)
        if not solution.converged:
            warn_short(type(self).__name__, solution, limit)

    def _note(self, solution: Solution, take: Callable[[Solution], None]) -> None:
        take(solution)
        self.n_iter_, self.objective_ = solution.n_iter, solution.value
        known = solution.gap is not None and np.isfinite(solution.gap)
        self.gap_ = solution.gap if known else None

    def _orders(self, n: int) -> Callable[[int], NDArray[np.int64]]:
        """A new random order of n examples for each pass."""
        random = random_numbers(self.random_state)
        return lambda _: new_order(random, n)


def solution_out(estimator: BatchEstimator[Any]) -> dict[str, Any]:
    """What a file keeps of the last solution; a merged model has none."""
    found = {name: getattr(estimator, f"{name}_", None) for name in ("n_iter", "objective", "gap")}
    return {name: x for name, x in found.items() if x is not None and np.isfinite(x)}


def put_solution(estimator: BatchEstimator[Any], fields: Fields) -> None:
    """Give an estimator what a file knows of its last solution."""
    if fields.has("n_iter"):
        estimator.n_iter_ = fields.integer("n_iter")
        estimator.objective_ = fields.number("objective") if fields.has("objective") else np.inf
        estimator.gap_ = fields.number("gap") if fields.has("gap") else None


def warn_short(name: str, solution: Solution, max_iter: int) -> None:
    """Warn that a solver stopped before it had converged; the model is kept."""
    from sklearn.exceptions import ConvergenceWarning

    gap = "" if solution.gap is None else f" with a gap of {solution.gap:.3g}"
    where, remedy = "", "raise max_iter or tol"
    if solution.n_iter < max_iter:
        where = f" after {solution.n_iter}, from where no step leads lower"
        remedy = "scale the features or raise tol"
    warnings.warn(
        f"{name} must converge within max_iter={max_iter} iterations, got an objective of "
        f"{solution.value:.6g}{gap}{where}. The model is kept; {remedy}.",
        ConvergenceWarning,
        stacklevel=5,
    )


Array = NDArray[np.float64]

#: Rows of the table that are written at a time, so that no second table is needed.
_ROWS = 1 << 14


class Cells(NamedTuple):
    """Cells of a table, row after row: row j has those of ``labels[offsets[j]:offsets[j + 1]]``.

    The weights of cells are a vector in this order.
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def all(cls, n_rows: int, n_labels: int) -> Cells:
        """All cells of a table."""
        offsets = np.arange(0, (n_rows + 1) * n_labels, n_labels, dtype=np.int64)
        return cls(offsets, np.tile(np.arange(n_labels, dtype=np.int32), n_rows))

    @classmethod
    def observed(cls, batch: SequenceBatch, n_labels: int) -> Cells:
        """Cells of the features and labels, or pairs of labels, that occur together in a batch."""
        tokens, pairs, bounds, y = batch[:4]
        return cls(*_core.observed_cells(tokens, pairs, bounds, y, n_labels))

    @classmethod
    def where(cls, wanted: NDArray[np.bool_]) -> Cells:
        """The cells that are True in a table of shape (n_labels, n_rows)."""
        rows, labels = np.nonzero(wanted.T)
        counts = np.bincount(rows, minlength=wanted.shape[1])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        return cls(offsets, labels.astype(np.int32))

    def listed(self, n_labels: int) -> Cells | tuple[None, None]:
        """These cells as the core takes them: None for all, which it need not look up."""
        return (None, None) if len(self.labels) == n_labels * self.n_rows else self

    def mask(self, n_labels: int) -> NDArray[np.bool_]:
        """Whether a cell is among these, of shape (n_labels, n_rows)."""
        mask = np.zeros((self.n_rows, n_labels), dtype=bool)
        mask[self._rows(0, self.n_rows), self.labels] = True
        return mask.T

    def read(self, table: NDArray[np.floating]) -> Array:
        """The values of these cells in a table of shape (n_labels, n_rows)."""
        return table[self.labels, self._rows(0, self.n_rows)].astype(np.float64)

    def write(
        self, weights: Diagonal, rows: NDArray[np.int64], mean: Array, variance: Array
    ) -> None:
        """Put means and variances of these cells into weights, which keep their other cells.

        `rows` are the rows of the weights that are those of the cells, ascending.
        """
        K, tiny = weights.n_columns, np.finfo(weights.layout.dtype).tiny
        for begin in range(0, self.n_rows, _ROWS):
            end = min(begin + _ROWS, self.n_rows)
            some = slice(self.offsets[begin], self.offsets[end])
            places, labels, touched = self._rows(begin, end), self.labels[some], rows[begin:end]
            both = [table[:, touched] for table in (weights.means, weights.variances)]
            runs = np.ascontiguousarray(np.concatenate(both).T)
            runs[places, labels] = mean[some]
            runs[places, K + labels] = np.maximum(variance[some], tiny)
            weights.put_features({"features": touched, "cells": runs, "rounds": 0})

    def _rows(self, begin: int, end: int) -> NDArray[np.int64]:
        """The row of each cell of rows `begin` to `end`, counted from `begin`."""
        return np.repeat(np.arange(end - begin), np.diff(self.offsets[begin : end + 1]))
