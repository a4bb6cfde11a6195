"""Work ahead in threads, with results in order; must not know what the work is.

Threads talk through `SimpleQueue` only, whose methods are single calls of C. A Ctrl-C in the middle
of a lock written in Python, such as those of futures and semaphores, leaves it locked for ever.
"""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from functools import partial
from queue import Empty, SimpleQueue
from sys import is_finalizing
from typing import Any, Generic, TypeVar

from surelearn.read import BadInput, Source

T = TypeVar("T")
R = TypeVar("R")
W = TypeVar("W")

#: Items under way beside one for each thread: enough to keep threads busy, and so few that a result
#: is still in the cache of the processor when the caller takes it.
_WAITING = 2

#: How often to try to stop a source that is no longer needed.
_TRIES = 5
#: Seconds of a wait, before the next try or before Python may handle a signal.
_PATIENCE = 0.2


class _Job(Generic[R]):
    """Work for another thread, and its result once there is one."""

    def __init__(self, work: Callable[[], R]) -> None:
        self._work = work
        self.found: SimpleQueue[Callable[[], R]] = SimpleQueue()

    def do(self, caught: type[BaseException] = BaseException) -> None:
        self.found.put(_outcome_of(self._work, caught))

    @property
    def is_done(self) -> bool:
        return not self.found.empty()


def _outcome_of(work: Callable[[], R], caught: type[BaseException]) -> Callable[[], R]:
    """Do the work now: the function returns what it returned, or raises what it raised."""
    try:
        found = work()
    except caught as error:
        return partial(_fail, error)
    return lambda: found


def _fail(error: BaseException) -> Any:
    raise error


class _Ahead(Generic[T, R]):
    """A thread that draws items, and others that work on them.

    The caller is one of the others if it `helps`.
    """

    def __init__(
        self, items: Iterable[T], work: Callable[[T], R], threads: int, *, helps: bool
    ) -> None:
        self._items, self._work, self._threads, self._helps = items, work, threads, helps
        self.jobs: SimpleQueue[_Job[R] | None] = SimpleQueue()  # in order
        self._to_do: SimpleQueue[_Job[R] | None] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        self._drawn: SimpleQueue[None] = SimpleQueue()
        self._done: SimpleQueue[None] = SimpleQueue()
        self._is_drawing = False
        self._started = 0
        self._stopped = False
        self._is_lost = False  # whether a thread had not even the memory to tell its error

    def start(self) -> bool:
        """Start the threads; returns whether there is one that draws."""
        for _ in range(self._threads + _WAITING):
            self.make_room()
        # Such threads do not keep the process alive: a source may block for ever.
        self._is_drawing = _started(self._draw)
        while self._is_drawing and self._started < self._threads - self._helps:
            if not _started(self._do):
                self._helps = True  # in place of the thread that there is none for
                break
            self._started += 1
        return self._is_drawing

    def make_room(self) -> None:
        """Let one more item be drawn."""
        self._room.put(None)

    def result_of(self, job: _Job[R]) -> R:
        """The result of a job; until there is one, a caller that helps does jobs itself."""
        while self._helps and not job.is_done:
            try:
                other = self._to_do.get_nowait()
            except Empty:
                break
            assert other is not None  # only `end` puts None
            other.do(Exception)  # a Ctrl-C is no result of a job
        return self.waited_for(job.found)()

    def waited_for(self, queue: SimpleQueue[W]) -> W:
        """The next item of a queue that a thread puts there.

        A wait without a timeout may outlast a Ctrl-C: Python handles a signal in the main thread
        only, and one that arrives just before the wait, or in another thread, does not end it.
        """
        while True:
            with suppress(Empty):
                return queue.get(timeout=_PATIENCE)
            if self._is_lost:
                raise MemoryError("a thread that works ahead must have memory, got none.")

    def end(self, stop: Callable[[], object] | None) -> None:
        """Try to stop drawing, but do not wait for long; wait for the others.

        The drawing thread may start to wait for its source just after `stop` was called, hence
        several tries.
        """
        self._stopped = True
        if is_finalizing():  # the interpreter has ended the threads
            return
        self.make_room()
        for _ in range(_TRIES if self._is_drawing else 0):
            if stop is not None:
                stop()
            with suppress(Empty):
                self._drawn.get(timeout=_PATIENCE)
                break
        for _ in range(self._started):
            self._to_do.put(None)
        for _ in range(self._started):
            with suppress(MemoryError):
                self.waited_for(self._done)

    def _draw(self) -> None:
        try:
            self._draw_all()
        except MemoryError:
            self._is_lost = True

    def _draw_all(self) -> None:
        try:
            for item in self._items:
                self._room.get()
                if self._stopped:
                    return
                job = _Job(partial(self._work, item))
                self._to_do.put(job)
                self.jobs.put(job)
            self.jobs.put(None)
        except BaseException as error:
            failed: _Job[R] = _Job(partial(_fail, error))
            failed.do()
            self.jobs.put(failed)
        finally:
            self._drawn.put(None)

    def _do(self) -> None:
        try:
            while (job := self._to_do.get()) is not None:
                if not self._stopped:
                    job.do()
            self._done.put(None)
        except MemoryError:
            self._is_lost = True


def _started(work: Callable[[], None]) -> bool:
    """Start a thread, unless the system has none left: then the caller does without it."""
    try:
        start_new_thread(work, ())
    except RuntimeError:
        return False
    return True


def prefetch(
    items: Iterable[T],
    work: Callable[[T], R],
    threads: int,
    stop: Callable[[], object] | None = None,
    *,
    helps: bool = False,
) -> Generator[R, None, None]:
    """``map(work, items)``: one thread draws the items, several threads work on them.

    An exception of an item or its work is raised in its turn. A slow source does not delay results
    that are ready. When no more results are needed, `stop` is called, perhaps more than once; it
    should cancel whatever the source is waiting for.

    With `helps`, the caller is one of the threads: while the next result is not ready, it works on
    items too, so no core is idle whether the work or what the caller does with it takes longer. A
    Ctrl-C then waits for the work at hand, which should be short. Where the system has no thread
    left, nothing is done ahead.
    """
    ahead = _Ahead(items, work, threads, helps=helps)
    try:
        if not ahead.start():
            yield from map(work, items)
            return
        while (job := ahead.waited_for(ahead.jobs)) is not None:
            yield ahead.result_of(job)
            ahead.make_room()
    finally:
        ahead.end(stop)


#: The result of a block; or that of the records before a bad one, and the error.
Tried = tuple[R, BadInput | None]


def salvaging(work: Callable[[Any], R], source: Source) -> Callable[[Any], Tried[R]]:
    """Wrap `work` so that a bad record of a pipe does not lose the records before it.

    A file needs no such care: once it is corrected, training resumes at the start of the block.
    """

    def tried(block: Any) -> Tried[R]:
        try:
            return work(block), None
        except BadInput as error:
            if source.can_restart or not error.n_before:
                raise
            return work(block.before(error.n_before)), error

    return tried


def raising(results: Generator[Tried[R], None, None]) -> Generator[R, None, None]:
    """The results; an error is raised after the result it came with."""
    with closing(results):
        for made, wrong in results:
            yield made
            if wrong is not None:
                raise wrong
