"""Choose a batch of rows to label: each as if the rows before it had been labelled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.active._view import NativeView, unsure_first
from surelearn.learners.answers.linear import Linear

#: How many rows the first call of the core scores again; later calls score twice as many.
_TOGETHER = 64


class Shrinking:
    """A copy of a model whose variances fall as rows are chosen; the model does not change."""

    def __init__(self, rows: NativeView) -> None:
        rows.check_certain("variances")
        if not isinstance(rows.model, Linear):
            raise ValueError(
                f"batch must be False for {type(rows.model).__name__}, got True. Only linear "
                "models can tell what learning a row would change."
            )
        self._rows = rows.rows
        self._model = rows.scorer.model.copy()
        self._scorer = replace(rows.scorer, model=self._model)
        self._rule = rows.scorer.rule.core()
        self._found = rows.scorer.top_two(self._rows)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of all rows before the first choice."""
        return unsure_first(self._found)

    def again(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The current scores of some rows. No score can fall, since variances only fall."""
        places = self._found.best[rows]
        now = self._scorer.top_two(self._rows, rows, places=places)
        lost = np.maximum(self._found.own[rows] - now.own, 0.0)
        # hypot(gap, 0) == gap, so rows that lost no variance keep their score to the bit.
        return unsure_first(now._replace(gap=np.hypot(now.gap, np.sqrt(lost))))

    def choose(self, row: int) -> None:
        """Shrink the variances as if this row had been learnt."""
        best, other = int(self._found.best[row]), int(self._found.next[row])
        code = self._model.code
        if self._model.many_labels:
            self._learn_hypothetically(row, [best])
        elif code is not None:
            for problem in np.flatnonzero(code.matrix[best] | code.matrix[other]).tolist():
                self._learn_hypothetically(row, [problem])
        else:
            self._learn_hypothetically(row, [0] if len(self._model.classes) == 2 else [best, other])

    def _learn_hypothetically(self, row: int, columns: list[int]) -> None:
        weights = _check.trained(self._model.weights, "batch")
        covariance = self._model.projection == "covariance"
        weights.hypothetical_update(self._rule, self._rows, row, columns, covariance=covariance)


def spread_out(
    rows: NativeView, n: int, among: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The n rows to label together, best first; the candidates are `among`, or all rows.

    The search is lazy. A choice can only raise the other scores, so an old score is a lower bound.
    While the smallest score is an old one, that row and its nearest rivals are scored again. A
    smallest score that is new beats every bound: its row is the next choice.
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
        together *= 2  # many near copies of the chosen row: do not creep through them
    return np.array(chosen, dtype=np.int64)
