"""Weights and their contributions to a margin, as plain arrays; must not know labels or names.

`means` has shape (n_columns, D); the intercept, if any, comes last. `variances` has the same shape
(diagonal), or shape (N, N) with N = n_columns D and one block per column (full), or is None (first
order). Another thread may be writing to both arrays, so each cell is read only once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: A feature number that stands for all features that are not listed.
OTHERS = -1


class SomeWeights(NamedTuple):
    """Some weights: their columns and features, means and variances."""

    column: NDArray[np.int64]
    feature: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64] | None

    def take(self, order: NDArray[np.int64]) -> SomeWeights:
        return SomeWeights(*(None if part is None else part[order] for part in self))  # type: ignore[arg-type]

    def before(self, others: SomeWeights) -> SomeWeights:
        """These, then others."""
        return SomeWeights(*map(_joined, self, others))


class Shares(NamedTuple):
    """Contributions of some weights to the margin of one row, and to its variance."""

    weights: SomeWeights
    value: NDArray[np.float64]
    margin: NDArray[np.float64]
    variance: NDArray[np.float64] | None

    def take(self, order: NDArray[np.int64]) -> Shares:
        return Shares(
            self.weights.take(order),
            *(None if part is None else part[order] for part in self[1:]),  # type: ignore[arg-type]
        )

    def before(self, others: Shares) -> Shares:
        """These, then others."""
        return Shares(self.weights.before(others.weights), *map(_joined, self[1:], others[1:]))


def diagonal(means: NDArray[Any], variances: NDArray[Any]) -> NDArray[Any]:
    """The variance of each weight, in the shape of the means."""
    if variances.shape == means.shape:
        return variances
    return np.diagonal(variances).reshape(means.shape)


def sureness(
    mean: NDArray[np.float64], variance: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """|mean| in standard deviations; without variances, |mean|.

    It gives the same order as the probability of the sign, but never saturates. A column that has
    not varied has a weight without mean and variance: 0.
    """
    if variance is None:
        return np.abs(mean)
    return np.abs(mean) / np.sqrt(np.where(variance > 0, variance, 1.0))


def surest(
    means: NDArray[Any], variances: NDArray[Any] | None, top: int | None = None
) -> SomeWeights:
    """The weights in decreasing order of sureness; ties by feature, then by column.

    It goes column by column, so that temporary arrays have one number per feature.
    """
    own = None if variances is None else diagonal(means, variances)
    columns = range(len(means))
    picked = [_largest(_sureness_of(means, own, column), top) for column in columns]
    column = np.repeat(np.arange(len(means)), [len(features) for features in picked])
    found = _read(means, own, column, np.concatenate(picked))
    order = np.lexsort((found.column, found.feature, -sureness(found.mean, found.variance)))
    return found.take(order[:top])


def largest(
    means: NDArray[Any], variances: NDArray[Any] | None, top: int | None = None
) -> SomeWeights:
    """The weights of one column in decreasing order of the mean; ties by feature."""
    own = None if variances is None else diagonal(means, variances)
    features = _largest(means[0].astype(np.float64), top)
    found = _read(means, own, np.zeros_like(features), features)
    return found.take(np.lexsort((found.feature, -found.mean)))


def shares(
    means: NDArray[Any],
    variances: NDArray[Any] | None,
    features: NDArray[np.int64],
    values: NDArray[np.float64],
) -> Shares:
    r"""Contribution of each non-zero feature to the mean and variance of each column's margin.

    .. math:: M_z = \sum_j \mu_{zj} x_j, \qquad V_z = \sum_j x_j (\Sigma_{zz} x)_j

    which is :math:`\sum_j \sigma_{zj} x_j^2` for a diagonal covariance. With a full covariance, a
    contribution to the variance may be negative: the feature makes the margin surer.
    """
    own = None if variances is None else diagonal(means, variances)
    column = np.repeat(np.arange(len(means)), len(features))
    weights = _read(means, own, column, np.tile(features, len(means)))
    value = np.tile(values, len(means))
    variance = None if weights.variance is None else weights.variance * value**2
    if variances is not None and variances.shape != means.shape:
        blocks = [features + column * means.shape[1] for column in range(len(means))]
        variance = np.concatenate([values * _product(variances, at, values) for at in blocks])
    return Shares(weights, value, weights.mean * value, variance)


def to_best(parts: Shares, n: int) -> Shares:
    """The contributions to the n columns with the largest margins."""
    return parts.take(np.flatnonzero(_ranks(parts) < n))


def heaviest(
    parts: Shares, top: int | None = None, *, intercept: int | None = None, shown: bool = False
) -> Shares:
    """The contributions to each column in decreasing order of their size, largest margin first.

    Those after the first `top` of all columns are summed up, one sum per column, at the end of
    the column. The feature with the number `intercept` is among them, or the last if `shown`.
    """
    feature = parts.weights.feature
    order = np.lexsort((parts.weights.column, feature, -np.abs(parts.margin)))
    is_own = feature[order] != intercept
    kept, rest, last = (
        order[is_own][:top],
        order[is_own][len(order[is_own][:top]) :],
        order[~is_own],
    )
    if not shown:
        rest, last = np.concatenate([rest, last]), last[:0]
    found = parts.take(kept).before(_others(parts.take(rest))).before(parts.take(last))
    return found.take(np.argsort(_ranks(found), kind="stable"))


def _sureness_of(means: NDArray[Any], own: NDArray[Any] | None, column: int) -> NDArray[np.float64]:
    variance = None if own is None else own[column].astype(np.float64)
    return sureness(means[column].astype(np.float64), variance)


def _largest(numbers: NDArray[np.float64], top: int | None) -> NDArray[np.int64]:
    """Positions of the largest numbers, in no particular order; ties: the first."""
    if top is None or top >= len(numbers):
        return np.arange(len(numbers))
    # Negated: partition is twenty times as fast if nearly all are zero, as for hashed text.
    least = -np.partition(-numbers, top - 1)[top - 1]
    above = np.flatnonzero(numbers > least)
    equal = np.flatnonzero(numbers == least)
    return np.concatenate([above, equal[: top - len(above)]])


def _read(
    means: NDArray[Any],
    own: NDArray[Any] | None,
    column: NDArray[np.int64],
    feature: NDArray[np.int64],
) -> SomeWeights:
    mean = means[column, feature].astype(np.float64)
    variance = None if own is None else own[column, feature].astype(np.float64)
    return SomeWeights(column, feature, mean, variance)


def _product(
    variances: NDArray[Any], places: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(Sigma x) at the positions where x is not zero."""
    return np.asarray(variances[np.ix_(places, places)].astype(np.float64) @ values)


def _ranks(parts: Shares) -> NDArray[np.int64]:
    """The place of each contribution's column by its margin, the largest first."""
    columns, group = np.unique(parts.weights.column, return_inverse=True)
    place = np.empty(len(columns), dtype=np.int64)
    place[np.argsort(-_sums(group, parts.margin), kind="stable")] = np.arange(len(columns))
    return place[group]


def _others(rest: Shares) -> Shares:
    """The sums of some contributions, one per column."""
    columns, group = np.unique(rest.weights.column, return_inverse=True)
    nothing = np.full(len(columns), np.nan)
    without = None if rest.variance is None else nothing
    return Shares(
        SomeWeights(columns, np.full(len(columns), OTHERS), nothing, without),
        nothing,
        _sums(group, rest.margin),
        None if rest.variance is None else _sums(group, rest.variance),
    )


def _sums(group: NDArray[np.int64], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(group, parts), dtype=np.float64)


def _joined(a: NDArray[Any] | None, b: NDArray[Any] | None) -> Any:
    return None if a is None or b is None else np.concatenate([a, b])
