"""Passes over a source that need not fit in memory; must not know formats, nor what is learnt.

Blocks are read and made ready by threads ahead of the learning, which goes through them in order.
Only the estimator and its `StreamPosition` are state: threads and cache can be lost.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.models.position import StreamPosition
from surelearn.models.rows import Refused
from surelearn.read import Place, Source
from surelearn.training.cache import Cache, Kept
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.prefetch import ahead


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
    learnt : int
        Rows that this call has learnt so far, in all passes; 0 where rows are only judged.
    """

    number: int
    passes: int
    rows: int
    mistakes: int
    n_bytes: int
    total: int | None
    n_bad: int
    learnt: int = 0


@dataclass(frozen=True)
class Options:
    """How to go through a source; see `SureClassifier.fit_stream`."""

    classes: Any = None
    resume: bool = False
    cache_bytes: int = 2**34
    progress: Callable[[StreamProgress], None] | None = None


def train(training: Course[Any], checkpoint: Checkpoint) -> None:
    """All passes over a source, or what is left of them; the model is written in the end."""
    try:
        with checkpoint.watching(), closing(training.steps(checkpoint.waiting)) as steps:
            for rows in steps:
                checkpoint.step(rows)
        training.check_end()
    except BaseException:
        if training.is_whole:  # also where a record cannot be read: what is learnt is kept
            checkpoint.write()
        raise
    finally:
        training.close()
    checkpoint.write()
    checkpoint.end_if_interrupted()


class Piece(Protocol):
    """A block that can be learnt."""

    @property
    def size(self) -> int:
        """How many records are in it."""

    @property
    def end(self) -> Place:
        """Where the next one begins."""

    @property
    def n_bytes(self) -> int:
        """Bytes on the disk that went into it."""

    @property
    def n_bad(self) -> int:
        """Records that could not be read."""


P = TypeVar("P", bound=Piece)


class BlockLearner(Protocol):
    """Who learns blocks."""

    opens: bool  # whether the mistakes of this pass have no place of their own yet

    def open_pass(self, model: Any) -> None:
        """Give them one."""

    def learn(self, block: Any, position: StreamPosition) -> None:
        """Learn a block with records, which begins at `position`."""


class Course(ABC, Generic[P]):
    """An estimator on its way through a source.

    Parameters
    ----------
    estimator : fitted or not
        With ``stream_`` where it has been on such a way before.
    source : Source
    plan : Plan or TagPlan
    options : Options
    """

    def __init__(self, estimator: Any, source: Source, plan: Any, options: Options) -> None:
        self._estimator = estimator
        self._source = source
        self._plan = plan
        self._options = options
        self._is_new = estimator._fresh or not options.resume
        if not self._is_new:
            self._check_fits()
        self._learner: BlockLearner = self._make_learner()
        self._before: StreamPosition | None = None  # where training was when it goes on
        self.position = self._begin()
        self._learnt = 0  # rows, in all passes
        self._bytes = 0
        self._total = source.n_bytes
        self.cache = Cache(options.cache_bytes if plan.passes > 1 else 0)
        self.is_whole = False  # whether the model is as it was between two blocks

    @abstractmethod
    def _check_fits(self) -> None:
        """Refuse settings that the estimator cannot go on with."""

    @abstractmethod
    def _make_learner(self) -> BlockLearner:
        """Who learns, of a new model if `_is_new`."""

    @abstractmethod
    def _prepare(self, block: Any) -> P:
        """A block made ready; in any thread."""

    @abstractmethod
    def _cached(self, kept: Kept) -> P:
        """A block of the cache made ready; in any thread."""

    @abstractmethod
    def _keep(self, piece: P) -> None:
        """Put a block into the cache."""

    def close(self) -> None:
        """Let go of threads and files."""
        self.cache.close()

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

    def steps(
        self, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Generator[int, None, None]:
        """Learn block after block; gives the rows learnt so far wherever the model can be written.

        The next block is waited for within the context of `waiting`.
        """
        while True:
            # However it ends, no thread goes on reading.
            with closing(self._feed()) as feed:
                while True:
                    with waiting():
                        piece = next(feed, None)
                    if piece is None:
                        break
                    self._step(piece)
                    if self._shows_blocks:
                        yield self._learnt
            goes_on = self._end_pass()
            if not self._shows_blocks and self._is_shown:
                yield self._learnt
            if not goes_on:
                return
            self._next_pass()

    @property
    def _shows_blocks(self) -> bool:
        """Whether the estimator is what was learnt after each block."""
        return True

    @property
    def _is_shown(self) -> bool:
        """Whether it is what was learnt up to here."""
        return self._estimator.__dict__.get("stream_") is self.position

    def _feed(self) -> Generator[P, None, None]:
        """The blocks of this pass that are left."""
        if self.cache.is_whole:
            return ahead(self.cache.blocks(), self._cached, self._threads)
        return self._read()

    def _read(self) -> Generator[P, None, None]:
        blocks = iter(self._source.blocks(self.position.place))
        if self._first_decides:
            for block in blocks:
                piece = self._prepare(block)
                yield piece
                if piece.size:
                    break
        yield from ahead(blocks, self._prepare, self._threads, self._source.cancel)

    @property
    def _first_decides(self) -> bool:
        """Whether the first block has to be learnt before others can be made ready."""
        return False

    @property
    def _threads(self) -> int:
        return int(self._plan.how.threads)

    def _end_pass(self) -> bool:
        """Whether there is another one."""
        self._close_pass()
        self.position = replace(self.position, ended=True)
        if self.position.rows == 0 and self._before is not None:
            self.position = replace(self._before, passes=self._plan.passes)  # nothing is new
        self.cache.is_whole = self.cache.n_blocks == self.position.block > 0
        goes_on = self._has_more_passes()
        self._show_pass(goes_on)
        return goes_on

    def _close_pass(self) -> None:
        if not self._estimator._fresh and self.position.rows:
            self._learner.open_pass(self._estimator._model)

    def _show_pass(self, goes_on: bool) -> None:
        self._show_position()

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
        self._open_pass()
        self._bytes = 0

    def _open_pass(self) -> None:
        self._learner.opens = True

    # ---------------------------------------------------------------- learning

    def _step(self, piece: P) -> None:
        """Learn one block."""
        if piece.size:
            self._learn(piece)
            if self._plan.passes > 1 and self.cache.n_blocks == self.position.block:
                self._keep(piece)  # it is to be gone through again
        self.position = self.position.after(piece.end, piece.size, piece.n_bad)
        self._learnt += piece.size
        self._bytes += piece.n_bytes
        if self._shows_blocks:
            self.is_whole = not self._estimator._fresh
            self._show_position()
        self._report()

    def _learn(self, piece: P) -> None:
        self.is_whole = False
        try:
            self._learner.learn(piece, self.position)
        except Refused:
            self._estimator.__dict__.pop("stream_", None)
            raise

    def _show_position(self) -> None:
        if not self._estimator._fresh:
            self._name_columns()
            self._estimator.stream_ = self.position

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
                self._learnt,
            )
        )

    def _mistakes(self) -> int:
        """Of this pass so far."""
        mistakes = [] if self._estimator._fresh else self._estimator._model.mistakes
        return mistakes[-1] if mistakes and not self._learner.opens else 0

    def check_end(self) -> None:
        """Refuse a source that nothing could be learnt from."""
        if self._estimator._fresh or (self._is_new and self.position.rows == 0):
            bad = self.position.n_bad
            read = f"{bad} that could not be read" if bad else "none"
            raise _check.NoRecords(self._source.name, got=read)
        if self._is_new and self._source.can_restart:
            _check.two_classes(self._estimator._model.classes, "fit_stream")
