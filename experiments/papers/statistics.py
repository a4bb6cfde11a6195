"""Means with their errors, and paired comparisons; must not know what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from surelearn.evaluation import Comparison


class Mean(NamedTuple):
    """A mean and its standard error.

    Examples
    --------
    >>> from experiments.papers.statistics import mean
    >>> str(mean([1.0, 2.0, 3.0]))
    '2.00 ± 0.58'
    """

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}"


def mean(values: ArrayLike) -> Mean:
    """The mean of independent values; the error of a single one is not a number."""
    found = np.asarray(values, dtype=np.float64)
    error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    return Mean(float(found.mean()), float(error))


def difference(first: ArrayLike, second: ArrayLike) -> Mean:
    """The mean of paired differences: the same folds, runs or rows in both."""
    return mean(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))


def mcnemar(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> Comparison:
    """McNemar's test between two models, from which of the same rows each has right."""
    from surelearn.evaluation import Comparison

    ours, theirs = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    return Comparison(
        int(np.sum(ours & theirs)),
        int(np.sum(ours & ~theirs)),
        int(np.sum(~ours & theirs)),
        int(np.sum(~ours & ~theirs)),
        names=names,
    )
