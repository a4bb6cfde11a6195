"""Several questions at once, none of them twice: each as if those before had been answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.active._view import Own, unsure_first

#: Rows that are scored again in one call of the core, at first.
_TOGETHER = 64


class Shrinking:
    """A twin of a model whose variances fall as rows are chosen; the model stays as it is."""

    def __init__(self, rows: Own) -> None:
        rows.check_certain("variances")
        self._rows = rows.rows
        self._model = rows.scorer.model.copy()
        self._scorer = replace(rows.scorer, model=self._model)
        self._rule = rows.scorer.rule.core()
        self._found = rows.scorer.top_two(self._rows)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Of all rows, before any was chosen."""
        return unsure_first(self._found)

    def again(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of some rows now. None has become smaller, since variances only fall."""
        places = self._found.best[rows]
        now = self._scorer.top_two(self._rows, rows, places=places)
        lost = np.maximum(self._found.own[rows] - now.own, 0.0)
        # hypot, so that rows which lost nothing keep their score to the bit
        return unsure_first(now._replace(gap=np.hypot(now.gap, np.sqrt(lost))))

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

    The smallest score may have been found before the last choice. Then the row can only have become
    surer since: it is scored again, with others, until the smallest is a new one.
    """
    twin = Shrinking(rows)
    among = np.arange(len(rows)) if among is None else among
    score = twin.scores[among]
    is_new = np.ones(len(among), dtype=bool)
    chosen: list[int] = []
    together = _TOGETHER
    while len(chosen) < n:
        place = int(score.argmin())
        if is_new[place]:
            chosen.append(int(among[place]))
            twin.choose(chosen[-1])
            among, score = np.delete(among, place), np.delete(score, place)
            is_new = np.zeros(len(among), dtype=bool)
            together = _TOGETHER
            continue
        near = np.argpartition(score, min(together, len(score)) - 1)[:together]
        score[near], is_new[near] = twin.again(among[near]), True
        together *= 2
    return np.array(chosen, dtype=np.int64)
