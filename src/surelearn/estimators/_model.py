"""What a classifier has learnt: classes and the weights over them; knows no scikit-learn.

Whoever changes the classes makes a new `Model`, so that a reader in another thread always sees
classes and weights that belong together. The weights themselves are changed in place by the core,
under its own lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.weights import Diagonal, Layout, Tally, Targets

#: Rows between two reports of progress.
_REPORT = 1 << 20


class Batch(NamedTuple):
    """Rows with their labels, checked, none of weight zero."""

    rows: _core.Rows
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


class Refused(ValueError):
    """A row whose update would have left no usable model; the rows before it are learnt."""

    def __init__(self, row: int, projection: str) -> None:
        super().__init__(_check.collapse(row, projection))


@dataclass
class Model:
    """Classes, weights and the counts of what happened so far.

    Parameters
    ----------
    layout : Layout
    initial_variance : float
    projection : {"precision", "covariance"}
    classes : ndarray
        Known classes, sorted.
    weights : Diagonal or None
        None while fewer than two classes are known: there is nothing to tell apart.
    counts : ndarray of int
        Rows learnt of each class.
    mistakes : list of int
        Mistakes made before each update, one entry a pass.
    updates : int
    """

    layout: Layout
    initial_variance: float
    projection: str
    classes: NDArray[Any]
    weights: Diagonal | None = None
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each label among the classes."""
        return {label: k for k, label in enumerate(self.classes.tolist())}

    @cached_property
    def _all_known(self) -> NDArray[np.uint8]:
        return np.ones(len(self.classes), np.uint8)

    def with_classes(self, classes: NDArray[Any]) -> Model:
        """The same model with other known classes (sorted); new ones start at their prior."""
        if len(classes) == len(self.classes) and np.array_equal(classes, self.classes):
            return self
        columns = [self.places.get(label, -1) for label in classes.tolist()]
        counts = np.array([0 if k < 0 else self.counts[k] for k in columns], dtype=np.int64)
        weights = self._weights_for(columns)
        return replace(self, classes=classes, weights=weights, counts=counts)

    def _weights_for(self, columns: list[int]) -> Diagonal | None:
        if len(columns) < 2:
            return None
        if self.weights is None:
            n_columns = 1 if len(columns) == 2 else len(columns)
            return Diagonal(self.layout, n_columns, self.initial_variance)
        weights = self.weights.split() if len(self.classes) == 2 else self.weights
        return weights.with_columns(columns)

    def learn(
        self,
        rule: _core.Rule,
        batch: Batch,
        *,
        order: NDArray[np.int64] | None = None,
        known: NDArray[np.uint8] | None = None,
        span: tuple[int, int] | None = None,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn the rows of `span` in `order`; raises `Refused` after the rows before a bad one."""
        begin, end = span or (0, len(batch.y))
        if begin == end:
            return
        places = np.searchsorted(self.classes, batch.y)
        # A label past the last class belongs to rows beyond the span, which are not read.
        codes = np.minimum(places, len(self.classes) - 1).astype(np.int32)
        done = Tally(end, 0, 0, False)
        if self.weights is not None:
            targets = self._targets(codes, batch.weight, order, known)
            done = self._learn_reporting(rule, batch.rows, targets, (begin, end), report=report)
        learnt = codes[begin : done.end] if order is None else codes[order[begin : done.end]]
        self.counts += np.bincount(learnt, minlength=len(self.classes))
        if done.refused:
            raise Refused(done.end if order is None else int(order[done.end]), self.projection)

    def _learn_reporting(
        self,
        rule: _core.Rule,
        rows: _core.Rows,
        targets: Targets,
        span: tuple[int, int],
        *,
        report: Callable[[Tally], None] | None,
    ) -> Tally:
        begin, end = span
        done = Tally(begin, 0, 0, False)
        while done.end < end and not done.refused:
            stop = end if report is None else min(end, done.end + _REPORT)
            part = self._learn_span(rule, rows, targets, (done.end, stop))
            done = Tally(
                part.end, done.mistakes + part.mistakes, done.updates + part.updates, part.refused
            )
            if report is not None:
                report(done)
        return done

    def learn_row(self, rule: _core.Rule, row: _core.Rows, place: int, weight: float) -> None:
        """Learn one row of a known class: the shortest way to the core."""
        weights = _check.trained(self.weights, "learning")
        covariance = self.projection == "covariance"
        tally = weights.learn_row(rule, row, place, covariance=covariance, weight=weight)
        if tally.refused:
            raise Refused(0, self.projection)
        self._count(tally)
        self.counts[place] += 1

    def _targets(
        self,
        codes: NDArray[np.int32],
        weight: NDArray[np.float64] | None,
        order: NDArray[np.int64] | None = None,
        known: NDArray[np.uint8] | None = None,
    ) -> Targets:
        known = self._all_known if known is None else known
        return Targets(self.projection == "covariance", codes, weight, order, known)

    def _learn_span(
        self, rule: _core.Rule, rows: _core.Rows, targets: Targets, span: tuple[int, int]
    ) -> Tally:
        tally = _check.trained(self.weights, "learning").learn(rule, rows, targets, span)
        self._count(tally)
        return tally

    def _count(self, tally: Tally) -> None:
        if not self.mistakes:
            self.mistakes.append(0)
        self.mistakes[-1] += tally.mistakes
        self.updates += tally.updates

    def absorb(self, rule: _core.Rule, batch: Batch, publish: Callable[[Model], None]) -> None:
        """Learn a batch in which classes may appear that were not known before.

        `publish` is handed the model whenever a stretch of rows is learnt.
        """
        model = self
        for stage in _stages(self.classes, batch.y):
            model = model.with_classes(stage.classes)
            known = np.isin(stage.classes, stage.known).astype(np.uint8)
            try:
                model.learn(rule, batch, known=known, span=stage.span)
            except Refused:
                publish(model.with_classes(stage.classes[known.astype(bool)]))
                raise
            publish(model)


class _Stage(NamedTuple):
    """A stretch of rows during which the weights keep their form."""

    span: tuple[int, int]
    known: NDArray[Any]  # at its first row
    classes: NDArray[Any]  # at its last


def _stages(known: NDArray[Any], y: NDArray[Any]) -> Iterator[_Stage]:
    """One class teaches nothing, two are one vector, three or more have a column each.

    So the form changes where the second and the third class appear. Later ones are given their
    columns at once, and the core lets each be a rival from the row where it is first seen.
    """
    labels, firsts = np.unique(y, return_index=True)
    new = ~np.isin(labels, known)
    order = np.argsort(firsts[new])
    arrivals = list(zip(firsts[new][order].tolist(), labels[new][order], strict=True))
    begin = 0
    while len(known) < 3 and arrivals:
        position, label = arrivals.pop(0)
        yield _Stage((begin, position), known, known)
        known = joined(known, labels[labels == label])
        begin = position
    rest = labels[np.isin(labels, [label for _, label in arrivals])]
    yield _Stage((begin, len(y)), known, joined(known, rest))


def joined(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The labels of both, sorted; an empty array has no say in their type."""
    if len(a) == 0 or len(b) == 0:
        return np.unique(b if len(a) == 0 else a)
    return np.union1d(a, b)
