"""Risk against coverage, and its area; must not know models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The risk among the surest answers, for each number of answers.

    Attributes
    ----------
    coverage : ndarray of shape (n,)
        The share of records that is answered, surest first.
    risk : ndarray of shape (n,)
        The mean loss among them. Records of equal sureness are answered together: each of them has
        the risk of all.
    least : ndarray of shape (n,)
        The least possible risk: if the sureness told right answers from wrong ones.
    area : float
        The mean of `risk`: the expected loss of an answer if the coverage is drawn at random.
    """

    coverage: Array
    risk: Array
    least: Array

    @property
    def area(self) -> float:
        return float(self.risk.mean())

    def coverage_at(self, risk: float) -> float:
        """The largest coverage with at most this risk on these records; it promises nothing."""
        within = np.flatnonzero(self.risk <= risk)
        return float(self.coverage[within[-1]]) if len(within) else 0.0

    def __repr__(self) -> str:
        return f"RiskCoverage(n={len(self.risk)}, risk={self.risk[-1]:.4f}, area={self.area:.4f})"


def risk_coverage(sureness: Array, loss: Array) -> RiskCoverage:
    """The curve of some records.

    Parameters
    ----------
    sureness, loss : ndarray of shape (n,)

    References
    ----------
    El-Yaniv & Wiener 2010, On the foundations of noise-free selective classification. Geifman,
    Uziel & El-Yaniv 2019, Bias-reduced uncertainty estimation (the area).

    Examples
    --------
    >>> found = risk_coverage(np.array([3.0, 1.0, 2.0, 0.5]), np.array([0.0, 1.0, 0.0, 1.0]))
    >>> found.risk.round(2).tolist(), round(found.area, 3)
    ([0.0, 0.0, 0.33, 0.5], 0.208)
    """
    order = np.argsort(-sureness, kind="stable")
    ordered, n = sureness[order], len(order)
    counts = np.arange(1, n + 1)
    risk, least = np.cumsum(loss[order]) / counts, np.cumsum(np.sort(loss)) / counts
    # Ties end where the next smaller sureness begins.
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), n - 1)
    risk = risk[ends[np.searchsorted(ends, np.arange(n))]]
    return RiskCoverage(counts / n, risk, least)


def compare_areas(
    one: tuple[Array, Array],
    other: tuple[Array, Array],
    *,
    n_draws: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """The difference of two areas on the same records, and its standard error by the bootstrap.

    Parameters
    ----------
    one, other : tuple of two ndarray of shape (n,)
        Sureness and loss of each record.
    n_draws, seed : int
        Number of bootstrap samples, and their seed.

    Returns
    -------
    difference, standard_error : float
        Of the first less the second: negative if the first is better.
    """
    random, n = np.random.default_rng(seed), len(one[0])
    difference = risk_coverage(*one).area - risk_coverage(*other).area
    first, second = _Resampled(*one), _Resampled(*other)
    drawn = np.empty(n_draws)
    for b in range(n_draws):
        times = np.bincount(random.integers(0, n, n), minlength=n)
        drawn[b] = first.area(times) - second.area(times)
    return difference, float(drawn.std(ddof=1))


class _Resampled:
    """Records sorted once, for the areas of many samples of them."""

    def __init__(self, sureness: Array, loss: Array) -> None:
        self._order = np.argsort(-sureness, kind="stable")
        ordered = sureness[self._order]
        self._begins = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
        self._loss = np.asarray(loss, dtype=np.float64)[self._order]

    def area(self, times: NDArray[np.int64]) -> float:
        """The area of the sample that has each record so many times."""
        own = times[self._order].astype(np.float64)
        lost = own * self._loss
        if len(self._begins) < len(own):  # records of equal sureness are answered together
            own, lost = np.add.reduceat(own, self._begins), np.add.reduceat(lost, self._begins)
        # Before the first record of the sample nothing is answered, and nothing is lost.
        answered = np.maximum(np.cumsum(own), 1.0)
        return float(own @ (np.cumsum(lost) / answered) / len(times))
