"""Several questions at once, none of them twice: each as if those before had been answered."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, rules
from surelearn.active._view import Own, unsure_first
from surelearn.estimators._judge import Lead, lead
from surelearn.estimators._model import Model

#: Rows that are scored again in one call of the core, at first.
_TOGETHER = 64


class Shrinking:
    """A twin of a model whose variances fall as rows are chosen; the model stays as it is."""

    def __init__(self, rows: Own) -> None:
        model = rows.certain("variances")
        self._estimator: Any = rows.model
        self._rows = rows.rows
        self._model: Model = model.copy()
        self._rule = rules.get(self._estimator.rule).core()
        self._found: Lead = lead(self._estimator, model, self._rows)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Of all rows, before any was chosen."""
        return unsure_first(self._found)

    def again(self, rows: Sequence[int]) -> list[float]:
        """The scores of some rows now. None has become smaller, since variances only fall."""
        numbers = np.array(rows, dtype=np.int64)
        places = self._found.best[numbers]
        now = lead(self._estimator, self._model, self._rows, numbers, places=places)
        lost = np.maximum(self._found.own[numbers] - now.own, 0.0)
        # hypot, so that rows which lost nothing keep their score to the bit
        scores: list[float] = unsure_first(
            now._replace(gap=np.hypot(now.gap, np.sqrt(lost)))
        ).tolist()
        return scores

    def choose(self, row: int) -> None:
        """Go on as if this row had been learnt."""
        best, other = int(self._found.best[row]), int(self._found.next[row])
        code = self._model.code
        if code is not None:
            for problem in np.flatnonzero(code.matrix[best] | code.matrix[other]).tolist():
                self._suppose(row, [problem])
        else:
            self._suppose(row, [0] if len(self._model.classes) == 2 else [best, other])

    def _suppose(self, row: int, columns: list[int]) -> None:
        weights = _check.trained(self._model.weights, "batch")
        covariance = self._model.projection == "covariance"
        weights.suppose(self._rule, self._rows, row, columns, covariance=covariance)


def spread_out(rows: Own, n: int, among: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The n rows to ask about together, best first, all of them or `among` some.

    A row whose score is the smallest although it was found before the last choices may only have
    become larger since, so it is scored again, with others, until the smallest is a new one.
    """
    twin = Shrinking(rows)
    among = np.arange(len(rows)) if among is None else among
    heap = list(zip(twin.scores[among].tolist(), among.tolist(), strict=True))
    heapq.heapify(heap)
    scored_at = dict.fromkeys(among.tolist(), 0)
    chosen: list[int] = []
    together = _TOGETHER
    while len(chosen) < n:
        if scored_at[heap[0][1]] == len(chosen):
            row = heapq.heappop(heap)[1]
            chosen.append(row)
            twin.choose(row)
            together = _TOGETHER
            continue
        stale = [heapq.heappop(heap)[1] for _ in range(min(together, len(heap)))]
        for score, row in zip(twin.again(stale), stale, strict=True):
            heapq.heappush(heap, (score, row))
            scored_at[row] = len(chosen)
        together *= 2
    return np.array(chosen, dtype=np.int64)
