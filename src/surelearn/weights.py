"""Weights: the Gaussian over the weights as a plain object; must not know labels.

`Diagonal` and `Full` wrap classes of the core, so that weights can be copied, pickled, extended by
a class and converted to plain arrays and back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.layout import Layout
from surelearn.units import Units, dense_in_units, runs_in_units

__all__ = [
    "FULL_LIMIT", "LANES", "MEMORY_LIMIT", "Diagonal", "Full", "Layout", "Leads", "Method", "Tally",
    "Targets", "Weights", "fits", "raise_error_of", "weights_of",
]  # fmt: skip


#: The largest covariance matrix in bytes; raise it if there is enough memory.
FULL_LIMIT = 4 * 2**30

#: The most bytes that new weights may take; None means the memory available at that time.
MEMORY_LIMIT: int | None = None

#: Number of learners that share a table in `Diagonal.sweep`.
LANES = 8

Moments = tuple[NDArray[np.float64], NDArray[np.float64]]


class Method(NamedTuple):
    """How to learn rows."""

    rule: _core.Rule
    scheme: _core.Scheme
    covariance: bool  # whether to project the covariance, not the precision, on the diagonal


class Targets(NamedTuple):
    """Labels, weights and order of a pass over rows."""

    y: NDArray[np.int32]  # column of the label of each row; 0 or 1 for two classes
    weight: NDArray[np.float64] | None  # sample weights, all > 0
    order: NDArray[np.int64] | None  # the order in which rows are learnt
    known: NDArray[np.uint8]  # for each class: whether it has appeared, and may be a rival
    cost: NDArray[np.float64] | None = None  # in C order: [right, wrong]
    code: NDArray[np.int8] | None = None  # in C order: [class, problem]; None: no reduction
    missed: NDArray[np.uint8] | None = None  # output: whether `predict` was wrong before the row
    # If rows have any number of labels: row i has y[starts[i]:starts[i + 1]], columns of labels.
    starts: NDArray[np.int64] | None = None
    # Output, of columns that are problems: their scores before each row of the pass was learnt, and
    # whether the row moved a weight.
    scores: NDArray[np.float64] | None = None
    moved: NDArray[np.uint8] | None = None

    def part(self, begin: int, end: int) -> Targets:
        """Those of rows [begin, end), learnt in this order."""
        weight = None if self.weight is None else self.weight[begin:end]
        if self.starts is None:
            return self._replace(y=self.y[begin:end], weight=weight)
        first, last = self.starts[begin], self.starts[end]
        starts = self.starts[begin : end + 1] - first
        return self._replace(y=self.y[first:last], weight=weight, starts=starts)


class Tally(NamedTuple):
    """Counts of a part of a pass."""

    rows: int
    mistakes: int
    updates: int


class Leads(NamedTuple):
    """The two best labels of every row by mean score, the margin between them and its variance."""

    best: NDArray[np.int64]
    next: NDArray[np.int64]
    gap: NDArray[np.float64]
    variance: NDArray[np.float64]


class Weights:
    """Base class of weights: wraps an object of the core.

    Two classes share one column; with more, each has a column.

    Parameters
    ----------
    layout : Layout
    n_columns : int
    prior : float
        Variance of an untrained weight.
    """

    _kinds: ClassVar[dict[str, Any]]
    layout: Layout
    #: Units of the columns that these weights are learnt on; None: rows are read as they are.
    units: Units | None = None

    def __init__(self, layout: Layout, n_columns: int, prior: float) -> None:
        self.layout = layout
        with _made(layout, n_columns):
            self._core = self._kinds[layout.dtype](
                layout.n_features,
                n_columns,
                intercept=layout.intercept,
                second_order=layout.second_order,
                averaged=layout.averaged,
                prior=prior,
            )

    def _read(self, rows: _core.Rows) -> _core.Rows:
        """Rows as these weights want them."""
        return rows if self.units is None else self.units.of(rows)

    def in_units(self, units: Units) -> Self:
        """A copy that has learnt the same evidence in other units; see docs/theory/scale.md."""
        state = self.state()
        if self.units is not None:
            full = self.layout.covariance == "full"
            state |= (dense_in_units if full else runs_in_units)(state, self.units, units)
        return self.from_state({**state, "units": units})

    @property
    def core(self) -> Any:
        """The object of the core, for functions of the core that take weights."""
        return self._core

    @property
    def n_columns(self) -> int:
        return int(self._core.n_columns)

    @property
    def prior(self) -> float:
        return float(self._core.prior)

    @property
    def means(self) -> NDArray[Any]:
        """Means of shape (n_columns, n_rows), the intercept last: a read-only view, or the computed
        averages."""
        return np.asarray(self._core.averages() if self.layout.averaged else self._own_means())

    def _own_means(self) -> Any:
        raise NotImplementedError

    @property
    def variances(self) -> NDArray[Any]:
        """Variances or covariances: a read-only view (second order only)."""
        raise NotImplementedError

    def use_threads(self, threads: int) -> None:
        """Set how many threads one update may use, if it is large enough to profit."""

    def learn(
        self,
        method: Method,
        rows: _core.Rows,
        targets: Targets,
        *,
        span: tuple[int, int],
        done: NDArray[np.uint64],
    ) -> bool:
        """Learn the rows of `span` in order, each once. Releases the GIL.

        Adds (rows, mistakes, updates) to `done`, even if Ctrl-C stops it. Returns whether a row was
        refused; it is the one after those done. Exceptions of a custom rule's function are raised
        unchanged.
        """
        if self.units is not None and targets.order is None:
            # Other rows may be learnt in other units: converting all again took n log n.
            rows, targets, span = rows.part(*span), targets.part(*span), (0, span[1] - span[0])
        refused: bool = self._core.learn(*method, self._read(rows), *targets, *span, done)
        return refused and raise_error_of(method.rule)

    def learn_row(
        self, method: Method, row: _core.Rows, y: int, weight: float
    ) -> tuple[Tally, bool]:
        """Learn one row of a known class, quickly; also returns whether it was refused."""
        mistakes, updates, refused = self._core.learn_row(*method, self._read(row), y, weight)
        return Tally(1 - refused, mistakes, updates), refused and raise_error_of(method.rule)

    def winners(self, rows: _core.Rows) -> NDArray[np.int64]:
        """Index of the class with the largest mean score of every row; the first of equals."""
        return np.asarray(self._core.winners(self._read(rows)))

    def winner(self, row: _core.Rows) -> int:
        """The same for one row."""
        place: int = self._core.winner(self._read(row))
        return place

    def scores(self, rows: _core.Rows) -> NDArray[np.float64]:
        """Mean score of every row and column."""
        return np.asarray(self._core.scores(self._read(rows)))

    def margin(self, rows: _core.Rows, numbers: NDArray[np.int64] | None = None) -> Moments:
        """Mean and variance of the score of every row and column (second order only).

        If `numbers` is given, of these rows only.
        """
        mean, variance = self._core.margin(self._read(rows), numbers)
        return mean, variance

    def surest_margin(self, rows: _core.Rows, *, two_sided: bool) -> Moments:
        """Mean score of every row and column, and the variance of each row's surest column.

        It is the one with the largest mean; with two sides, with the one farthest from 0.
        """
        mean, variance = self._core.surest_margin(self._read(rows), two_sided)
        return mean, variance

    def leads(
        self, rows: _core.Rows, numbers: NDArray[np.int64] | None = None, *, threads: int = 1
    ) -> Leads:
        """The margin between the two best labels of every row.

        If `numbers` is given, of these rows only. The number of threads does not change the result.
        """
        return Leads(*self._core.leads(self._read(rows), numbers, threads))

    def hypothetical_update(
        self,
        rule: _core.Rule,
        rows: _core.Rows,
        number: int,
        columns: list[int],
        *,
        covariance: bool,
    ) -> None:
        """Shrink the variances as if this row had been learnt; the means do not change.

        The gain is that of a margin of mean 0 between two columns, or of one column. A row that
        would leave no variance changes nothing.
        """
        if not self._core.hypothetical_update(rule, covariance, self._read(rows), number, columns):
            raise_error_of(rule)

    def split(self) -> Self:
        """The one column of two classes as two: mean -mu/2 and +mu/2, sigma/2 each."""
        with _made(self.layout, 2):
            return self._with_core(self._core.split())

    def with_columns(self, columns: Sequence[int]) -> Self:
        """The same weights with columns rearranged; -1 means a new column at the prior."""
        with _made(self.layout, len(columns)):
            return self._with_core(self._core.with_columns(list(columns)))

    @property
    def capacity(self) -> int:
        """Number of columns that fit in the allocated memory."""
        return self.n_columns

    def grown(self, columns: Sequence[int]) -> Self:
        """As `with_columns`, but cheap if new columns are added repeatedly.

        The result may share the memory of these weights, which must not be trained any more.
        """
        return self.with_columns(columns)

    def _with_core(self, core: Any) -> Self:
        other = object.__new__(type(self))
        other.layout, other.units = self.layout, self.units
        other._core = core
        return other

    def state(self) -> dict[str, Any]:
        """Plain numbers and arrays that `from_state` turns back into the same weights.

        A consistent snapshot, even while another thread trains the weights.
        """
        *arrays, prior, rounds = self._core.snapshot()
        return {
            "layout": asdict(self.layout),
            "n_columns": self.n_columns,
            "prior": prior,
            "rounds": rounds,
            **({} if self.units is None else {"units": self.units}),
            **dict(zip(self.arrays, arrays, strict=True)),
        }

    #: Names of the arrays of a state, in the order of the core.
    arrays: ClassVar[tuple[str, str]]

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The weights of a `state`, which is not checked."""
        weights = cls(Layout(**state["layout"]), state["n_columns"], state["prior"])
        weights._core.restore(*(state[name] for name in cls.arrays), state["rounds"])
        weights.units = state.get("units")
        return weights

    def __getstate__(self) -> dict[str, Any]:
        return self.state()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(vars(self.from_state(state)))


class Diagonal(Weights):
    """One mean and one variance for each feature and column.

    Its state holds only features that have been updated.

    Examples
    --------
    >>> from surelearn.rows import rows_of
    >>> layout = Layout(2, intercept=False, second_order=True, averaged=False, dtype="float64")
    >>> weights = Diagonal(layout, n_columns=1, prior=1.0)
    >>> mean, variance = weights.margin(rows_of(np.array([[1.0, 2.0]])))
    >>> float(mean[0, 0]), float(variance[0, 0])
    (0.0, 5.0)
    """

    _kinds: ClassVar = {"float32": _core.Diagonal32, "float64": _core.Diagonal64}
    arrays = ("features", "cells")

    def grown(self, columns: Sequence[int]) -> Self:
        """As `with_columns`, in the memory of these weights if it has room for new columns.

        Otherwise the result gets half as much memory again. These weights can still be read, but
        must not be trained any more.
        """
        if len(columns) <= self.n_columns:
            return self.with_columns(columns)
        core = self._core.extended(list(columns))
        if core is not None:
            return self._with_core(core)
        room = self._core.room_for(len(columns))
        try:
            with _made(self.layout, room):
                return self._with_core(self._core.with_columns(list(columns), room=room))
        except MemoryError:  # not enough for spare columns
            return self.with_columns(columns)

    def in_units(self, units: Units) -> Self:
        """As of other weights, without looking at features that have no unit."""
        if self.units is None or self.capacity > 1:
            return super().in_units(units)
        other = type(self)(self.layout, 1, self.prior)
        _core.go_on_from(other._core, self._core, None)
        cells, rounds = _core.runs(other._core)
        own = np.arange(len(units.factor) + self.layout.intercept)
        own[len(units.factor) :] = self.layout.n_features
        start = np.zeros((1, cells.shape[1]), cells.dtype)
        start[0, 1 : 1 + self.layout.second_order] = self.prior
        bits = np.dtype(f"u{cells.itemsize}")
        own = own[(cells[own].view(bits) != start.view(bits)).any(axis=1)]
        state = {"layout": asdict(self.layout), "n_columns": 1, "prior": self.prior,
                 "features": own, "cells": cells[own], "rounds": rounds}  # fmt: skip
        other.put_features(state | runs_in_units(state, self.units, units))
        other.units = units
        return other

    def put_features(self, state: Mapping[str, Any]) -> Self:
        """These weights, with the runs of some features as a state has them; changed in place."""
        self._core.restore(state["features"], state["cells"], state["rounds"])
        return self

    @property
    def capacity(self) -> int:
        """Number of columns that fit in the allocated memory, including spare ones."""
        return int(self._core.capacity)

    def mirrored(self) -> Self:
        """The one column of two classes as two: mean -mu and +mu, sigma each."""
        with _made(self.layout, 2):
            return self._with_core(self._core.mirrored())

    def put_columns(self, parts: Sequence[Diagonal], *, threads: int = 1) -> None:
        """Take the columns of others, which have learnt the same rows, side by side."""
        self._core.put_columns([part._core for part in parts], threads)

    def _own_means(self) -> Any:
        return self._core.part(0)

    @property
    def variances(self) -> NDArray[Any]:
        """Variances in the shape of the means: a read-only view (second order only)."""
        return np.asarray(self._core.part(1))

    @classmethod
    def lanes(cls, layout: Layout, prior: float) -> Self:
        """A table for `sweep`: eight columns, always with variances."""
        return cls(replace(layout, second_order=True), LANES, prior)

    def sweep(
        self,
        runners: Sequence[Method],
        rows: _core.Rows,
        targets: Targets,
        *,
        span: tuple[int, int],
        tally: NDArray[np.uint64],
    ) -> None:
        """Learn the rows of `span` into each of the first columns, each with another method.

        For two classes. Adds (mistakes, updates) of each column to `tally`, and sets its third
        number if a row must be learnt alone. `targets.missed` holds one column after the other.
        """
        y, weight, order, _, cost, _, missed, *_ = targets
        how = [runner.rule for runner in runners], [runner.covariance for runner in runners]
        self._core.sweep(*how, rows, y, weight, order, cost, missed, tally, *span)

    def sweep_column(self, column: int, layout: Layout, prior: float) -> Diagonal:
        """One column of `sweep`, as separate weights."""
        other = self._with_core(self._core.sweep_column(column, layout.second_order, prior))
        other.layout = layout
        return other

    def learn_structures(
        self,
        learn: Callable[..., bool],
        method: tuple[_core.Rule, _core.Scheme, bool],
        data: tuple[Any, ...],
        *,
        span: tuple[int, int],
        done: NDArray[np.uint64],
    ) -> bool:
        """As `Weights.learn`, for structures: `learn` is a function of the core for such data."""
        refused = learn(self._core, *method, *data, *span, done)
        return refused and raise_error_of(method[0])

    def with_features(self, features: NDArray[np.int64]) -> Diagonal:
        """The same weights with features rearranged; -1 means a new feature at the prior."""
        layout = replace(self.layout, n_features=len(features))
        with _made(layout, self.n_columns):
            other = self._with_core(_core.with_features(self._core, features))
        other.layout = layout
        return other


class Full(Weights):
    """One mean for each feature and column, and one covariance for each pair of weights.

    All weights form one vector: column after column, with the intercept last in each.
    """

    _kinds: ClassVar = {"float32": _core.Full32, "float64": _core.Full64}
    arrays = ("means", "sigma")

    def _own_means(self) -> Any:
        return self._core.means()

    @property
    def variances(self) -> NDArray[Any]:
        """The full covariance matrix: a read-only view, up to date until more is learnt."""
        return np.asarray(self._core.sigma())

    def use_threads(self, threads: int) -> None:
        self._core.set_threads(threads)

    def joint_moments(self, rows: _core.Rows) -> Moments:
        """Means of the scores, and their covariances of shape (rows, n_columns, n_columns)."""
        mean, covariance = self._core.joint_moments(self._read(rows))
        return mean, covariance


def fits(layout: Layout, n_columns: int, **kind: Any) -> None:
    """Raise if weights do not fit in memory, or a covariance matrix exceeds its limit.

    Keywords are those of `_check.WeightsMemory`.
    """
    if layout.covariance == "full":
        needed, size = layout.nbytes(n_columns), _check.size
        if needed > FULL_LIMIT:
            raise ValueError(
                f"covariance='full' must need at most {size(FULL_LIMIT)}, got "
                f"{layout.n_rows * n_columns:,} weights, whose covariances take {size(needed)}. "
                "Use covariance='diagonal' or fewer features, or raise "
                "surelearn.weights.FULL_LIMIT."
            )
    _check.WeightsMemory(layout, n_columns, **kind).check(MEMORY_LIMIT)


def _made(layout: Layout, n_columns: int) -> AbstractContextManager[None]:
    """Allocate weights inside this context: it raises a clear error if they do not fit."""
    return _check.WeightsMemory(layout, n_columns).made(MEMORY_LIMIT)


def weights_of(layout: Layout, n_columns: int, prior: float) -> Diagonal | Full:
    """Untrained weights, diagonal or full as the layout says."""
    fits(layout, n_columns)
    kind = Full if layout.covariance == "full" else Diagonal
    return kind(layout, n_columns, prior)


def raise_error_of(rule: _core.Rule) -> bool:
    """Raise the exception of a custom rule's function, if there is one; else return True."""
    error = rule.take_error()
    if error is not None:
        raise error
    return True
