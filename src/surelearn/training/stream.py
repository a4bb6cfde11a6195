"""Passes over a source larger than memory; must not know formats or the kind of model.

Threads read and prepare blocks ahead; training takes them in order. The thread that trains prepares
blocks as well while the next one is not ready. The model and its
`StreamPosition` are the only state: threads and cache can be lost at any time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol

from surelearn import _check
from surelearn.read import BadInput, Place, Source
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.first_pass import Cache, FirstPass, Kept
from surelearn.training.position import StreamPosition
from surelearn.training.prefetch import Tried, prefetch, raising, salvaging
from surelearn.training.protocol import B, Packed, Refused, Trainable


class StreamProgress(NamedTuple):
    """Progress of a pass over a source.

    Parameters
    ----------
    number, passes : int
        The pass, from 1, and the number of passes.
    rows, mistakes : int
        Rows and mistakes of this pass so far.
    n_bytes : int
        Bytes of the source read by this pass, counted as stored on disk.
    total : int or None
        Size of the source in bytes; None if unknown.
    n_bad : int
        Records left out because they could not be parsed.
    learnt : int
        Rows that this call has learnt so far, in all passes; 0 if rows are only scored.

    Examples
    --------
    >>> import pandas
    >>> from surelearn import SureTextClassifier
    >>> rows = pandas.DataFrame({"text": ["good film", "bad film"] * 30, "label": [1, 0] * 30})
    >>> seen = []
    >>> clf = SureTextClassifier().fit_stream(rows, passes=1, progress=seen.append)
    >>> seen[-1].number, seen[-1].rows
    (1, 60)
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
class StreamOptions:
    """How to go through a source; see `SureClassifier.fit_stream`.

    Parameters
    ----------
    passes : int
    shuffle : bool
        Whether later passes go through each block in a random order.
    seed : int
        Decides these orders.
    threads : int
        Number of threads that read ahead.
    cache_bytes : int
        Size limit of the disk cache of the first pass.
    before : StreamPosition or None
        The position where the model's training stopped; None if it did not come from a source.
    is_new : bool
        Whether the model starts untrained.
    kept_until : int
        The pass in which records that the model keeps back are learnt; 0: none are.
    progress : function or None
        Called after each block.
    """

    passes: int
    shuffle: bool
    seed: int
    threads: int
    cache_bytes: int = 2**34
    before: StreamPosition | None = None
    is_new: bool = True
    kept_until: int = 0
    progress: Callable[[StreamProgress], None] | None = None


class PreparedBlock(NamedTuple, Generic[B]):
    """A prepared block of a source."""

    block: B
    end: Place  # where the next one begins
    n_bytes: int  # on disk
    n_bad: int = 0  # records that could not be parsed

    @property
    def size(self) -> int:
        return self.block.size


class BlockLearner(Protocol[B]):
    """Learns the blocks of a stream: with one model, or with shards."""

    trainable: Trainable[B, Any]
    starts_pass: bool  # True until this pass has its mistake counter
    shows_blocks: bool  # whether the model is up to date after every block

    def learn(self, block: B, position: StreamPosition) -> B:
        """Learn a non-empty block that begins at `position`."""

    def end_pass(self, position: StreamPosition, *, is_last: bool) -> bool:
        """End a pass; returns whether the model is up to date."""

    def next_pass(self) -> None:
        """Begin another pass."""

    @property
    def mistakes(self) -> int:
        """Mistakes of this pass so far."""

    def close(self) -> None:
        """Stop all threads."""


class SingleLearner(Generic[B]):
    """One model learns all blocks in order."""

    shows_blocks = True

    def __init__(self, trainable: Trainable[B, Any], *, shuffle: bool) -> None:
        self.trainable = trainable
        self.starts_pass = False
        self._shuffle = shuffle

    def learn(self, block: B, position: StreamPosition) -> B:
        order = position.order(block.size) if self._shuffle else None
        starts_pass, self.starts_pass = self.starts_pass, False
        return self.trainable.learn(block, order, number=position.number, starts_pass=starts_pass)

    def end_pass(self, position: StreamPosition, *, is_last: bool) -> bool:
        model = self.trainable.model
        if self.starts_pass and position.rows and model is not None:
            model.mistakes.append(0)
            self.starts_pass = False
        return True

    def next_pass(self) -> None:
        self.starts_pass = True

    @property
    def mistakes(self) -> int:
        model = self.trainable.model
        return 0 if model is None or not model.mistakes or self.starts_pass else model.mistakes[-1]

    def close(self) -> None:
        pass


@contextmanager
def located(source: str, position: StreamPosition) -> Iterator[None]:
    """Add the record's number in the source to the error of a refused record."""
    try:
        yield
    except Refused as error:
        number = position.rows + error.place
        error.add_note(f"This is {error.unit} {number} of {source}, counted from 0.")
        raise


def train(
    trainer: StreamTrainer[Any], checkpoint: Checkpoint, finish: Callable[[], None] | None = None
) -> None:
    """Make all remaining passes over a source, and `finish` and write the model at the end."""
    with checkpoint.claimed():
        try:
            with checkpoint.watching(), closing(trainer.steps(checkpoint.waiting)) as steps:
                for rows in steps:
                    checkpoint.step(rows)
            trainer.check_end()
            if finish is not None:
                finish()
        except BaseException as error:
            if trainer.is_whole:  # a bad record, Ctrl-C: keep what was learnt so far
                checkpoint.write()
                if isinstance(error, BadInput):
                    n = trainer.position.rows
                    error.add_note(_learnt_before(error, n, checkpoint.path))
            raise
        finally:
            trainer.close()
        checkpoint.write()
    checkpoint.end_if_interrupted()


class StreamTrainer(Generic[B]):
    """Trains a model on the blocks of a source, for all passes.

    Parameters
    ----------
    learner : BlockLearner
    source : Source
    options : StreamOptions
    publish : function
        Called with the position whenever the model is up to date there, and with None if training
        stopped within a block.
    """

    def __init__(
        self,
        learner: BlockLearner[B],
        source: Source,
        options: StreamOptions,
        publish: Callable[[StreamPosition | None], None],
    ) -> None:
        self._learner = learner
        self._source = source
        self._options = options
        self._publish = publish
        self._resumed: StreamPosition | None = None  # where resumed training had stopped
        self.position = self._begin()
        self._bytes = 0
        self._learnt = 0  # rows, in all passes
        self._total = source.n_bytes
        again = options.passes > 1 and source.can_restart
        self._first = FirstPass(source, self.position.place) if again else None
        self.cache = Cache(options.cache_bytes if options.passes > 1 else 0)
        self.is_whole = False  # whether the model is in its state between two blocks

    def close(self) -> None:
        """Stop all threads and remove the cache."""
        self.cache.close()
        self._learner.close()

    def _begin(self) -> StreamPosition:
        """The position to start from, or to resume at."""
        options, source, before = self._options, self._source, self._options.before
        anew = StreamPosition(
            tuple(source.names),
            seed=options.seed,
            passes=options.passes,
            kept_until=options.kept_until,
        )
        if options.is_new:
            return anew
        if before is None or not before.goes_on_in(source, options.passes):
            if before is not None:
                before.check_over(source)
            self._learner.starts_pass = True
            return anew
        before.check_in(source)
        now = before.going_on(source, options.passes, options.kept_until)
        self._learner.starts_pass = now.number < before.number
        self._resumed = before
        return now

    @property
    def _model(self) -> Any:
        return self._learner.trainable.model

    # ------------------------------------------------------------------ passes

    def steps(
        self, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Generator[int, None, None]:
        """Learn block after block; yields the rows learnt so far when the model can be written.

        It waits for the next block within the context of `waiting`.
        """
        while True:
            pieces = self._replay() if self.cache.is_whole else raising(self._read())
            with closing(pieces) as feed:  # an error must not leave threads that read on
                while True:
                    with waiting():
                        piece = next(feed, None)
                    if piece is None:
                        break
                    self._step(piece)
                    if self._learner.shows_blocks:
                        yield self._learnt
            goes_on, is_shown = self._end_pass()
            if is_shown and not self._learner.shows_blocks:
                yield self._learnt
            if not goes_on:
                return
            self.position = self.position.next_pass()
            self._learner.next_pass()
            self._bytes = 0

    def _replay(self) -> Generator[PreparedBlock[B], None, None]:
        """The remaining blocks from the cache; from the source where the cache is lost."""
        try:
            yield from prefetch(
                self.cache.blocks(), self._from_cache, self._options.threads, helps=True
            )
        except OSError:  # of the cache: nothing else is read here
            self.cache.drop()
            if not self._source.can_restart:
                raise
            yield from raising(self._read())

    def _read(self) -> Generator[Tried[PreparedBlock[B]], None, None]:
        blocks = iter((self._first or self._source).blocks(self.position.place))
        work = salvaging(self._prepare, self._source)
        if self._model is None:  # the first block decides how others are prepared: no prefetch
            for block in blocks:
                tried = work(block)
                yield tried
                if tried[0].size:
                    break
        threads, cancel = self._options.threads, self._source.cancel
        yield from prefetch(blocks, work, threads, cancel, helps=True)

    def _prepare(self, block: Any) -> PreparedBlock[B]:
        """Parse and prepare a block of the source; runs in any thread."""
        records = block.parse()
        if not records.is_labelled:
            raise records.no_labels(self._source.name)
        prepared = self._learner.trainable.prepare(records, self._source)
        return PreparedBlock(prepared, block.end, block.n_bytes, records.n_bad)

    def _from_cache(self, kept: Kept) -> PreparedBlock[B]:
        """Read a block from the cache; runs in any thread."""
        info, end, n_bytes = kept.info
        packed = Packed(self.cache.read(kept), info)
        return PreparedBlock(self._learner.trainable.unpack(packed), end, n_bytes)

    def _end_pass(self) -> tuple[bool, bool]:
        """End the pass; returns whether another follows, and whether the model is up to date."""
        self.position = replace(self.position, ended=True)
        self.cache.is_whole = self.cache.n_blocks == self.position.block > 0
        goes_on = self._has_more_passes()
        if self._first is not None:
            self._first.end(is_last=not goes_on)
        if self.position.number == 1 and self._source.can_restart:
            self._learner.trainable.check_all_read(resumed=self._resumed is not None)
        is_shown = self._learner.end_pass(self.position, is_last=not goes_on)
        if self.position.rows == 0 and self._resumed is not None:  # the source has not grown
            self.position = replace(self._resumed, passes=self._options.passes)
        if is_shown and self._model is not None:
            self._show()
        return goes_on, is_shown

    def _has_more_passes(self) -> bool:
        if self.position.number >= self._options.passes or self.position.rows == 0:
            return False
        if self._source.can_restart or self.cache.is_whole:
            return True
        warnings.warn(
            f"passes must be 1 for {self._source.name}, which cannot be read again and did not fit "
            f"in cache_bytes={self._options.cache_bytes}: one pass was made.",
            stacklevel=2,
        )
        return False

    # ---------------------------------------------------------------- learning

    def _step(self, piece: PreparedBlock[B]) -> None:
        """Learn one block."""
        if piece.size:
            if self._learner.shows_blocks:
                self.is_whole = False
            try:
                with located(self._source.name, self.position):
                    block = self._learner.learn(piece.block, self.position)
            except Refused:
                self._publish(None)
                raise
            if self._options.passes > 1 and self.cache.n_blocks == self.position.block:
                self._keep(piece._replace(block=block))  # for the later passes
        self.position = self.position.after(piece.end, piece.size, piece.n_bad)
        self._bytes += piece.n_bytes
        self._learnt += piece.size
        if self._learner.shows_blocks and self._model is not None:
            self._show()
        self._report()

    def _keep(self, piece: PreparedBlock[B]) -> None:
        if not self._options.cache_bytes:
            return
        packed = self._learner.trainable.pack(piece.block)
        self.cache.add(packed.arrays, (packed.info, piece.end, piece.n_bytes))

    def _show(self) -> None:
        """Publish the position: the model is up to date here."""
        columns = self._source.columns or self.position.columns
        self.position = replace(self.position, columns=columns)
        self.is_whole = True
        self._publish(self.position)

    # ----------------------------------------------------------------- reporting

    def _report(self) -> None:
        if self._options.progress is None:
            return
        position = self.position
        self._options.progress(
            StreamProgress(
                position.number,
                self._options.passes,
                position.rows,
                self._learner.mistakes,
                self._bytes,
                self._total,
                position.n_bad,
                self._learnt,
            )
        )

    def check_end(self) -> None:
        """Raise if nothing could be learnt from the source."""
        if self._model is None or (self._options.is_new and self.position.rows == 0):
            bad = self.position.n_bad
            read = f"{bad} that could not be read" if bad else "none"
            raise _check.NoRecords(self._source.name, got=read)
        if self._options.is_new and self._source.can_restart:
            self._learner.trainable.check_learnt()


def _learnt_before(error: _check.BadInput, n: int, path: str | None) -> str:
    """A note on the records that were learnt before a bad one."""
    learnt = f"The {n:,} {error.records} before it were learnt"
    if path is None:
        return f"{learnt}."
    resume = _check.Keyword("resume", True)
    return _check.Message(
        "{learnt}; the model is saved in {path}, and {resume} continues.",
        learnt=learnt,
        path=path,
        resume=resume,
    )
