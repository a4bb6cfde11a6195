"""Train many models on the same rows at once, in threads; knows no scikit-learn.

Models of two classes share one table of weights, where the weights of one feature lie next to each
other: separate tables would make each model wait for memory. All other models have separate
weights. Neither sharing nor the number of threads changes a bit of any model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _core, constraints, rules
from surelearn._workers import Workers
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.rows import RowModel
from surelearn.rows import rows_of
from surelearn.training.protocol import Refused
from surelearn.weights import LANES, Diagonal, Layout

#: Fewer models are faster alone: a table costs the same however many of its columns are used.
_FEWEST = 3
#: Rows between two checks whether to go on; fewer with full covariance, where a row is slow.
_BLOCK = 1 << 14
_BLOCK_FULL = 1 << 6


class OrderedRows(NamedTuple):
    """The rows that all learn, coded by their classes, in order."""

    block: RowBlock
    order: NDArray[np.int64] | None

    @property
    def classes(self) -> NDArray[Any]:
        return self.block.labels.values

    def spans(self, block: int) -> list[tuple[int, int]]:
        n = self.block.size
        return [(begin, min(n, begin + block)) for begin in range(0, n, block)]


class Narrow(NamedTuple):
    """The rows without the features that never occur."""

    rows: _core.Rows
    n_features: int

    @classmethod
    def of(cls, data: OrderedRows) -> Narrow:
        """Drop unused features if they are more than half, as is common for hashed texts."""
        block = data.block
        X = block.X
        if not block.is_sparse:
            return cls(block.rows, X.shape[1])
        # The arrays of a CSR matrix may be longer than the rows in it.
        indices, values = X.indices[: X.indptr[-1]], X.data[: X.indptr[-1]]
        seen = np.zeros(X.shape[1], dtype=bool)
        seen[indices] = True
        n_features = int(np.count_nonzero(seen))
        if 2 * n_features > len(seen):
            return cls(block.rows, len(seen))
        places = np.cumsum(seen, dtype=indices.dtype)
        places -= 1
        parts = (values, places[indices], X.indptr)
        return cls(rows_of(sparse.csr_array(parts, (X.shape[0], n_features))), n_features)

    def layout(self, layout: Layout) -> Layout:
        return replace(layout, n_features=self.n_features)


@dataclass(eq=False)
class Candidate:
    """One candidate: its settings, its untrained model, and its result.

    `mistakes` counts the rows whose prediction was wrong before they were learnt.
    """

    settings: RowSettings
    model: RowModel
    mistakes: int = 0
    updates: int = 0
    failure: str = ""


def sweep(
    entries: Sequence[Candidate], data: OrderedRows, threads: int, report: Callable[[int], None]
) -> None:
    """Train all for one pass; `report` gets the number done."""
    _Sweep(entries, data, report).run(threads)


def _groups(entries: Iterable[Candidate], data: OrderedRows) -> list[list[Candidate]]:
    """Candidates that share a table, largest group first: it takes longest."""
    groups: dict[Any, list[Candidate]] = {}
    for entry in entries:
        shares = len(data.classes) == 2 and _may_share(entry.settings)
        groups.setdefault(_table_of(entry.model) if shares else id(entry), []).append(entry)
    cut = []
    for group in groups.values():
        parts = -(-len(group) // LANES) if len(group) >= _FEWEST else len(group)
        cut += [group[part::parts] for part in range(parts)]
    return sorted(cut, key=len, reverse=True)


def _table_of(model: RowModel) -> tuple[Any, ...]:
    """What candidates of one table must have in common: storage and initial variance."""
    layout = model.layout
    prior = model.initial_variance if layout.second_order else 1.0
    return layout.dtype, layout.intercept, layout.averaged, prior


def _may_share(settings: RowSettings) -> bool:
    """Whether a table can hold it: one step per row, a built-in rule, diagonal covariance."""
    one_step = not isinstance(settings.constraints, constraints.Exact)
    built_in = not isinstance(settings.rule, rules.Custom)
    return settings.covariance == "diagonal" and one_step and built_in


class _Alone:
    """One candidate with separate weights."""

    def __init__(self, entry: Candidate, data: OrderedRows) -> None:
        self._block = data.block
        # Candidates already run in parallel: one thread each is enough.
        self._method = entry.settings.method._replace(threads=1)
        model = entry.model.with_classes(data.classes)
        self._model = replace(model, mistakes=[0])
        self._missed = np.zeros(self._block.size, np.uint8)
        self._targets = self._model.targets(
            self._method, self._block, order=data.order, missed=self._missed
        )
        self._failure = ""
        self.block = _BLOCK_FULL if entry.settings.covariance == "full" else _BLOCK

    def learn(self, span: tuple[int, int]) -> bool:
        """Learn a span of rows; False if the candidate has failed."""
        try:
            self._model.learn_span(self._method, self._block, self._targets, span)
        except Refused as error:
            self._failure = str(error)
        return not self._failure

    def tell(self, entries: Sequence[Candidate]) -> list[Candidate]:
        """Store the result in the entry; returns entries to train again alone, here none."""
        for entry in entries:
            entry.mistakes, entry.updates = int(self._missed.sum()), self._model.updates
            entry.failure = self._failure
        return []


class _Together:
    """Candidates for two classes in one table, one column each."""

    def __init__(self, entries: Sequence[Candidate], data: OrderedRows, narrow: Narrow) -> None:
        first = entries[0].model
        self.block = _BLOCK
        self._rows = narrow.rows
        self._runners = [entry.model.core_method(entry.settings.method) for entry in entries]
        self._weights = Diagonal.lanes(narrow.layout(first.layout), _table_of(first)[-1])
        self._missed = np.zeros((len(entries), data.block.size), np.uint8)
        self._tally = np.zeros((len(entries), 3), np.uint64)
        blank = replace(first, classes=data.classes)
        self._targets = blank.targets(
            entries[0].settings.method, data.block, order=data.order, missed=self._missed.ravel()
        )

    def learn(self, span: tuple[int, int]) -> bool:
        tally = self._tally.ravel()
        self._weights.sweep(self._runners, self._rows, self._targets, span=span, tally=tally)
        return not self._tally[:, 2].all()

    def tell(self, entries: Sequence[Candidate]) -> list[Candidate]:
        """Store the results; returns entries that met a row which this fast loop cannot learn.

        Trained again alone, such an entry either learns the row or gives the reason why not.
        """
        for b, entry in enumerate(entries):
            entry.mistakes, entry.updates = int(self._missed[b].sum()), int(self._tally[b, 1])
        return [entry for entry, column in zip(entries, self._tally, strict=True) if column[2]]


class _Sweep:
    """Threads that take one group after the other.

    A thread allocates the weights of its group and releases them at the end, so that few are in
    memory at a time.
    """

    def __init__(
        self, entries: Sequence[Candidate], data: OrderedRows, report: Callable[[int], None]
    ) -> None:
        self._data = data
        self._report = report
        self._waiting = _groups(entries, data)[::-1]
        self._narrow = Narrow.of(data) if len(self._waiting[-1]) > 1 else None
        self._lock = Lock()
        self._broken = False
        self._ended = 0

    def run(self, threads: int) -> None:
        threads = min(threads, len(self._waiting))
        if threads <= 1:
            self._work()
            return
        with Workers(threads) as pool:
            workers = [pool.submit(self._work) for _ in range(threads)]
            try:
                for worker in workers:
                    worker.result()
            except BaseException:  # Ctrl-C, or an error in a custom rule: stop the other threads
                self._broken = True
                raise

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._broken or not self._waiting:
                    return
                group = self._waiting.pop()
            try:
                heat: _Alone | _Together = (
                    _Alone(group[0], self._data)
                    if len(group) == 1 or self._narrow is None
                    else _Together(group, self._data, self._narrow)
                )
                for span in self._data.spans(heat.block):
                    if self._broken or not heat.learn(span):
                        break
            except BaseException:
                self._broken = True
                raise
            with self._lock:
                alone = heat.tell(group)
                self._waiting += [[entry] for entry in alone]
                self._ended += len(group) - len(alone)
                self._report(self._ended)


def ranked(entries: Sequence[Candidate]) -> list[int]:
    """Positions of entries, best first: failed ones last, ties in their order."""
    key = [(bool(entry.failure), entry.mistakes) for entry in entries]
    return sorted(range(len(entries)), key=key.__getitem__)
