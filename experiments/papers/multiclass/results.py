"""What learners found on folds of tasks, compared on the folds they share; must not know data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.papers.entry import Claim, Row, Rows
from experiments.papers.statistics import Mean, difference, mcnemar, mean

if TYPE_CHECKING:
    from surelearn.evaluation import Comparison


def accuracy(row: Row) -> float:
    """In percent, after the passes that were chosen."""
    return float(row["accuracy"])


def first_pass(row: Row) -> float:
    """In percent, after one pass."""
    return float(row["curve"][0])


def packed(right: NDArray[np.bool_]) -> str:
    """Which rows are right, as text."""
    return np.packbits(right).tobytes().hex()


def unpacked(row: Row) -> NDArray[np.bool_]:
    """Which rows of a fold are right."""
    bits = np.frombuffer(bytes.fromhex(row["right"]), dtype=np.uint8)
    return np.unpackbits(bits, count=row["n"]).astype(bool)


class Results:
    """Rows of `learners.found`, by task and learner."""

    def __init__(self, rows: Rows) -> None:
        self._rows: dict[tuple[str, str], dict[int, Row]] = {}
        for row in rows:
            self._rows.setdefault((row["task"], row["learner"]), {})[row["fold"]] = row
        self.tasks = list(dict.fromkeys(task for task, _ in self._rows))

    def folds(self, task: str, learner: str) -> list[Row]:
        """The rows of a learner."""
        return list(self._rows[task, learner].values())

    def mean(self, task: str, learner: str) -> Mean:
        """Accuracy over folds."""
        return mean([accuracy(row) for row in self.folds(task, learner)])

    def curve(self, task: str, learner: str) -> NDArray[Any]:
        """Accuracies of shape (folds, passes)."""
        return np.array([row["curve"] for row in self.folds(task, learner)])

    def passes(self, learner: str) -> list[int]:
        """Passes that were chosen, one number a task."""
        return [self.folds(task, learner)[0]["passes"] for task in self.tasks]

    def _shared(self, task: str, first: str, second: str) -> list[tuple[Row, Row]]:
        ours, theirs = self._rows[task, first], self._rows[task, second]
        return [(ours[fold], theirs[fold]) for fold in ours if fold in theirs]

    def lead(
        self, task: str, first: str, second: str, of: Callable[[Row], float] = accuracy
    ) -> float:
        """By how much the first is better, on the folds that both have."""
        shared = self._shared(task, first, second)
        return difference([of(one) for one, _ in shared], [of(two) for _, two in shared]).value

    def leads(
        self, first: str, second: str, of: Callable[[Row], float] = accuracy
    ) -> NDArray[np.float64]:
        """By how much the first is better, one number a task."""
        return np.array([self.lead(task, first, second, of) for task in self.tasks])

    def compared(self, task: str, first: str, second: str) -> Comparison:
        """McNemar's test on the rows that both have judged."""
        shared = self._shared(task, first, second)
        ours, theirs = (np.concatenate([unpacked(pair[at]) for pair in shared]) for at in (0, 1))
        return mcnemar(ours, theirs, (first, second))


# ------------------------------------------------------------------------ claims over sets


def better(text: str, theirs: ArrayLike, ours: ArrayLike, *, note: str = "") -> Claim:
    """The claim that one is better than another on average over sets; leads in points."""
    lead = mean(ours)
    return Claim(
        text=text, theirs=_leads(theirs), ours=_leads(ours), lead=lead.value, error=lead.error,
        note=note,
    )  # fmt: skip


def _leads(values: ArrayLike) -> str:
    found = np.asarray(values)
    return f"{found.mean():+.2f} points, {np.sum(found > 0)} of {len(found)} sets"


def fewer(text: str, theirs: tuple[float, float], ours: tuple[list[int], list[int]]) -> Claim:
    """The claim that the first needs fewer passes than the second, on average over sets."""
    lead = difference(ours[1], ours[0])
    return Claim(
        text=text,
        theirs=f"{theirs[0]:g} against {theirs[1]:g}",
        ours=f"{np.mean(ours[0]):.2f} against {np.mean(ours[1]):.2f}",
        lead=lead.value,
        error=lead.error,
    )
