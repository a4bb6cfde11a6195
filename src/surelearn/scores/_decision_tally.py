"""Counts over decisions, batch by batch; must not know how they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.decide import Right, compare_areas, mean_upper_bound, risk_coverage
from surelearn.scores._comparison import share_interval
from surelearn.scores._decisions import DecisionScores, Kept, SetScores
from surelearn.scores._result import Scores

Array = NDArray[np.float64]
Answered = NDArray[np.bool_]

#: Samples of the bootstrap: so many at most, and of many records fewer, but enough for its error.
_DRAWS, _FEWEST, _DRAWN = 1000, 100, 20_000_000


class CurveTally:
    """The sureness and the loss of each answer of a model, and of its rival: two numbers each."""

    def __init__(self) -> None:
        self._parts: list[tuple[tuple[Array, Array], ...]] = []

    def add(self, *models: tuple[Array, Array]) -> None:
        """Add the sureness and the loss of a batch, for each of the models."""
        self._parts.append(models)

    def result(self, risk: float | None, **more: Any) -> DecisionScores | None:
        """The scores of all records; None without any."""
        if not self._parts:
            return None
        joined = [
            (np.concatenate([k for k, _ in parts]), np.concatenate([loss for _, loss in parts]))
            for parts in zip(*self._parts, strict=True)
        ]
        curve = risk_coverage(*joined[0])
        if len(joined) < 2:
            return DecisionScores(curve, risk, **more)
        n_draws = int(np.clip(_DRAWN // len(curve.risk), _FEWEST, _DRAWS))
        _, error = compare_areas(joined[0], joined[1], n_draws=n_draws)
        rival = risk_coverage(*joined[1]).area
        return DecisionScores(curve, risk, rival_area=rival, area_error=error, **more)


class KeptTally:
    """Records that a certified rule answers, and what these answers lose.

    Parameters
    ----------
    promises : list of dict
        For each label, or for None: the fields `label`, `risk`, `delta`, `coverage` and `bound` of
        `Kept`.
    binary : bool
        Whether losses are 0 or 1.
    """

    def __init__(self, promises: list[dict[str, Any]], *, binary: bool) -> None:
        self._promises, self._binary, self._n = promises, binary, 0
        self._counts = np.zeros(len(promises), np.int64)
        self._lost = np.zeros(len(promises))
        self._losses: list[list[Array]] = [[] for _ in promises]

    def add(self, answered: Answered, loss: Array, labels: NDArray[Any] | None) -> None:
        """Add a batch; `labels` are those of its answers, if risks are by label."""
        self._n += len(answered)
        for i, promise in enumerate(self._promises):
            own = answered if promise["label"] is None else answered & (labels == promise["label"])
            self._counts[i] += np.count_nonzero(own)
            self._lost[i] += loss[own].sum()
            if not self._binary:
                self._losses[i].append(loss[own])

    def result(self) -> tuple[Kept, ...]:
        """What was promised and observed."""
        found = []
        for i, promise in enumerate(self._promises):
            n = int(self._counts[i])
            losses = None if self._binary else np.concatenate(self._losses[i])
            observed = float(self._lost[i]) / n if n else None
            interval = mean_interval(float(self._lost[i]), n, losses)
            found.append(
                Kept(**promise, n=self._n, n_answered=n, observed=observed, interval=interval)
            )
        return tuple(found)


class SetTally:
    """Coverage and size of sets of labels.

    Parameters
    ----------
    stated : float
        The coverage that was asked for.
    classes : ndarray or None
        The label of each column of a set; None where columns are candidates.
    binary : bool
        Whether a record's set is right or wrong; else it misses a share of its right labels.
    """

    def __init__(self, stated: float, classes: NDArray[Any] | None, *, binary: bool) -> None:
        self._stated, self._classes, self._binary = stated, classes, binary
        self._n = self._n_items = self._n_labels = 0
        self._sizes = 0.0
        self._lost: list[Array] = []
        self._missed = 0.0
        # By class: records or parts, how many sets hold the label, and the sum of their sizes.
        self._sums = np.zeros((3, 0 if classes is None else len(classes)))

    def add(self, within: NDArray[np.bool_], right: Right, items: NDArray[np.int64]) -> None:
        """Add a batch: whether an item's set has each label, the right ones, its record."""
        sizes = within.sum(axis=1)
        held = right.values(np.where(within, 0.0, 1.0)) == 0.0
        lost = np.zeros(right.n)
        record = np.zeros(len(right.share), np.int64)
        record[right.part] = items[right.item]
        np.add.at(lost, record[~held], right.share[~held])
        self._n += right.n
        self._missed += float(lost.sum())
        if not self._binary:
            self._lost.append(lost)
        self._n_items += len(sizes)
        self._n_labels = max(self._n_labels, within.shape[1])
        self._sizes += float(sizes.sum())
        if self._classes is not None:
            self._count(held, sizes, right)

    def _count(self, held: Answered, sizes: NDArray[np.int64], right: Right) -> None:
        item = np.zeros(len(right.share), np.int64)
        item[right.part] = right.item
        known = right.label >= 0
        places = right.label[known]
        for line, weights in enumerate((None, held[known], sizes[item[known]])):
            self._sums[line] += np.bincount(places, weights, minlength=self._sums.shape[1])

    def result(self) -> SetScores:
        """The scores of all sets."""
        losses = None if self._binary else np.concatenate(self._lost)
        low, high = mean_interval(self._missed, self._n, losses)
        table = None
        if self._classes is not None:
            there = np.flatnonzero(self._sums[0])
            support, held, sizes = self._sums[:, there]
            columns = {"coverage": held / support, "size": sizes / support}
            columns["support"] = support.astype(np.int64)
            table = Scores({"label": self._classes[there], **columns})
        return SetScores(
            self._stated,
            1.0 - self._missed / self._n,
            (1.0 - high, 1.0 - low),
            self._sizes / max(self._n_items, 1),
            self._n_labels,
            table,
        )


def mean_interval(total: float, n: int, losses: Array | None) -> tuple[float, float]:
    """The interval of a mean loss at 95 %: of Clopper and Pearson, or by betting if losses are
    shares, which are given then."""
    if n == 0:
        return 0.0, 1.0
    if losses is None:
        return share_interval(round(total), n)
    high = mean_upper_bound(losses, 0.025, binary=False)
    low = 1.0 - mean_upper_bound(1.0 - losses, 0.025, binary=False)
    mean = float(losses.mean())
    return min(max(low, 0.0), mean), max(high, mean)
