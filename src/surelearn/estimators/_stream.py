"""Learning from a source that need not fit in memory; must not know formats.

Blocks are read and turned into rows by threads ahead of the learning, which goes through them in
order. Only the estimator and its `StreamPosition` are state: threads and cache can be lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.estimators._ahead import ahead
from surelearn.estimators._base import as_labels
from surelearn.estimators._blocks import Features, Learner, Prepared
from surelearn.estimators._cache import Cache, Kept
from surelearn.estimators._checkpoint import Checkpoint
from surelearn.estimators._model import Refused
from surelearn.estimators._plan import Plan, given_weight, times
from surelearn.estimators._position import StreamPosition
from surelearn.estimators._stream_shards import StreamShards
from surelearn.read import BadInput, Labels, Place, Source

if TYPE_CHECKING:
    from surelearn.estimators._classifier import SureClassifier


class StreamProgress(NamedTuple):
    """How far a pass over a source has come.

    Parameters
    ----------
    number, passes : int
        The pass, from 1, and how many there will be.
    rows, mistakes : int
        Of this pass so far.
    n_bytes : int
        Of the source that this pass has gone through, as they lie on the disk.
    total : int or None
        Bytes of the source; None where nobody knows.
    n_bad : int
        Records left out because they could not be read.
    """

    number: int
    passes: int
    rows: int
    mistakes: int
    n_bytes: int
    total: int | None
    n_bad: int


class _About(NamedTuple):
    """What a cache need not write of a block."""

    n_features: int
    weighted: bool
    end: Place
    n_bytes: int


@dataclass(frozen=True)
class Options:
    """How to go through a source; see `SureClassifier.fit_stream`."""

    classes: Any = None
    resume: bool = False
    cache_bytes: int = 2**34
    progress: Callable[[StreamProgress], None] | None = None


def train(training: Training, checkpoint: Checkpoint) -> None:
    """All passes over a source, or what is left of them; the model is written in the end."""
    try:
        with checkpoint.watching():
            for rows in training.steps(checkpoint.waiting):
                checkpoint.step(rows)
        training.check_end()
    except BaseException:
        if training.is_whole:  # also where a record cannot be read: what is learnt is kept
            checkpoint.write()
        raise
    finally:
        training.close()
    checkpoint.write()


class Training:
    """An estimator on its way through a source.

    Parameters
    ----------
    estimator : SureClassifier
    source : Source
    plan : Plan
    options : Options
    """

    def __init__(
        self, estimator: SureClassifier, source: Source, plan: Plan, options: Options
    ) -> None:
        self._estimator = estimator
        self._source = source
        self._plan = plan
        self._options = options
        self._is_new = estimator._fresh or not options.resume
        if not self._is_new:
            estimator._check_settings()
        self._learner, self._shards = self._learners()
        self._before: StreamPosition | None = None  # where training was when it goes on
        self.position = self._begin()
        self._labels: dict[Any, int] = {}  # of rows in the cache, in the order they are met
        self._bytes = 0
        self._total = source.n_bytes
        self.cache = Cache(options.cache_bytes if plan.passes > 1 else 0)
        self.is_whole = False  # whether the model is as it was between two blocks

    def _learners(self) -> tuple[Learner, StreamShards | None]:
        """Who learns: one learner, or shards that are like it."""
        estimator, plan = self._estimator, self._plan
        sharded = plan.n_shards > 1
        if self._is_new:
            reader = estimator._stream_shell()
        else:
            reader = estimator._shell() if sharded else estimator
        one = Learner(estimator, reader, plan, self._options.classes, self._source.name)
        if not sharded:
            return one, None
        return one, StreamShards(estimator, one, plan.n_shards, is_new=self._is_new)

    def close(self) -> None:
        """Let go of threads and files."""
        self.cache.close()
        if self._shards is not None:
            self._shards.close()

    def _begin(self) -> StreamPosition:
        """Where to begin, or to go on."""
        random = check_random_state(self._estimator.random_state)
        seed = int(random.randint(2**31 - 1))
        names = tuple(self._source.names)
        anew = StreamPosition(names, seed=seed, passes=self._plan.passes)
        if self._is_new:
            return anew
        before: StreamPosition | None = self._estimator.__dict__.get("stream_")
        if before is None or not before.goes_on_in(self._source, self._plan.passes):
            if before is not None:
                before.check_over(self._source)
            self._learner.opens = True
            return anew
        before.check_in(self._source)
        now = before.going_on(self._source, self._plan.passes)
        self._learner.opens = now.number < before.number
        self._before = before
        return now

    # ------------------------------------------------------------------ passes

    def steps(self, waiting: Callable[[], AbstractContextManager[None]]) -> Iterator[int]:
        """Learn block after block; gives the rows learnt so far wherever the model can be written:
        after each block, with shards where they are merged.

        The next block is waited for within the context of `waiting`.
        """
        rows = 0
        while True:
            feed = self._feed()
            while True:
                with waiting():
                    prepared = next(feed, None)
                if prepared is None:
                    break
                self._step(prepared)
                rows += len(prepared.labels.codes)
                if self._shards is None:
                    yield rows
            goes_on = self._end_pass()
            if self._shards is not None and self._is_shown:
                yield rows
            if not goes_on:
                return
            self._next_pass()

    def _feed(self) -> Iterator[Prepared]:
        """The blocks of this pass that are left."""
        if self.cache.is_whole:
            return ahead(self.cache.blocks(), self._cached, self._threads)
        return self._read()

    def _read(self) -> Iterator[Prepared]:
        blocks = iter(self._source.blocks(self.position.place))
        if self._learner.reader is not self._estimator:
            # What the first rows are decides how the others are read.
            for block in blocks:
                prepared = self._prepare(block)
                yield prepared
                if len(prepared.labels.codes):
                    break
        yield from ahead(blocks, self._prepare, self._threads)

    @property
    def _threads(self) -> int:
        return self._plan.how.threads

    def _end_pass(self) -> bool:
        """Whether there is another one."""
        if self._shards is not None:
            self._shards.end_pass()
        elif not self._estimator._fresh and self.position.rows:
            self._learner.open_pass(self._estimator._model)
        self.position = replace(self.position, ended=True)
        if self.position.rows == 0 and self._before is not None:
            self.position = replace(self._before, passes=self._plan.passes)  # nothing is new
        self.cache.is_whole = self.cache.n_blocks == self.position.block > 0
        goes_on = self._has_more_passes()
        if self._shards is None:
            self._show_position()
        elif not goes_on or self.position.number % (self._plan.merge_every or np.inf) == 0:
            self._merge(self._shards)
        return goes_on

    def _merge(self, shards: StreamShards) -> None:
        self._name_columns()
        if shards.merge(self.position):
            self.is_whole = True
        elif not self._estimator._fresh:  # nothing was left to learn of this pass
            self._estimator.stream_ = self.position

    def _has_more_passes(self) -> bool:
        if self.position.number >= self._plan.passes or self.position.rows == 0:
            return False
        if self._source.can_restart or self.cache.is_whole:
            return True
        warnings.warn(
            f"passes must be 1 for {self._source.name}, which cannot be read again and did not fit "
            f"in cache_bytes={self._options.cache_bytes}: one pass was made.",
            stacklevel=2,
        )
        return False

    def _next_pass(self) -> None:
        self.position = self.position.next_pass()
        if self._shards is None:
            self._learner.opens = True
        else:
            self._shards.next_pass()
        self._bytes = 0

    # ------------------------------------------------------------------ blocks

    def _prepare(self, block: Any) -> Prepared:
        """A block as rows; in any thread."""
        batch = block.parse()
        if batch.labels is None:
            raise BadInput(f"{self._source.name} must have a column of labels, got none.")
        X, labels, weight = batch.X, batch.labels, batch.weight
        as_labels(labels.values)
        weight = self._given_weight(labels, weight)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            X = X[kept] if hasattr(X, "shape") else X.take(kept)
            labels, weight = labels.take(kept), weight[kept]
        features = self._learner.reader._features(X) if len(labels.codes) else Features((), 0)
        rows = features.rows() if len(labels.codes) else None
        return Prepared(features, rows, labels, weight, block.end, block.n_bytes, batch.n_bad)

    def _given_weight(
        self, labels: Labels, weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        by_class = given_weight(self._plan.class_weight, labels.values, None)
        return weight if by_class is None else times(by_class[labels.codes], weight)

    def _cached(self, kept: Kept) -> Prepared:
        """A block of the cache as rows; in any thread."""
        about: _About = kept.info
        *arrays, codes, weight = self.cache.read(kept)
        features = Features(tuple(arrays), about.n_features)
        labels = Labels(codes, np.array(list(self._labels)))
        given = weight if about.weighted else None
        return Prepared(features, features.rows(), labels, given, about.end, about.n_bytes, 0)

    def _keep(self, prepared: Prepared) -> None:
        """Put a block into the cache, if it is to be gone through again."""
        if self._plan.passes == 1 or self.cache.n_blocks != self.position.block:
            return
        features, _, labels, weight, end, n_bytes, _ = prepared
        table = [self._labels.setdefault(v, len(self._labels)) for v in labels.values.tolist()]
        codes = np.array(table, np.int32)[labels.codes]
        arrays = (*features.arrays, codes, np.zeros(0) if weight is None else weight)
        self.cache.add(arrays, _About(features.n_features, weight is not None, end, n_bytes))

    # ---------------------------------------------------------------- learning

    def _step(self, prepared: Prepared) -> None:
        """Learn one block."""
        n = len(prepared.labels.codes)
        if n:
            self._learn(prepared)
            self._keep(prepared)
        self.position = self.position.after(prepared.end, n, prepared.n_bad)
        self._bytes += prepared.n_bytes
        if self._shards is None:
            self.is_whole = not self._estimator._fresh
            self._show_position()
        self._report()

    def _learn(self, prepared: Prepared) -> None:
        if self._shards is not None:
            self._shards.learn(prepared, self.position)
            return
        self.is_whole = False
        try:
            self._learner.learn(prepared, self.position)
        except Refused:
            self._estimator.__dict__.pop("stream_", None)
            raise

    def _show_position(self) -> None:
        if not self._estimator._fresh:
            self._name_columns()
            self._estimator.stream_ = self.position

    @property
    def _is_shown(self) -> bool:
        """Whether the model is what was learnt up to here."""
        return self._estimator.__dict__.get("stream_") is self.position

    def _name_columns(self) -> None:
        columns = self._source.columns or self.position.columns
        self.position = replace(self.position, columns=columns)

    # -------------------------------------------------------------- what is said

    def _report(self) -> None:
        if self._options.progress is None:
            return
        position = self.position
        self._options.progress(
            StreamProgress(
                position.number,
                self._plan.passes,
                position.rows,
                self._mistakes(),
                self._bytes,
                self._total,
                position.n_bad,
            )
        )

    def _mistakes(self) -> int:
        """Of this pass so far."""
        if self._shards is not None:
            return self._shards.mistakes()
        mistakes = self._estimator._model.mistakes
        return mistakes[-1] if mistakes and not self._learner.opens else 0

    def check_end(self) -> None:
        """Refuse a source that nothing could be learnt from."""
        if self._estimator._fresh or (self._is_new and self.position.rows == 0):
            bad = self.position.n_bad
            read = f"{bad} that could not be read" if bad else "none"
            raise BadInput(f"{self._source.name} must have at least one record, got {read}.")
        if self._is_new and self._source.can_restart:
            _check.two_classes(self._estimator._model.classes, "fit_stream")
