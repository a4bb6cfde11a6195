"""Scores of rankings: NDCG, average precision, first places; must not know how rankers learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.scores._comparison import in_words, share_interval
from surelearn.scores._decisions import DecisionScores

Array = NDArray[np.float64]

#: The scores, by the names of their attributes.
_NAMES = ("ndcg", "map", "accuracy", "mrr")


@dataclass(frozen=True, eq=False, repr=False)
class RankingScores:
    r"""Scores of rankings, means over the groups, as returned by `evaluate`. Two can be added.

    Attributes
    ----------
    n, n_skipped, n_bad : int
        Number of groups judged, of groups skipped because all of their candidates are of equal
        worth, and of groups that could not be parsed.
    k : int
        The rank at which NDCG ends.
    ndcg : float
        Discounted cumulative gain of the first k, as a share of the best possible one:

        .. math:: \mathrm{DCG} = \sum_{i=1}^{k} \frac{2^{r_i} - 1}{\log_2 (1 + i)}

        with :math:`r_i` the relevance of the candidate at rank i, as in LightGBM and XGBoost. With
        costs the numerator is what it saves against the most costly candidate of its group.
    map : float
        Mean average precision. Candidates of positive relevance count as relevant; with costs, the
        cheapest ones.
    accuracy : float
        Share of groups whose first candidate is a right one: of the largest relevance or the
        smallest cost.
    mrr : float
        Mean of 1 / the rank of the first relevant candidate.
    standard_error : dict of {str: float}
        The standard error of each of the four means.
    accuracy_interval : tuple of two float
        The bounds of the accuracy by `share_interval`, at 95 %.
    decisions : DecisionScores or None
        Risk against coverage, by group, and the promises and sets of the ranker, if it has any or
        if a risk was asked for; groups of equal worth count here. A sum of scores has none.

    References
    ----------
    Jarvelin & Kekalainen 2002, Cumulated gain-based evaluation of IR techniques. Burges et al.
    2005, Learning to rank using gradient descent (the gain).

    Examples
    --------
    >>> found = ranking_scores([0.1, 0.9], y=[1, 0], group=[2])
    >>> both = found + ranking_scores([0.9, 0.1], y=[1, 0], group=[2])
    >>> both.n, both.accuracy
    (2, 0.5)
    """

    k: int = 10
    n: int = 0
    n_skipped: int = 0
    n_bad: int = 0
    sums: tuple[float, ...] = (0.0,) * 4
    squares: tuple[float, ...] = (0.0,) * 4
    decisions: DecisionScores | None = None

    @property
    def ndcg(self) -> float:
        return self._mean(0)

    @property
    def map(self) -> float:
        return self._mean(1)

    @property
    def accuracy(self) -> float:
        return self._mean(2)

    @property
    def mrr(self) -> float:
        return self._mean(3)

    def _mean(self, which: int) -> float:
        return self.sums[which] / self.n if self.n else float("nan")

    @property
    def standard_error(self) -> dict[str, float]:
        return {name: self._error(i) for i, name in enumerate(_NAMES)}

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        return share_interval(round(self.sums[2]), self.n)

    def _error(self, which: int) -> float:
        if self.n < 2:
            return float("nan")
        variance = self.squares[which] / self.n - self._mean(which) ** 2
        return float(np.sqrt(max(variance, 0.0) / (self.n - 1)))

    def __add__(self, other: RankingScores) -> RankingScores:
        """The scores over the groups of both."""
        _check.agree("k", self.k, other.k)
        return RankingScores(
            self.k,
            self.n + other.n,
            self.n_skipped + other.n_skipped,
            self.n_bad + other.n_bad,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(a + b for a, b in zip(self.squares, other.squares, strict=True)),
        )

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values that JSON can hold."""
        names = ("n", "n_skipped", "n_bad", "k", *_NAMES)
        errors = {name: _or_none(x) for name, x in self.standard_error.items()}
        found = {name: _or_none(getattr(self, name)) for name in names}
        more = {} if self.decisions is None else self.decisions.to_dict()
        return {**found, "standard_error": errors, **more}

    def __str__(self) -> str:
        said = {"ndcg": f"NDCG@{self.k}", "map": "MAP", "accuracy": "first is right", "mrr": "MRR"}
        skipped = f", {self.n_skipped:,} skipped (all equal)" if self.n_skipped else ""
        bad = f", {self.n_bad:,} skipped as bad" if self.n_bad else ""
        lines = [f"{self.n:,} groups{skipped}{bad}", ""]
        for name, error in self.standard_error.items():
            value = getattr(self, name)
            shown = f"{value:.4f} +- {error:.4f}" if error > 0.0 else f"{value:.4f}"
            if name == "accuracy" and self.n:
                shown = in_words(value, self.accuracy_interval)
            lines.append(f"{said[name]:<18} {shown}")
        if self.decisions is not None:
            lines += ["", "Decisions by group:", str(self.decisions)]
        return "\n".join(lines)

    __repr__ = __str__


def _or_none(value: float) -> float | None:
    """None for NaN, which JSON lacks: no groups have no scores, one has no standard error."""
    return value if value == value else None


def ranking_scores(
    scores: Any,
    y: Any = None,
    *,
    cost: Any = None,
    group: Any = None,
    qid: Any = None,
    k: int = 10,
) -> RankingScores:
    """Evaluate the scores that any model gives to candidates.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Larger is better; ties keep the order of the rows.
    y, cost, group, qid
        Relevance or cost of each candidate, and the groups, as in `SureRanker.fit`.
    k : int, default 10
        The rank at which NDCG ends.

    Returns
    -------
    RankingScores

    Examples
    --------
    >>> found = ranking_scores([0.1, 0.9, 0.3], y=[2, 0, 1], group=[3])
    >>> found.mrr, round(found.ndcg, 3)
    (0.5, 0.587)
    """
    given = _check.numbers("scores", scores)
    if len(given.shape) != 1:
        raise ValueError(f"scores must have one dimension, got shape {given.shape}.")
    bounds = _check.grouped(_check.group_bounds(group, qid, len(given)))
    costs = _check.candidate_costs(y, cost, len(given))
    k = _check.count("k", k)
    return scored_groups(given, costs, bounds, graded=cost is None, k=k)


# ------------------------------------------------------------------------- sums


def scored_groups(
    scores: Array, cost: Array, bounds: NDArray[np.int64], *, graded: bool, k: int
) -> RankingScores:
    """The scores of all groups; `graded` tells that costs are negative relevances."""
    sizes = np.diff(bounds)
    of = np.repeat(np.arange(len(sizes)), sizes)
    least, most = _extremes(cost, of, len(sizes))
    tells = least < most
    n = int(np.count_nonzero(tells))
    if n == 0:
        return RankingScores(k, 0, len(sizes))
    ranked = _Ranked(of, np.lexsort((-scores, of)), np.arange(len(of)) - bounds[of], len(sizes))
    right = cost == least[of]
    gain = _gain(cost, least[of]) if graded else most[of] - cost
    relevant = cost < 0 if graded else right
    values = np.stack(
        [
            ranked.gain(gain, k) / np.where(tells, ranked.best_gain(gain, k), 1.0),
            ranked.average_precision(relevant),
            ranked.first(right),
            ranked.reciprocal_rank(relevant),
        ]
    )[:, tells]
    sums, squares = values.sum(axis=1).tolist(), np.square(values).sum(axis=1).tolist()
    return RankingScores(k, n, len(sizes) - n, 0, tuple(sums), tuple(squares))


def _gain(cost: Array, least: Array) -> Array:
    """2^r - 1 of each relevance r = -cost, divided by 2^(largest r of the group).

    The divisor cancels in NDCG. With it, large relevances do not overflow.
    """
    gain: Array = -np.exp2(least - cost) * np.expm1(cost * np.log(2.0))
    return gain


def _extremes(cost: Array, of: NDArray[np.int64], n: int) -> tuple[Array, Array]:
    """The smallest and the largest cost of each group."""
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(least, of, cost)
    np.maximum.at(most, of, cost)
    return least, most


@dataclass(frozen=True)
class _Ranked:
    """Candidates sorted by group, and by score within a group."""

    of: NDArray[np.int64]  # the group of each place
    order: NDArray[np.int64]  # the row in each place
    rank: NDArray[np.int64]  # of each place, from 0
    n: int

    def _sum_by_group(self, values: Array) -> Array:
        summed: Array = np.bincount(self.of, values, self.n).astype(np.float64)
        return summed

    def _discounted_gain(self, gain: Array, k: int) -> Array:
        """The discounted gain of the first k places of each group."""
        return self._sum_by_group(np.where(self.rank < k, gain / np.log2(self.rank + 2.0), 0.0))

    def gain(self, gain: Array, k: int) -> Array:
        """The discounted gain of the first k of each group."""
        return self._discounted_gain(gain[self.order], k)

    def best_gain(self, gain: Array, k: int) -> Array:
        """The largest discounted gain that any order has."""
        return self._discounted_gain(gain[np.lexsort((-gain, self.of))], k)

    def average_precision(self, relevant: NDArray[np.bool_]) -> Array:
        """The mean precision at the ranks of the relevant candidates."""
        here = relevant[self.order].astype(np.float64)
        seen = np.cumsum(here)
        firsts = np.arange(len(here)) - self.rank
        within = seen - (seen - here)[firsts]
        return self._sum_by_group(here * within / (self.rank + 1)) / np.maximum(
            self._sum_by_group(here), 1.0
        )

    def first(self, right: NDArray[np.bool_]) -> Array:
        """1 where the first candidate is right, else 0."""
        return self._sum_by_group(((self.rank == 0) & right[self.order]).astype(np.float64))

    def reciprocal_rank(self, relevant: NDArray[np.bool_]) -> Array:
        """1 / the rank of the first relevant candidate; 0 without any."""
        best = np.zeros(self.n)
        np.maximum.at(best, self.of, relevant[self.order] / (self.rank + 1.0))
        return best
