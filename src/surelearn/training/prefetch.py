"""Work done ahead by threads, its results in order; must not know what is worked on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Results that may wait, for each thread: enough that none is idle, few enough to be small.
_WAITING = 2

#: How often, and for how many seconds each time, a thread that is not needed any more is stopped.
_TRIES = 5
_PATIENCE = 0.2


def prefetch(
    items: Iterable[T],
    work: Callable[[T], R],
    threads: int,
    stop: Callable[[], object] | None = None,
) -> Generator[R, None, None]:
    """``map(work, items)``, where items are drawn by one thread and worked on by several.

    What an item or its work raises comes out in its turn. Items are drawn while results are
    waited for, so a source that is slow to give the next one holds nobody up. `stop` is called when
    no more results are wanted: it may end what takes long, and may be called more than once.
    """
    room = Semaphore(_WAITING * threads)
    queue: SimpleQueue[Future[R] | None] = SimpleQueue()
    stopped = False

    def draw() -> None:
        try:
            for item in items:
                room.acquire()
                if stopped:
                    return
                queue.put(pool.submit(work, item))
            queue.put(None)
        except BaseException as error:
            failed: Future[R] = Future()
            failed.set_exception(error)
            queue.put(failed)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="surelearn")
    # A daemon: what it draws from may keep it waiting when everything else is over.
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
    """Stop a thread, which may begin to wait at this very moment, unless that takes long."""
    for _ in range(_TRIES):
        if stop is not None:
            stop()
        if not drawing.is_alive():
            return
        drawing.join(_PATIENCE)
