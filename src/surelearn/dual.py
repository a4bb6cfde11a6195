"""Dual weights: Gaussians over weights that only a kernel knows; no labels.

The mean of a problem is ``sum_p nu_p phi(x_p)`` and its covariance ``a I + sum_pq Pi_pq phi(x_p)
phi(x_q)'`` over support points p (Crammer, Dredze & Pereira 2008, theorem 2). Weights are never
changed: `DualTraining` learns into a copy, so readers in other threads need no lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core, weights
from surelearn._workers import Workers
from surelearn.kernels import Kernel
from surelearn.weights import Leads, raise_error_of

__all__ = [
    "Dual",
    "DualForm",
    "DualTargets",
    "DualTraining",
    "KernelRows",
    "LearntBlock",
    "ProblemState",
]

Array = NDArray[np.float64]

#: Kernel values that are computed at a time: 16 MB.
_VALUES = 2**21

#: The fewest and the most rows that are learnt between two matrix products.
_FEWEST, _MOST = 32, 512

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class KernelRows:
    """Checked rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64
        For a precomputed kernel, its values with all training rows.
    numbers : ndarray of int, optional
        The row numbers in the user's training matrix, if some of its rows were dropped.
    """

    X: Any
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


class ProblemState(NamedTuple):
    """The numbers of a problem of S support points."""

    points: NDArray[np.int64]  # which of the model's points, of shape (S,)
    nu: Array  # coefficients of the mean, of shape (S,)
    pi: Array  # coefficients of the covariance, symmetric, of shape (S, S); (0, 0): none
    sites: Array  # c and gain of the factor of each point, of shape (S, 2)
    rounds: int  # rows learnt


@dataclass(frozen=True)
class DualForm:
    """What all problems of a model have in common; fixed for its life.

    Parameters
    ----------
    kernel : Kernel
    intercept : bool
        Whether 1 is added to every kernel value.
    second_order : bool
        Whether there are variances besides means.
    prior : float
        Variance of an untrained weight.
    budget : int
        The most support points of a problem; 0: no limit.
    """

    kernel: Kernel
    intercept: bool
    second_order: bool
    prior: float
    budget: int

    def untrained(self) -> _core.Dual:
        """A problem without support points."""
        return _core.Dual(self.prior, second_order=self.second_order, budget=self.budget)

    def restored(self, state: ProblemState) -> _core.Dual:
        """A problem with these numbers."""
        return _core.Dual.restored(self.prior, self.second_order, self.budget, *state)

    def values(self, X: Any, points: Any) -> Array:
        """The kernel of rows with points."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.kernel.gram(X, points)
        if self.intercept:
            values += 1.0
        return _finite(values)

    def own(self, X: Any) -> Array:
        """The kernel of rows with themselves."""
        with np.errstate(over="ignore"):
            return _finite(self.kernel.diagonal(X) + self.intercept)


def _finite(values: Array) -> Array:
    """Refuse rows whose kernel overflows."""
    if not np.isfinite(values).all():
        raise ValueError(
            "X must have values whose kernel is finite, got an overflow in double precision. Scale "
            "the features."
        )
    return values


@dataclass(frozen=True)
class Dual:
    """Weights of binary problems, a column each, all on common support points.

    Parameters
    ----------
    form : DualForm
    points : ndarray or CSR matrix, optional
        The rows of the support points; for a precomputed kernel, their row numbers. None: no row
        has been learnt.
    problems : tuple of _core.Dual
    """

    form: DualForm
    points: Any
    problems: tuple[_core.Dual, ...]

    @property
    def n_columns(self) -> int:
        """Number of problems."""
        return len(self.problems)

    @property
    def n_points(self) -> int:
        """Number of support points of all problems together."""
        return 0 if self.points is None else int(self.points.shape[0])

    def state(self) -> list[ProblemState]:
        """The numbers of each problem."""
        return [
            ProblemState(p.points, p.nu, np.ascontiguousarray(p.pi), p.sites, p.rounds)
            for p in self.problems
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {"form": self.form, "points": self.points, "problems": self.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        problems = tuple(state["form"].restored(problem) for problem in state["problems"])
        self.__dict__.update({**state, "problems": problems})

    # ------------------------------------------------------------------ scoring

    def winners(self, rows: KernelRows) -> NDArray[np.int64]:
        """Index of the class with the largest mean score of every row; the first of equals."""
        scores = self.scores(rows)
        if self.n_columns == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        return np.asarray(scores.argmax(axis=1))

    def scores(self, rows: KernelRows) -> Array:
        """Mean score of every row and column."""
        nu = self._coefficients()
        blocks = [values @ nu for values, _ in self._values(rows.X)]
        return np.concatenate([np.zeros((0, self.n_columns)), *blocks])

    def margin(
        self, rows: KernelRows, numbers: NDArray[np.int64] | None = None
    ) -> tuple[Array, Array]:
        """Mean and variance of the score of every row and column (second order only).

        If `numbers` is given, of these rows only.
        """
        X = rows.X if numbers is None else rows.X[numbers]
        nu, own = self._coefficients(), self.form.own(X)
        mean = np.zeros((X.shape[0], self.n_columns))
        variance = np.zeros_like(mean)
        for values, span in self._values(X):
            mean[span] = values @ nu
            for column, problem in enumerate(self.problems):
                variance[span, column] = _variances(problem, values, own[span])
        return mean, variance

    def surest_margin(self, rows: KernelRows, *, two_sided: bool) -> tuple[Array, Array]:
        """As `surelearn.weights.Weights.surest_margin`."""
        mean, variance = self.margin(rows)
        best = (np.abs(mean) if two_sided else mean).argmax(axis=1)
        return mean, variance[np.arange(len(mean)), best]

    def leads(
        self, rows: KernelRows, numbers: NDArray[np.int64] | None = None, *, threads: int = 1
    ) -> Leads:
        """The margin between two classes, which have one column, of every row."""
        mean, variance = self.margin(rows, numbers)
        best = (mean[:, 0] > 0).astype(np.int64)
        return Leads(best, 1 - best, np.abs(mean[:, 0]), variance[:, 0])

    def _coefficients(self) -> Array:
        """The mean of each column as a coefficient of each point."""
        nu = np.zeros((self.n_points, self.n_columns))
        for column, problem in enumerate(self.problems):
            nu[problem.points, column] = problem.nu
        return nu

    def _values(self, X: Any) -> Iterator[tuple[Array, slice]]:
        """Kernel values of blocks of rows with all points, and where the rows are."""
        step = max(1, _VALUES // max(1, self.n_points))
        for begin in range(0, X.shape[0], step):
            rows = X[begin : begin + step]
            none = np.zeros((rows.shape[0], 0))
            values = self.form.values(rows, self.points) if self.n_points else none
            yield values, slice(begin, begin + len(values))

    # ------------------------------------------------------------------ columns

    def mirrored(self) -> Dual:
        """The one column of two classes as two: mean -mu and +mu, sigma each."""
        (one,) = self.problems
        (state,) = self.state()
        other = self.form.restored(state._replace(nu=-state.nu, sites=state.sites * [-1.0, 1.0]))
        return replace(self, problems=(other, one))

    def with_columns(self, columns: Sequence[int]) -> Dual:
        """The same weights with columns rearranged; -1 means a new column at the prior."""
        problems = (self.form.untrained() if k < 0 else self.problems[k] for k in columns)
        return replace(self, problems=tuple(problems))


def _variances(problem: _core.Dual, values: Array, own: Array) -> Array:
    """Variances of the scores of one problem, from kernel values with all points.

    Where nearly all of the prior variance is gone, rounding decides about the rest; it must not
    make a variance negative.
    """
    values = values[:, problem.points]
    prior = problem.prior * own
    lost = np.einsum("ij,ij->i", values @ problem.pi, values)
    return np.asarray(np.maximum(prior + lost, _EPS * prior))


class DualTargets(NamedTuple):
    """What to learn from rows."""

    rule: _core.Rule
    sides: NDArray[np.int8]  # of each row in each problem: +1, -1, or 0: not part of it
    weight: Array | None
    threads: int = 1


class LearntBlock(NamedTuple):
    """What learning some rows did."""

    rows: NDArray[np.int64]  # which rows, in order
    scores: Array  # of each row and problem, before it was learnt
    updates: int


class _Block(NamedTuple):
    """A block of rows as the core learns it."""

    values: Array
    diagonal: Array
    own: NDArray[np.int64]  # the point of each row
    columns: NDArray[np.int64]  # of the values, for each point; -1: none
    sides: NDArray[np.int8]  # of each problem and row
    weight: Array | None
    scores: Array  # output, of each problem and row


class DualTraining:
    """Rows being learnt into a copy of dual weights.

    Points are the support points at the start, followed by the rows: a row that is met again in a
    later pass is the same point.

    Parameters
    ----------
    start : Dual
    rows : KernelRows
    """

    def __init__(self, start: Dual, rows: KernelRows) -> None:
        points, diagonal = start.form.kernel.of_training(rows.X, rows.numbers)
        self._form, self._rows, self._n_before = start.form, rows, start.n_points
        self._points = _stacked(start.points, points)
        self._diagonal = diagonal + start.form.intercept
        self._problems = [problem.copy() for problem in start.problems]

    @property
    def _n_points(self) -> int:
        return int(self._points.shape[0])

    def learn(self, targets: DualTargets, order: NDArray[np.int64]) -> Iterator[LearntBlock]:
        """Learn rows in this order, a block at a time.

        Raises ValueError if an update would leave no usable weights; exceptions of a custom rule's
        function are raised unchanged. Training cannot go on after that.
        """
        if self._form.budget:
            self._check_memory(targets.sides)
        with Workers(targets.threads, "surelearn-kernel") as pool:
            while len(order):
                support = self._support()
                size = max(_FEWEST, min(_MOST, _VALUES // max(1, len(support))))
                block = self._block(targets, order[:size], support)
                yield self._learnt(targets, block, order[:size], pool)
                order = order[size:]

    def result(self) -> tuple[Dual, NDArray[np.int64]]:
        """The weights, and the number of each of their points; training cannot go on.

        Numbers count the support points at the start, followed by the rows.
        """
        support = self._support()
        numbers = self._places(support)
        for problem in self._problems:
            problem.renumber(numbers)
        return Dual(self._form, self._points[support], tuple(self._problems)), support

    def _support(self) -> NDArray[np.int64]:
        """The support points of all problems, ascending."""
        is_support = np.zeros(self._n_points, dtype=bool)
        for problem in self._problems:
            is_support[problem.points] = True
        return np.flatnonzero(is_support)

    def _places(self, among: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each point among others; -1 for one that is not there."""
        places = np.full(self._n_points, -1, dtype=np.int64)
        places[among] = np.arange(len(among))
        return places

    def _block(
        self, targets: DualTargets, rows: NDArray[np.int64], support: NDArray[np.int64]
    ) -> _Block:
        if not self._form.budget:
            self._check_memory(targets.sides[rows])
        own = rows + self._n_before
        candidates = np.union1d(support, own)
        return _Block(
            values=self._form.values(self._rows.X[rows], self._points[candidates]),
            diagonal=self._diagonal[rows],
            own=own,
            columns=self._places(candidates),
            sides=np.ascontiguousarray(targets.sides[rows].T),
            weight=None if targets.weight is None else targets.weight[rows],
            scores=np.zeros((len(self._problems), len(rows))),
        )

    def _learnt(
        self, targets: DualTargets, block: _Block, rows: NDArray[np.int64], pool: Workers
    ) -> LearntBlock:
        """Learn a block into all problems, which know nothing of each other."""
        inner = max(1, targets.threads // len(self._problems))
        done = np.zeros((len(self._problems), 3), dtype=np.uint64)

        def learn(k: int) -> bool:
            refused = self._problems[k].learn(
                targets.rule, block.values, block.diagonal, block.own, block.columns,
                block.sides[k], block.weight, done[k], block.scores[k], inner,
            )  # fmt: skip
            # The exception of a rule's function is known in its thread only.
            return refused and raise_error_of(targets.rule)

        if any(list(pool.map(learn, range(len(self._problems))))):
            row, numbers = rows[int(done[:, 0].min())], self._rows.numbers
            number = int(row if numbers is None else numbers[row])
            raise ValueError(
                f"row {number} must leave finite weights and positive variances, got a collapse in "
                "double precision. Scale the features, or choose parameters with smaller steps."
            )
        return LearntBlock(rows, block.scores.T, int(done[:, 2].sum()))

    def _check_memory(self, sides: NDArray[np.int8]) -> None:
        """Raise if the covariances do not fit in memory once rows with these sides are learnt."""
        if not self._form.second_order:
            return
        rows, budget = np.count_nonzero(sides, axis=0).tolist(), self._form.budget
        sizes = [problem.size + n for problem, n in zip(self._problems, rows, strict=True)]
        sizes = [min(budget, size) if budget else size for size in sizes]
        total = 8 * sum(size**2 for size in sizes)
        # The core makes a matrix half as wide again where it must grow, and then drops the old one.
        more = total if budget else 9 * total // 4
        limit = weights.MEMORY_LIMIT
        problems = "" if len(sizes) == 1 else f" in each of {len(sizes):,} problems"
        _check.enough_memory(
            more if limit is None else total,
            limit,
            lambda room: (
                f"covariances of support points must fit in memory ({_check.size(room)} "
                f"available), got up to {max(sizes):,} points{problems}, which need "
                f"{_check.size(total)}. Use a smaller budget, or a rule that learns from fewer "
                "rows."
            ),
        )


def _stacked(points: Any, more: Any) -> Any:
    """Points followed by others, sparse if some are."""
    if points is None:
        return more
    if sparse.issparse(points) or sparse.issparse(more):
        return sparse.vstack([points, more], format="csr")
    return np.concatenate([points, more])
