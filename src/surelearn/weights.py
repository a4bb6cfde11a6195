"""Rooms 3 and 6, weights: the Gaussian over the weights as a plain object; must not know labels.

`Diagonal` and `Full` wrap the core's own classes, so that a model can be copied, pickled, widened
by a class and turned into plain arrays and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.rows import in_order, rows_of, rows_of_dict

__all__ = [
    "FULL_LIMIT",
    "LANES",
    "MEMORY_LIMIT",
    "Diagonal",
    "Full",
    "Layout",
    "Leads",
    "Method",
    "Tally",
    "Targets",
    "Weights",
    "fits",
    "in_order",
    "rows_of",
    "rows_of_dict",
    "weights_of",
]


#: Largest covariance matrix in bytes. Larger ones are refused; change it where there is memory.
FULL_LIMIT = 4 * 2**30

#: Bytes that weights may still take; None: those that are available when they are made.
MEMORY_LIMIT: int | None = None

#: Learners that share a table in `Diagonal.race`.
LANES = 8


class Method(NamedTuple):
    """How rows are learnt."""

    rule: _core.Rule
    scheme: _core.Scheme
    covariance: bool  # the projection drops what lies off the diagonal of the covariance


class Targets(NamedTuple):
    """The labels' side of a pass over rows."""

    y: NDArray[np.int32]  # column of each row's label; two classes: 0 or 1
    weight: NDArray[np.float64] | None  # of each row, all > 0
    order: NDArray[np.int64] | None  # rows in the order they are learnt
    known: NDArray[np.uint8]  # for each class: may it be a rival yet?
    cost: NDArray[np.float64] | None = None  # row after row: [right, wrong]
    code: NDArray[np.int8] | None = None  # row after row: [class, problem]; None: no reduction
    missed: NDArray[np.uint8] | None = None  # set for each row: would `predict` have been wrong?


class Tally(NamedTuple):
    """What a stretch of learning did."""

    rows: int
    mistakes: int
    updates: int


class Leads(NamedTuple):
    """The two best labels of every row by mean score, the margin between them and its variance."""

    best: NDArray[np.int64]
    next: NDArray[np.int64]
    gap: NDArray[np.float64]
    variance: NDArray[np.float64]


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
    covariance : str
        ``"diagonal"``: a variance for each weight. ``"full"``: a covariance for each pair.
    """

    n_features: int
    intercept: bool
    second_order: bool
    averaged: bool
    dtype: str
    covariance: str = "diagonal"

    @property
    def n_rows(self) -> int:
        """Features with the intercept."""
        return self.n_features + self.intercept

    @property
    def parts(self) -> int:
        """Numbers for each feature and column of diagonal weights."""
        return 1 + self.second_order + self.averaged

    def nbytes(self, n_columns: int) -> int:
        """Bytes that the weights of so many columns take."""
        size = self.n_rows * n_columns
        full = self.covariance == "full"
        numbers = size * (size + 1 + self.averaged) if full else size * self.parts
        return numbers * np.dtype(self.dtype).itemsize


class Weights:
    """What all weights share: the core's own object and the ways to it.

    Two classes share one column; more have a column each.

    Parameters
    ----------
    layout : Layout
    n_columns : int
    prior : float
        Variance of an untouched weight.
    """

    _kinds: ClassVar[dict[str, Any]]
    layout: Layout

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

    @property
    def core(self) -> Any:
        """The object of the core, for its functions over more than weights."""
        return self._core

    @property
    def n_columns(self) -> int:
        columns: int = self._core.n_columns
        return columns

    @property
    def prior(self) -> float:
        prior: float = self._core.prior
        return prior

    @property
    def means(self) -> NDArray[Any]:
        """Means of shape (n_columns, features with intercept last): a read-only view, or the
        averages, which are computed."""
        means: NDArray[Any] = self._core.averages() if self.layout.averaged else self._own_means()
        return means

    def _own_means(self) -> Any:
        raise NotImplementedError

    @property
    def variances(self) -> NDArray[Any]:
        """How sure the means are: a read-only view (second order only)."""
        raise NotImplementedError

    def use_threads(self, threads: int) -> None:
        """How many threads one update may use, where it is large enough to gain from it."""

    def learn(
        self,
        method: Method,
        rows: _core.Rows,
        targets: Targets,
        *,
        span: tuple[int, int],
        done: NDArray[np.uint64],
    ) -> bool:
        """Learn the rows of `span` in their order, each once. Releases the interpreter's lock.

        Adds (rows, mistakes, updates) to `done`, also when Ctrl-C ends it. Tells whether a row was
        refused, which then is the next after those done. What a rule's function raised comes out
        as it is.
        """
        refused: bool = self._core.learn(*method, rows, *targets, *span, done)
        return refused and _by_itself(method.rule)

    def learn_row(
        self, method: Method, row: _core.Rows, y: int, weight: float
    ) -> tuple[Tally, bool]:
        """Learn one row of a class among those known, the shortest way; and was it refused?"""
        mistakes, updates, refused = self._core.learn_row(*method, row, y, weight)
        return Tally(1 - refused, mistakes, updates), refused and _by_itself(method.rule)

    def winners(self, rows: _core.Rows) -> NDArray[np.int64]:
        """Place of the class with the largest mean score of every row; the first of equals."""
        places: NDArray[np.int64] = self._core.winners(rows)
        return places

    def winner(self, row: _core.Rows) -> int:
        """The same for one row."""
        place: int = self._core.winner(row)
        return place

    def scores(self, rows: _core.Rows) -> NDArray[np.float64]:
        """Mean score of every row and column."""
        scores: NDArray[np.float64] = self._core.scores(rows)
        return scores

    def margin(
        self, rows: _core.Rows, numbers: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the score of every row and column (second order only).

        Of the rows of these `numbers`, where there are some.
        """
        mean, variance = self._core.margin(rows, numbers)
        return mean, variance

    def leads(
        self, rows: _core.Rows, numbers: NDArray[np.int64] | None = None, *, threads: int = 1
    ) -> Leads:
        """How far the best label of every row lies before the next best one.

        Of the rows of these `numbers`, where there are some. The threads do not change a bit.
        """
        return Leads(*self._core.leads(rows, numbers, threads))

    def suppose(
        self,
        rule: _core.Rule,
        rows: _core.Rows,
        number: int,
        columns: list[int],
        *,
        covariance: bool,
    ) -> None:
        """Shrink the variances as if this row had been learnt, the means unmoved.

        With the gain of a margin of mean 0 between two columns, or of one. A row that would leave
        no variance changes nothing.
        """
        if not self._core.suppose(rule, covariance, rows, number, columns):
            _by_itself(rule)

    def split(self) -> Self:
        """The one column of two classes as two: mean -mu/2 and +mu/2, sigma/2 each."""
        with _made(self.layout, 2):
            return self._with_core(self._core.split())

    def with_columns(self, columns: Sequence[int]) -> Self:
        """The same weights under other columns; -1 stands for a new one at its prior."""
        with _made(self.layout, len(columns)):
            return self._with_core(self._core.with_columns(list(columns)))

    @property
    def capacity(self) -> int:
        """Columns that there is memory for."""
        return self.n_columns

    def grown(self, columns: Sequence[int]) -> Self:
        """As `with_columns`, but cheap for new columns that come again and again.

        The result may lie in the memory of these weights, which must not learn any more.
        """
        return self.with_columns(columns)

    def _with_core(self, core: Any) -> Self:
        other = object.__new__(type(self))
        other.layout = self.layout
        other._core = core
        return other

    def state(self) -> dict[str, Any]:
        """Plain numbers and arrays that `from_state` turns back into the same weights.

        All of one moment, also while another thread is learning.
        """
        *arrays, prior, rounds = self._core.snapshot()
        return {
            "layout": asdict(self.layout),
            "n_columns": self.n_columns,
            "prior": prior,
            "rounds": rounds,
            **dict(zip(self.arrays, arrays, strict=True)),
        }

    #: Names of the arrays in a state, in the order of the core.
    arrays: ClassVar[tuple[str, str]]

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The weights that `state` describes; trusts its caller."""
        weights = cls(Layout(**state["layout"]), state["n_columns"], state["prior"])
        weights._core.restore(*(state[name] for name in cls.arrays), state["rounds"])
        return weights

    def __getstate__(self) -> dict[str, Any]:
        return self.state()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(vars(self.from_state(state)))


class Diagonal(Weights):
    """One mean and one variance for each feature and column.

    Its state holds only features that differ from the start.

    Examples
    --------
    >>> layout = Layout(2, intercept=False, second_order=True, averaged=False, dtype="float64")
    >>> weights = Diagonal(layout, n_columns=1, prior=1.0)
    >>> mean, variance = weights.margin(rows_of(np.array([[1.0, 2.0]])))
    >>> float(mean[0, 0]), float(variance[0, 0])
    (0.0, 5.0)
    """

    _kinds: ClassVar = {"float32": _core.Diagonal32, "float64": _core.Diagonal64}
    arrays = ("features", "cells")

    def grown(self, columns: Sequence[int]) -> Self:
        """As `with_columns`, in the memory of these weights where it has room for new columns.

        Where it has none, half as much again is taken. These weights can still be read, of one
        moment with the others, but must not learn any more.
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
        except MemoryError:  # none to spare
            return self.with_columns(columns)

    def moved(self, state: Mapping[str, Any]) -> Self:
        """These weights, with the runs of some features as a state has them; changed in place."""
        self._core.restore(state["features"], state["cells"], state["rounds"])
        return self

    @property
    def capacity(self) -> int:
        """Columns that there is memory for; some are taken in advance."""
        capacity: int = self._core.capacity
        return capacity

    def mirrored(self) -> Self:
        """The one column of two classes as each of them sees it: mean -mu and +mu, sigma both."""
        with _made(self.layout, 2):
            return self._with_core(self._core.mirrored())

    def _own_means(self) -> Any:
        return self._core.part(0)

    @property
    def variances(self) -> NDArray[Any]:
        """Variances in the shape of the means: a read-only view (second order only)."""
        variances: NDArray[Any] = self._core.part(1)
        return variances

    @classmethod
    def lanes(cls, layout: Layout, prior: float) -> Self:
        """A table for `race`: eight columns, with variances whatever the layout says."""
        return cls(replace(layout, second_order=True), LANES, prior)

    def race(
        self,
        runners: Sequence[Method],
        rows: _core.Rows,
        targets: Targets,
        *,
        span: tuple[int, int],
        tally: NDArray[np.uint64],
    ) -> None:
        """Learn the rows of `span` into each of the first columns by its own method: two classes.

        Adds (mistakes, updates) to `tally`, column after column, and sets a third number where a
        row must be learnt alone; `targets.missed` has the rows of one column after the other.
        """
        y, weight, order, _, cost, _, missed = targets
        how = [runner.rule for runner in runners], [runner.covariance for runner in runners]
        self._core.race(*how, rows, y, weight, order, cost, missed, tally, *span)

    def lane(self, column: int, layout: Layout, prior: float) -> Diagonal:
        """What `race` has learnt into one column, as weights of their own."""
        other = self._with_core(self._core.lane(column, layout.second_order, prior))
        other.layout = layout
        return other

    def learn_sequences(
        self,
        method: tuple[_core.Rule, _core.Scheme, bool],
        batch: Any,
        *,
        order: NDArray[np.int64] | None,
        span: tuple[int, int],
        done: NDArray[np.uint64],
    ) -> bool:
        """As `learn`, for sequences: tokens, pairs, bounds, y and weight of a batch."""
        refused: bool = _core.learn_sequences(
            self._core, *method, batch.tokens, batch.pairs, batch.bounds, batch.y, batch.weight,
            order, *span, done,
        )  # fmt: skip
        return refused and _by_itself(method[0])

    def with_features(self, features: NDArray[np.int64]) -> Diagonal:
        """The same weights under other features; -1 stands for a new one at its prior."""
        layout = replace(self.layout, n_features=len(features))
        with _made(layout, self.n_columns):
            other = self._with_core(_core.with_features(self._core, features))
        other.layout = layout
        return other


class Full(Weights):
    """One mean for each feature and column, one covariance for each pair of them.

    All weights are one vector, column after column, the intercept last in each.
    """

    _kinds: ClassVar = {"float32": _core.Full32, "float64": _core.Full64}
    arrays = ("means", "sigma")

    def _own_means(self) -> Any:
        return self._core.means()

    @property
    def variances(self) -> NDArray[Any]:
        """The whole covariance matrix: a read-only view."""
        sigma: NDArray[Any] = self._core.sigma()
        return sigma

    def use_threads(self, threads: int) -> None:
        self._core.set_threads(threads)

    def joint_moments(self, rows: _core.Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means of the scores, and the covariance of every two as (rows, n_columns, n_columns)."""
        mean, covariance = self._core.joint_moments(rows)
        return mean, covariance


def fits(layout: Layout, n_columns: int, **kind: Any) -> None:
    """Refuse weights that there is no memory for, and covariance matrices that are too large.

    Keywords are those of `_check.WeightsMemory`.
    """
    if layout.covariance == "full":
        size = layout.n_rows * n_columns
        _check.fits_in_memory(layout.nbytes(n_columns), FULL_LIMIT, size)
    _check.WeightsMemory(layout, n_columns, **kind).check(MEMORY_LIMIT)


def _made(layout: Layout, n_columns: int) -> AbstractContextManager[None]:
    """While weights are made: those that there is no memory for are refused in one wording."""
    return _check.WeightsMemory(layout, n_columns).made(MEMORY_LIMIT)


def weights_of(layout: Layout, n_columns: int, prior: float) -> Diagonal | Full:
    """Untrained weights of the kind that the layout names."""
    fits(layout, n_columns)
    kind = Full if layout.covariance == "full" else Diagonal
    return kind(layout, n_columns, prior)


def _by_itself(rule: _core.Rule) -> bool:
    """For a row that was refused: True, but raises what the rule's function raised."""
    error = rule.take_error()
    if error is not None:
        raise error
    return True
