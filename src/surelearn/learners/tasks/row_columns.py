"""Classes or labels that are problems of their own, learnt in threads: each has its own columns.

A column is read and written by its own problem alone, so the bits are those of one thread. Two
things concern all columns: a row that one of them refuses, and weights that a scale-free rule
rescales. Both are rare; where they come up one thread learns everything from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, rules
from surelearn._workers import Workers
from surelearn.learners.checks import random_numbers
from surelearn.learners.label_scoring import indicator
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.learners.tasks.rows import RowModel
from surelearn.read import Labels
from surelearn.training.protocol import Order, Report
from surelearn.weights import Diagonal, Tally, Targets

#: The core sums columns by fours; a thread has as many at least, and a fit so many rows times
#: columns, or starting threads takes longer than they save.
_FOUR, _LEAST = 4, 1 << 17
#: Rows that all threads learn before the mistakes in them are counted.
_SPAN = 1 << 14


class OneThread(Exception):
    """One thread must learn the rows."""


def columns_trained(
    trainable: RowTrainable,
    block: RowBlock,
    random_state: Any,
    train: Callable[[ColumnLearner], None],
) -> bool:
    """Whether `train` has trained the model in threads; if not, it is as it was.

    Threads that would take longer than one are not started. All pairs of classes are left to one
    thread: where the right class wins all its problems, it need not look at the others.
    """
    settings, start = trainable.settings, trainable.model
    assert start is not None
    weights, code = start.weights, start.code
    if not isinstance(weights, Diagonal) or isinstance(settings.rule, rules.Custom):
        return False
    apart = start.many_labels or (code is not None and code.kind != "ovo")
    few = weights.n_columns < 2 * _FOUR or block.size * weights.n_columns < _LEAST
    if few or not apart:
        return False
    random = random_numbers(random_state)
    before, learner = random.get_state(), ColumnLearner(settings, start)
    try:
        train(learner)
    except OneThread:
        random.set_state(before)  # the passes of one thread have the same orders
        return False
    trainable.model = learner.trained()
    return True


class Learnt(NamedTuple):
    """Rows that a thread has learnt: the scores of its columns before each, and which moved one."""

    scores: NDArray[np.float64]
    moved: NDArray[np.uint8]


class ColumnLearner:
    """Passes over rows of known classes by threads that have some columns each.

    Parameters
    ----------
    settings : RowSettings
    start : RowModel
        An untrained model of all classes. Its weights are written at the end, by `trained`.
    """

    def __init__(self, settings: RowSettings, start: RowModel) -> None:
        weights = _check.trained(start.weights, "learning")
        self.settings = settings
        self.model = replace(start, counts=start.counts.copy(), mistakes=[])
        groups = -(-weights.n_columns // _FOUR)
        threads = min(settings.method.threads, groups)
        ends = [weights.n_columns * i // threads // _FOUR * _FOUR for i in range(threads)]
        bounds = zip(ends, [*ends[1:], weights.n_columns], strict=True)
        self._spans = [(begin, end) for begin, end in bounds if begin < end]
        self._weights = [
            Diagonal(start.layout, end - begin, start.initial_variance)
            for begin, end in self._spans
        ]

    def learn(
        self,
        block: RowBlock,
        order: Order = None,
        *,
        number: int = 1,
        report: Report | None = None,
        starts_pass: bool = False,
    ) -> RowBlock:
        """Learn a block once; see `protocol.Learner`."""
        if starts_pass:
            self.model.mistakes.append(0)
        n, done = block.size if order is None else len(order), Tally(0, 0, 0)
        targets = [self._targets(block, order, span) for span in self._spans]
        with Workers(len(self._spans)) as pool:
            for first in range(0, n, _SPAN):
                span = (first, min(n, first + _SPAN))
                parts = zip(self._weights, targets, strict=True)
                work = [pool.submit(self._learn, *part, block, span) for part in parts]
                rows = np.arange(*span) if order is None else order[slice(*span)]
                learnt = self._count(block.labels.take(rows), [one.result() for one in work])
                if number == 1:
                    self.model.count_rows(block.labels.take(rows).codes)
                done = Tally(*map(sum, zip(done, learnt, strict=True)))
                if report is not None:
                    report(done)
        if any(weights.prior != self.model.initial_variance for weights in self._weights):
            raise OneThread  # rescaled, which all columns must be at the same row
        return block

    def trained(self) -> RowModel:
        """The model with what all threads have learnt."""
        model = self.model
        assert isinstance(model.weights, Diagonal)
        model.weights.put_columns(self._weights, threads=len(self._weights))
        return model

    def _targets(self, block: RowBlock, order: Order, span: tuple[int, int]) -> Targets:
        """What a thread learns in its columns: the sides of classes, or labels."""
        (begin, end), labels, code = span, block.labels, self.model.code
        if code is not None:
            matrix = np.ascontiguousarray(code.matrix[:, begin:end])
            known = np.ones(code.n_classes, np.uint8)
            return Targets(labels.codes, block.weight, order, known, code=matrix.ravel())
        own = (labels.codes >= begin) & (labels.codes < end)
        starts = np.concatenate([[0], np.cumsum(own)])[labels.starts]
        known = np.ones(end - begin, np.uint8)
        return Targets(labels.codes[own] - begin, block.weight, order, known, starts=starts)

    def _learn(
        self, weights: Diagonal, targets: Targets, block: RowBlock, span: tuple[int, int]
    ) -> Learnt:
        """Learn a span of rows into the columns of one thread."""
        n = span[1] - span[0]
        learnt = Learnt(np.empty(n * weights.n_columns), np.empty(n, np.uint8))
        refused = weights.learn(
            self.model.core_method(self.settings.method),
            block.rows,
            targets._replace(scores=learnt.scores, moved=learnt.moved),
            span=span,
            done=np.zeros(3, np.uint64),
        )
        if refused:
            raise OneThread  # rows after it must not be learnt, and others have learnt them
        return learnt

    def _count(self, labels: Labels, parts: list[Learnt]) -> Tally:
        """Count rows that all threads have learnt."""
        model, n = self.model, labels.n_rows
        scores = np.hstack([part.scores.reshape(n, -1) for part in parts])
        if model.code is None:
            wrong = ((scores > 0) != indicator(labels, model.classes)).any(axis=1)
            mistakes = int(np.count_nonzero(wrong))
        else:
            code, K = model.code.matrix.ravel(), model.code.n_classes
            mistakes = _core.mistakes_of_code(code, labels.codes, scores.ravel(), K)
        moved = np.logical_or.reduce([part.moved for part in parts])
        learnt = Tally(n, mistakes, int(np.count_nonzero(moved)))
        model.add(learnt)
        model.records_learnt += n
        return learnt
