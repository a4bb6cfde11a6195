"""The sets of this experiment, each cut once into a part to choose on and a part to report on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments import sets
from experiments.defaults.grid import PASSES

REPORTED = 0.3  # of the texts of every set, never looked at while choosing
CALIBRATED = 0.15  # of what is learnt from when reporting
LEARNT, LEARNT_LAST = 6000, 10_000  # rows at most, in a fold of the choice and when reporting
JUDGED = 4000  # rows at most, also to calibrate with
SMALL = 4000  # sets of fewer rows are chosen on three folds, others on one of the three
ORDERS = 3  # of the rows of small sets when reporting, and cuts into folds of the dense sets
NONE = np.zeros(0, dtype=np.int64)

#: Sets of other scale than the rest, to see which settings bear it.
COUNTED = {"20 Newsgroups, counts": "20 Newsgroups", "Amazon books, counts": "Amazon books"}
PIXELS = {"digits, pixels": "digits"}
SPARSE = tuple(sets.TEXTS)
DENSE = tuple(sets.DENSE)
SCALED = (*COUNTED, *PIXELS)
EVERY = (*SPARSE, *DENSE, *SCALED)

#: Sets of the same reviews, or of the same kind: not independent of each other.
FAMILIES = {
    **dict.fromkeys(("Amazon books", "Amazon dvd"), "counted reviews"),
    **dict.fromkeys(("Amazon electronics", "Amazon kitchen"), "counted reviews"),
    **dict.fromkeys(("Amazon domains", "Amazon 7", "Amazon 3"), "domains"),
    **dict.fromkeys(("Amazon sentiment", "Amazon reviews"), "sentiment of reviews"),
}


def _some(places: np.ndarray) -> np.ndarray:
    return np.random.default_rng(0).permutation(places)[:JUDGED]


def is_dense(name: str) -> bool:
    return name in DENSE or name in PIXELS


class Task(NamedTuple):
    """Ten passes over rows to learn, each in an order of its own, and rows to judge by."""

    passes: list[tuple[Any, np.ndarray]]
    calibrate: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]
    places: np.ndarray  # of the judged rows in the set
    classes: np.ndarray


class Part:
    """A set with its labels as numbers, and the places to choose on and to report on."""

    def __init__(self, name: str) -> None:
        source = {**COUNTED, **PIXELS}.get(name, name)
        self.name = name
        self.X, y, self.groups = sets.rows(source, norm=None if name in COUNTED else "l2")
        self.y = np.unique(y, return_inverse=True)[1]
        every = np.arange(len(self.y))
        self.choose, self.report = sets.cut(every, self.groups, REPORTED)

    def choosing(self) -> Iterator[Task]:
        """Folds of the part to choose on."""
        few = len(self.y) < SMALL
        for seed in range(ORDERS if is_dense(self.name) else 1):
            found = sets.folds(self.groups[self.choose], 3, seed)
            for number, (learn, judge) in enumerate(found):
                if few or number == 0:
                    places = self.choose[learn][:LEARNT], _some(self.choose[judge])
                    yield self._task(*places, NONE, seed=10 * seed + number)

    def reporting(self) -> Iterator[Task]:
        """Learn on the part that was chosen on, judge on the other; small sets in three orders."""
        learn, calibrate = sets.cut(self.choose, self.groups[self.choose], CALIBRATED)
        for seed in range(ORDERS if len(self.y) < SMALL else 1):
            some = np.random.default_rng(seed).permutation(learn)[:LEARNT_LAST]
            yield self._task(some, _some(self.report), _some(calibrate), seed=seed)

    def _task(
        self, learn: np.ndarray, judge: np.ndarray, calibrate: np.ndarray, *, seed: int
    ) -> Task:
        random = np.random.default_rng(seed)
        X = self._scaled(learn, calibrate, judge)
        orders = [random.permutation(len(learn)) for _ in range(max(PASSES))]
        passes = [(X[0][order], self.y[learn][order]) for order in orders]
        others = [(X[1], self.y[calibrate]), (X[2], self.y[judge])]
        return Task(passes, *others, judge, np.arange(self.y.max() + 1))

    def _scaled(self, *places: np.ndarray) -> list[Any]:
        """Rows at these places: dense ones standardised, sparse ones without unused columns."""
        found = [self.X[rows] for rows in places]
        if self.name in DENSE:
            known = [X for X in found if len(X)]
            scaled = iter(sets.standardised(*known))
            return [next(scaled) if len(X) else X for X in found]
        if not sparse.issparse(self.X):
            return found
        used = np.unique(np.concatenate([X.indices for X in found]))
        return [X[:, used] for X in found]
