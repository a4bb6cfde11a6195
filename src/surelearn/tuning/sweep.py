"""Train many models on the same rows at once, in threads; knows no scikit-learn.

Models of two classes share one table of weights, where the weights of one feature lie next to each
other: separate tables would make each model wait for memory. All other models have separate
weights. Neither sharing nor the number of threads changes a bit of any model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _core, constraints, rules
from surelearn.models.protocol import Refused
from surelearn.models.row_settings import RowSettings
from surelearn.models.rows import RowBatch, RowModel
from surelearn.rows import rows_of
from surelearn.weights import LANES, Diagonal, Layout

#: Fewer models are faster alone: a table costs the same however many of its columns are used.
_FEWEST = 3
#: Rows between two checks whether to go on; fewer with full covariance, where a row is slow.
_BLOCK = 1 << 14
_BLOCK_FULL = 1 << 6


class OrderedRows(NamedTuple):
    """The rows that all learn, in order, with labels as positions among the classes."""

    batch: RowBatch
    order: NDArray[np.int64] | None
    classes: NDArray[Any]

    @property
    def places(self) -> NDArray[np.int64]:
        return np.arange(len(self.classes))

    def spans(self, block: int) -> list[tuple[int, int]]:
        n = self.batch.size
        return [(begin, min(n, begin + block)) for begin in range(0, n, block)]


class Narrow(NamedTuple):
    """The rows without the features that never occur."""

    rows: _core.Rows
    features: NDArray[np.int64] | None  # original numbers of those kept; None: all are kept

    @classmethod
    def of(cls, data: OrderedRows) -> Narrow:
        """Drop unused features if they are more than half, as is common for hashed texts."""
        batch = data.batch
        if not batch.is_sparse:
            return cls(batch.rows, None)
        X = batch.X
        # The arrays of a CSR matrix may be longer than the rows in it.
        indices, data = X.indices[: X.indptr[-1]], X.data[: X.indptr[-1]]
        seen = np.zeros(X.shape[1], dtype=bool)
        seen[indices] = True
        features = np.flatnonzero(seen)
        if 2 * len(features) > len(seen):
            return cls(batch.rows, None)
        places = np.cumsum(seen, dtype=indices.dtype)
        places -= 1
        parts = (data, places[indices], X.indptr)
        return cls(rows_of(sparse.csr_array(parts, (X.shape[0], len(features)))), features)

    def layout(self, layout: Layout) -> Layout:
        if self.features is None:
            return layout
        return replace(layout, n_features=len(self.features))

    def widened(self, weights: Diagonal, layout: Layout) -> Diagonal:
        """The same weights over all features."""
        if self.features is None:
            return weights
        numbers = np.append(self.features, layout.n_features)  # the intercept comes last
        state = weights.state()
        wide = {"layout": asdict(layout), "features": numbers[state["features"]]}
        return Diagonal.from_state(state | wide)


@dataclass(eq=False)
class Candidate:
    """One candidate: its settings, its untrained model, and its result.

    `missed` tells for each row whether the prediction before learning it was wrong. `finish` gives
    the model after the pass; it is None once the weights have been released.
    """

    settings: RowSettings
    model: RowModel
    missed: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    mistakes: int = 0
    updates: int = 0
    failure: str = ""
    finish: Callable[[], RowModel] | None = None

    def judge(self, missed: NDArray[np.uint8], updates: int) -> None:
        self.missed, self.mistakes, self.updates = missed, int(missed.sum()), updates


def sweep(
    entries: Sequence[Candidate], data: OrderedRows, threads: int, report: Callable[[int], None]
) -> None:
    """Train all for one pass; `report` gets the number done. Only the best keeps its `finish`."""
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
        self._batch = data.batch
        self._classes = data.classes
        # Candidates already run in parallel: one thread each is enough.
        self._method = entry.settings.method._replace(threads=1)
        model = entry.model.with_classes(data.classes)
        self._model = replace(model, mistakes=[0], classes=data.places)
        self._missed = np.zeros(self._batch.size, np.uint8)
        self._targets = self._model.targets(
            self._method, self._batch, order=data.order, missed=self._missed
        )
        self._failure = ""
        self.block = _BLOCK_FULL if entry.settings.covariance == "full" else _BLOCK

    def learn(self, span: tuple[int, int]) -> bool:
        """Learn a span of rows; False if the candidate has failed."""
        try:
            self._model.learn_span(self._method, self._batch, self._targets, span)
        except Refused as error:
            self._failure = str(error)
        return not self._failure

    def tell(self, entries: Sequence[Candidate]) -> list[Candidate]:
        """Store the result in the entry; returns entries to train again alone, here none."""
        for entry in entries:
            entry.judge(self._missed, self._model.updates)
            entry.failure, entry.finish = self._failure, self._finish
        return []

    def _finish(self) -> RowModel:
        return replace(self._model, classes=self._classes)


class _Together:
    """Candidates for two classes in one table, one column each."""

    def __init__(self, entries: Sequence[Candidate], data: OrderedRows, narrow: Narrow) -> None:
        first = entries[0].model
        self.block = _BLOCK
        self._narrow = narrow
        self._classes = data.classes
        self._models = [entry.model for entry in entries]
        self._runners = [entry.model.core_method(entry.settings.method) for entry in entries]
        self._weights = Diagonal.lanes(narrow.layout(first.layout), _table_of(first)[-1])
        self._missed = np.zeros((len(entries), data.batch.size), np.uint8)
        self._tally = np.zeros((len(entries), 3), np.uint64)
        blank = replace(first, classes=data.places)
        self._targets = blank.targets(
            entries[0].settings.method, data.batch, order=data.order, missed=self._missed.ravel()
        )

    def learn(self, span: tuple[int, int]) -> bool:
        tally = self._tally.ravel()
        self._weights.race(self._runners, self._narrow.rows, self._targets, span=span, tally=tally)
        return not self._tally[:, 2].all()

    def tell(self, entries: Sequence[Candidate]) -> list[Candidate]:
        """Store the results; returns entries that met a row which this fast loop cannot learn.

        Trained again alone, such an entry either learns the row or gives the reason why not.
        """
        for b, entry in enumerate(entries):
            entry.judge(self._missed[b], int(self._tally[b, 1]))
            entry.finish = partial(self._finish, b)
        return [entry for entry, lane in zip(entries, self._tally, strict=True) if lane[2]]

    def _finish(self, b: int) -> RowModel:
        model = self._models[b]
        mistakes, updates, _ = self._tally[b].tolist()
        own = self._weights.lane(b, self._narrow.layout(model.layout), model.initial_variance)
        return replace(
            model,
            classes=self._classes,
            weights=self._narrow.widened(own, model.layout),
            counts=np.bincount(self._targets.y, minlength=2).astype(np.int64),
            mistakes=[mistakes],
            updates=updates,
        )


class _Sweep:
    """Threads that take one group after the other.

    A thread allocates the weights of its group and releases those that can no longer win, so that
    few are in memory at a time.
    """

    def __init__(
        self, entries: Sequence[Candidate], data: OrderedRows, report: Callable[[int], None]
    ) -> None:
        self._entries = entries
        self._data = data
        self._report = report
        self._waiting = _groups(entries, data)[::-1]
        self._narrow = Narrow.of(data) if len(self._waiting[-1]) > 1 else None
        self._lock = Lock()
        self._broken = False
        self._ended: list[int] = []

    def run(self, threads: int) -> None:
        threads = min(threads, len(self._waiting))
        if threads <= 1:
            self._work()
            return
        with ThreadPoolExecutor(threads) as pool:
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
                heat = self._heat(group)
                self._through(heat)
            except BaseException:
                self._broken = True
                raise
            with self._lock:
                alone = heat.tell(group)
                self._waiting += [[entry] for entry in alone]
                self._settle([entry for entry in group if entry not in alone])

    def _heat(self, group: Sequence[Candidate]) -> _Alone | _Together:
        if len(group) == 1 or self._narrow is None:
            return _Alone(group[0], self._data)
        return _Together(group, self._data, self._narrow)

    def _through(self, heat: _Alone | _Together) -> None:
        for span in self._data.spans(heat.block):
            if self._broken or not heat.learn(span):
                return

    def _settle(self, group: Sequence[Candidate]) -> None:
        """Mark a group as done; all but the best so far release their weights."""
        places = {id(entry): i for i, entry in enumerate(self._entries)}
        self._ended += [places[id(entry)] for entry in group]
        for i in ranked(self._entries, self._ended)[1:]:
            self._entries[i].finish = None
        self._report(len(self._ended))


def ranked(entries: Sequence[Candidate], among: Iterable[int]) -> list[int]:
    """Positions of entries, best first: failed ones last, ties in their order."""
    key = {i: (bool(entries[i].failure), entries[i].mistakes, i) for i in among}
    return sorted(key, key=key.__getitem__)
