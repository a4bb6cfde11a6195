"""Labels needed to reach a target accuracy, and whether asking pays; must not know learners."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

#: Tests in the moving average of a curve, so that a single lucky test cannot reach the mark.
_WINDOW = 9
_N_DRAWS = 2000
#: Confidence level of the intervals that `worth` judges by.
LEVEL = 0.95


@dataclass(frozen=True)
class Worth:
    """Whether active learning pays off, and how sure that is; print it to read one sentence.

    `Simulation.worth` makes it.

    Attributes
    ----------
    learner, strategy : str
    share : float
        The target, as a share of the accuracy with all labels.
    labels, random_labels : float
        Labels needed by the strategy and by random order; inf: not reached.
    ratio, low, high : float
        ``labels / random_labels`` and its 95 % interval as in `labels_needed`; the bounds are nan
        for a single run.
    n_labels : int
        The largest number of labels in the simulation.
    n_runs : int

    Examples
    --------
    >>> from surelearn.active import Worth
    >>> Worth("arow", "acl", 0.95, 40.0, 80.0, 0.5, 0.4, 0.6, 500, 10).headline
    'acl needs 50 % as many labels as random order'
    """

    learner: str
    strategy: str
    share: float
    labels: float
    random_labels: float
    ratio: float
    low: float
    high: float
    n_labels: int
    n_runs: int

    @property
    def verdict(self) -> str:
        """``"worth it"``, ``"not worth it"``, or ``"no difference could be shown"``."""
        if self.high < 1:
            return "worth it"
        return "not worth it" if self.low > 1 else "no difference could be shown"

    @property
    def headline(self) -> str:
        """A short form of the sentence, for the title of a figure."""
        if np.isinf(self.labels) and np.isinf(self.random_labels):
            return f"{self.n_labels:,} labels are too few for {100 * self.share:.0f} %"
        if self.low <= 1 <= self.high or np.isnan(self.low):
            return f"No difference between {self.strategy} and random order could be shown"
        return f"{self.strategy} needs {self._percent()} as many labels as random order"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain Python values that JSON can hold; None for unknown values."""
        found = {**asdict(self), "verdict": self.verdict, "sentence": str(self)}
        bad = [name for name, x in found.items() if isinstance(x, float) and not np.isfinite(x)]
        return {**found, **dict.fromkeys(bad)}

    def __str__(self) -> str:
        mark = f"{100 * self.share:.0f} % of its full-data accuracy"
        if np.isinf(self.labels) and np.isinf(self.random_labels):
            return (
                f"{self.learner} did not reach {mark} within {self.n_labels:,} labels, neither "
                f"with {self.strategy} nor in random order. Nothing can be said."
            )
        return (
            f"To reach {mark}, {self.learner} needs {self._count(self.labels)} labels with "
            f"{self.strategy} and {self._count(self.random_labels)} in random order: "
            f"{self._percent()} as many ({self._interval()}). {self.verdict.capitalize()}."
        )

    def _count(self, labels: float) -> str:
        return f"more than {self.n_labels:,}" if np.isinf(labels) else f"{labels:,.0f}"

    def _percent(self) -> str:
        bound = ""
        if np.isinf(self.random_labels):
            bound = "less than "
        elif np.isinf(self.labels):
            bound = "more than "
        return f"{bound}{100 * self.ratio:.0f} %"

    def _interval(self) -> str:
        if np.isnan(self.low):
            return "one run only, so no interval"
        bounds = f"{100 * self.low:.0f} to {100 * self.high:.0f} %"
        return f"{100 * LEVEL:.0f} % interval over {self.n_runs} runs: {bounds}"


def drawn(n_runs: int) -> Array:
    """Bootstrap weights of the runs, one draw per row: n - 1 of the n runs with replacement.

    Draws of all n runs would give a standard error that is too small by sqrt(1 - 1/n).
    """
    drawn = max(n_runs - 1, 1)
    random = np.random.RandomState(0)
    return np.asarray(random.multinomial(drawn, np.full(n_runs, 1 / n_runs), _N_DRAWS) / drawn)


def smoothed(curves: Array) -> Array:
    """Centred moving averages over nine tests, fewer near the ends, along the last axis."""
    n = curves.shape[-1]
    half = _WINDOW // 2
    sums = np.concatenate([np.zeros((*curves.shape[:-1], 1)), curves.cumsum(axis=-1)], axis=-1)
    # A window that is not symmetric would shift a rising curve near its ends.
    reach = np.minimum(half, np.minimum(np.arange(n), np.arange(n)[::-1]))
    at = np.arange(n)
    return np.asarray((sums[..., at + reach + 1] - sums[..., at - reach]) / (2 * reach + 1))


def first_reach(curves: Array, marks: Array, labels: NDArray[np.int64]) -> Array:
    """The first number of labels at which each curve reaches its mark; inf: never."""
    there = curves >= marks[:, None] - 1e-12  # tolerate the rounding of the running sums
    first = labels[there.argmax(axis=1)].astype(np.float64)
    return np.where(there.any(axis=1), first, np.inf)


def relative(labels: Array, random_labels: Array, most: float) -> Array:
    """Labels needed relative to random order.

    A mark that is not reached counts as reached with the last label: this never overstates a
    difference.
    """
    return np.minimum(labels, most) / np.minimum(random_labels, most)


def interval(
    ratio: float, draws: Array, n_runs: int, *, rounding: float = 0.0
) -> tuple[float, float]:
    """Student's interval of a ratio on the log scale; its error adds that of draws and rounding.

    Quantiles of the draws would be too narrow for few runs: two runs lie on the same side of the
    truth half of the time, and no draw leaves the range between them.
    """
    error = float(np.hypot(np.log(draws).std(), rounding))
    width = float(stats.t.ppf((1 + LEVEL) / 2, n_runs - 1)) * error
    return ratio * float(np.exp(-width)), ratio * float(np.exp(width))


def rounding(first: float, other: float, labels: NDArray[np.int64]) -> float:
    """Standard error that the spacing of tests adds to the logarithm of a ratio."""
    step = float(np.diff(labels).max(initial=0))
    return step / math.sqrt(12) * math.hypot(1 / first, 1 / other)
