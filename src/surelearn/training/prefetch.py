"""Work ahead in threads, with results in order; must not know what the work is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Results per thread that may wait: enough to keep threads busy, few enough to save memory.
_WAITING = 2

#: How often to try to stop a thread that is no longer needed, and seconds to wait each time.
_TRIES = 5
_PATIENCE = 0.2


def prefetch(
    items: Iterable[T],
    work: Callable[[T], R],
    threads: int,
    stop: Callable[[], object] | None = None,
) -> Generator[R, None, None]:
    """``map(work, items)``: one thread draws the items, several threads work on them.

    An exception of an item or its work is raised in its turn. A slow source does not delay results
    that are ready. When no more results are needed, `stop` is called, perhaps more than once; it
    should cancel whatever the source is waiting for.
    """
    room = Semaphore(_WAITING * threads)
    queue: SimpleQueue[Future[R] | None] = SimpleQueue()
    stopped = False

    def draw() -> None:
        try:
            for item in items:
                room.acquire()
                if stopped:  # the acquire was woken up by the end, not by a free slot
                    return
                queue.put(pool.submit(work, item))
            queue.put(None)
        except BaseException as error:
            failed: Future[R] = Future()
            failed.set_exception(error)
            queue.put(failed)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="surelearn")
    # A daemon thread: a source may block for ever, and must not keep the process alive.
    drawing = Thread(target=draw, daemon=True, name="surelearn-draw")
    try:
        drawing.start()
        while (future := queue.get()) is not None:
            yield future.result()
            room.release()
    finally:
        stopped = True
        room.release()
        _end(drawing, stop)
        pool.shutdown(wait=True, cancel_futures=True)


def _end(drawing: Thread, stop: Callable[[], object] | None) -> None:
    """Try to stop the drawing thread, but do not wait for long.

    It may start to wait for the source just after `stop` was called, hence several tries.
    """
    for _ in range(_TRIES):
        if stop is not None:
            stop()
        if not drawing.is_alive():
            return
        drawing.join(_PATIENCE)
