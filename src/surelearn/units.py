r"""Standardised columns: their running moments, and the units that weights are learnt in.

Of a column with mean :math:`c_j` and mean square about it :math:`s_j`, a model learns

.. math:: z_j = (x_j - c_j) / \sqrt{s_j d}

where d columns vary. The prior variance a of a weight is then a / (s_j d) in the column's own unit:
the margin of a typical row has prior variance a, whatever the units are. Must not know models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surelearn import _check, _core

__all__ = [
    "ColumnScale",
    "Units",
    "dense_in_units",
    "growth_of",
    "runs_in_units",
    "same_scales",
    "same_units",
]

Array = NDArray[np.float64]

#: New moments come into use when the rows have grown by one in so many, or by one. With a full
#: covariance a change of units takes two inverses, so it waits until the rows have doubled.
GROWTH = 16

#: A column whose deviation is at most so much of its mean has not varied but by rounding.
_ROUNDING = 4 * np.finfo(np.float64).eps


class Units(NamedTuple):
    """Units of the first columns: a value x is learnt as z = (x - centre) * factor.

    Parameters
    ----------
    centre, factor : ndarray of float64 of shape (n_columns,)
        A factor of 0 leaves out a column that has not varied yet.
    whole : bool
        Whether values that are not stored are zeros like others; otherwise they are missing, and
        learnt as the centre.
    """

    centre: Array
    factor: Array
    whole: bool

    def of(self, rows: _core.Rows) -> _core.Rows:
        """Rows in these units."""
        found = rows.in_units(*self)
        _check.sound_rows(found.fault)
        return found

    def matrix(self, X: Any) -> Any:
        """A copy of a checked dense or CSR matrix in these units."""
        X = X.copy()
        if issparse(X):
            inside = X.indices < len(self.factor)
            columns = X.indices[inside]
            X.data[inside] = (X.data[inside] - self.centre[columns]) * self.factor[columns]
        else:
            X[...] = (X - self.centre) * self.factor
        return X

    def centred(self, features: NDArray[np.int64], values: Array) -> Array:
        """What is left of the values of some features less their centres."""
        inside = features < len(self.centre)
        return values - np.where(inside, self.centre[np.where(inside, features, 0)], 0.0)

    def filled(self, features: NDArray[np.int64], values: Array) -> tuple[NDArray[np.int64], Array]:
        """Ascending features of a row and their values, with zeros where these are centred."""
        if not self.whole:
            return features, values
        every = np.zeros(len(self.centre))
        every[features] = values
        return np.arange(len(every)), every

    def per_unit(self, features: NDArray[np.int64]) -> Array:
        """The factors of some features; 1 beyond the columns."""
        inside = features < len(self.factor)
        return np.where(inside, self.factor[np.where(inside, features, 0)], 1.0)

    def shift(self, before: Units, features: NDArray[np.int64]) -> Array:
        """How far the centres of some features are from where they were before, in these units."""
        moved = before.centred(features, np.zeros(len(features)))
        return (moved - self.centred(features, np.zeros(len(features)))) * self.per_unit(features)


@dataclass
class ColumnScale:
    """Moments of columns that are learnt in units of their spread.

    Parameters
    ----------
    n, mean, square : ndarray of float64 of shape (n_columns,)
        The number of values that each column has had, their mean and sum of squares about it.
    centred : bool
        Whether the centre moves with the mean; otherwise it is 0.
    whole : bool
        As of `Units`.
    n_rows : int
        Rows counted.
    due : int
        The number of the row at which new moments come into use, counted from 1.
    units : Units
        What is in use.
    growth : int
        New moments come into use when the rows have grown by one in so many.
    """

    n: Array
    mean: Array
    square: Array
    centred: bool
    whole: bool
    units: Units
    n_rows: int = 0
    due: int = 1
    growth: int = GROWTH

    @classmethod
    def new(cls, n_columns: int, *, centred: bool, whole: bool, growth: int = GROWTH) -> Self:
        """The scale of no rows."""
        n, mean, square, centre, factor = np.zeros((5, n_columns))
        units = Units(centre, factor, whole)
        return cls(n, mean, square, centred, whole, units, growth=growth)

    def copy(self) -> Self:
        """The same with arrays of its own."""
        return replace(self, n=self.n.copy(), mean=self.mean.copy(), square=self.square.copy())

    def blank(self) -> Self:
        """The scale of no rows."""
        how = {"centred": self.centred, "whole": self.whole}
        return type(self).new(len(self.n), growth=self.growth, **how)

    def count(self, rows: _core.Rows, begin: int, end: int) -> None:
        """Take in some rows; what is in use stays as it is. Values beyond 1e150 count as 1e150."""
        self.n_rows += end - begin
        if self.whole and rows.n_values(begin, end) is not None:
            # Zeros that are not stored are values like others.
            as_given = Units(np.zeros_like(self.n), np.ones_like(self.n), whole=True)
            rows, begin, end = as_given.of(rows.part(begin, end)), 0, end - begin
        rows.add_moments(begin, end, self.n, self.mean, self.square, self.centred)

    def stretch(self, rows: _core.Rows, begin: int) -> tuple[Self, int, int]:
        """The scale by which rows are learnt from `begin` on; how many of them; how many it counts.

        New moments include the row at which they come into use. So rows that come one by one or in
        blocks are learnt in the same units.
        """
        if self.n_rows + 1 < self.due:
            return self, self.due - 1 - self.n_rows, 0
        grown = self.copy()
        grown.count(rows, begin, begin + 1)
        grown.use()
        return grown, grown.due - grown.n_rows, 1

    def use(self) -> None:
        """Take the moments so far into use."""
        self.units = self.found()
        self.due = self.n_rows + max(1, self.n_rows // self.growth)

    def found(self) -> Units:
        """The units that follow from the moments so far."""
        rounding = np.square(_ROUNDING * self.mean) * self.n
        varied = self.square > rounding
        spread = np.where(varied, self.square, 1.0) / np.maximum(self.n, 1.0)
        # Values in a typical row: columns that vary, or values other than 0 of sparse rows.
        d = (
            float(varied.sum())
            if self.centred or self.whole
            else float(self.n.sum()) / max(1, self.n_rows)
        )
        factor = np.where(varied, 1.0 / np.sqrt(spread * max(d, 1.0)), 0.0)
        return Units(np.where(varied, self.mean, 0.0), factor, self.whole)

    def since(self, start: ColumnScale | None) -> ColumnScale:
        """The moments of the rows after `start`, from which this one went on."""
        if start is None:
            return self
        n = self.n - start.n
        share = start.n / np.maximum(n, 1.0)
        mean = np.where(n > 0, self.mean + share * (self.mean - start.mean), 0.0)
        between = start.n * n / np.maximum(self.n, 1.0) * np.square(start.mean - mean)
        square = np.maximum(0.0, self.square - start.square - between)
        n_rows = self.n_rows - start.n_rows
        return replace(self, n=n, mean=mean, square=square, n_rows=n_rows)

    def in_use(self, units: Units) -> ColumnScale:
        """The same moments with other units in use."""
        return replace(self, units=units)

    @classmethod
    def united(cls, scales: Sequence[Self]) -> Self:
        """The scale of the rows of all, in use; their order changes no bit."""
        first = scales[0]
        for other in scales[1:]:
            _check.agree("number of scaled columns", len(first.n), len(other.n))
        n = np.sum([one.n for one in scales], axis=0)
        # Of differences: means that are equal are theirs to the bit, and nothing has varied.
        base = np.min([np.where(one.n > 0, one.mean, np.inf) for one in scales], axis=0)
        base = np.where(n > 0, base, 0.0)
        mean = base + _exact([one.n * (one.mean - base) for one in scales]) / np.maximum(n, 1.0)
        spread = [one.n * np.square(one.mean - mean) for one in scales]
        square = _exact([one.square for one in scales] + spread)
        result = replace(first, n=n, mean=mean, square=square)
        result.n_rows = sum(one.n_rows for one in scales)
        result.use()
        return result


def growth_of(covariance: str) -> int:
    """How far rows grow between two changes of units, for `ColumnScale`."""
    return 1 if covariance == "full" else GROWTH


def same_units(one: Units, other: Units) -> bool:
    """Whether both read rows alike."""
    arrays = zip(one[:2], other[:2], strict=True)
    return one.whole == other.whole and all(np.array_equal(a, b) for a, b in arrays)


def same_scales(scales: Sequence[ColumnScale]) -> None:
    """Raise for scales with different units in use."""
    for other in scales[1:]:
        if not same_units(scales[0].units, other.units):
            raise ValueError(
                "states must be of models in the same units of columns to be added, got two that "
                "have met other rows. Use surelearn.merge, or scale=False."
            )


def runs_in_units(state: Mapping[str, Any], before: Units, units: Units) -> dict[str, Any]:
    r"""The runs of diagonal weights in other units, their evidence unchanged.

    .. math:: \lambda' = 1/a + r^2 (\lambda - 1/a), \qquad \mu' = \mu\, r \lambda / \lambda',
        \qquad b' = b + \sum_j \mu'_j f'_j (c'_j - c_j)

    with factors f, r = f'/f and centres c. A column that has not varied has no evidence.
    """
    layout, K, features = state["layout"], state["n_columns"], state["features"]
    if not len(features):
        return {}
    second_order, averaged = layout["second_order"], layout["averaged"]
    # Features beyond the columns have no unit.
    columns = features[features < min(len(units.factor), layout["n_features"])]
    has_intercept = features[-1] == layout["n_features"]  # every row moves it
    old, new = before.per_unit(columns), units.per_unit(columns)
    moved = np.flatnonzero((old > 0) & (new > 0))
    ratio = (new[moved] / old[moved])[:, np.newaxis]
    cells = state["cells"].astype(np.float64)
    parts = cells.reshape(len(features), -1, K)
    own, growth = parts[moved], np.ones((len(moved), K))
    if second_order:
        prior, precision = 1 / state["prior"], 1 / own[:, 1]
        now = prior + ratio**2 * (precision - prior)
        own[:, 1], growth = 1 / now, precision / now
    shift = units.shift(before, columns[moved])[:, np.newaxis]
    for part in [0, *[parts.shape[1] - 1] * averaged]:  # means, and sums for averages
        own[:, part] *= ratio * growth
        if has_intercept:
            # By column, whose bits then do not depend on the number of columns.
            parts[-1, part] += np.ascontiguousarray((own[:, part] * shift).T).sum(axis=1)
    parts[moved] = own
    return {"cells": cells.reshape(state["cells"].shape).astype(layout["dtype"])}


def dense_in_units(state: Mapping[str, Any], before: Units, units: Units) -> dict[str, Any]:
    """The same of a full covariance: matrices in place of numbers.

    Classes that have not been learnt stay out of them: their number changes no bit of the others.
    """
    layout, K, prior = state["layout"], state["n_columns"], state["prior"]
    n, has_intercept = layout["n_features"], layout["intercept"]
    m = n + has_intercept
    blank = np.eye(K * m, dtype=state["sigma"].dtype) * state["sigma"].dtype.type(prior)
    learnt = np.flatnonzero(~(state["sigma"] == blank).reshape(K, -1).all(axis=1))
    if not len(learnt):
        return {}
    own = (learnt[:, np.newaxis] * m + np.arange(m)).ravel()
    features = np.arange(n)
    old, new = before.per_unit(features), units.per_unit(features)
    moved = np.flatnonzero((old > 0) & (new > 0))
    ratio = np.ones((len(learnt), m))
    ratio[:, moved] = new[moved] / old[moved]
    ratio = ratio.ravel()
    precision = np.linalg.inv(state["sigma"][np.ix_(own, own)].astype(np.float64))
    free = np.eye(len(own)) / prior
    sigma = np.linalg.inv(free + ratio[:, np.newaxis] * (precision - free) * ratio)
    means = state["means"].astype(np.float64)
    vectors = means.reshape(-1, K * m)[:, own].T
    vectors = np.ascontiguousarray((sigma @ (ratio[:, np.newaxis] * (precision @ vectors))).T)
    if has_intercept:
        blocks = vectors.reshape(-1, len(learnt), m)
        blocks[:, :, -1] += blocks[:, :, moved] @ units.shift(before, moved)
    means.reshape(-1, K * m)[:, own] = vectors
    blank[np.ix_(own, own)] = (sigma + sigma.T) / 2
    return {"means": means.astype(layout["dtype"]), "sigma": blank.astype(layout["dtype"])}


def _exact(parts: list[Array]) -> Array:
    """Sums of columns, rounded once."""
    return np.array([math.fsum(column) for column in zip(*parts, strict=True)])
