"""Work done ahead by threads, its results in order; must not know what is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Results that may wait, for each thread: enough that none is idle, few enough to be small.
_WAITING = 2


def ahead(
    items: Iterable[T], work: Callable[[T], R], threads: int, stop: Event | None = None
) -> Iterator[R]:
    """``map(work, items)``, where items are drawn by one thread and worked on by several.

    What an item or its work raises comes out in its turn. Items are drawn while results are
    waited for, so a source that is slow to give the next one holds nobody up. `stop` is set when
    no more results are wanted: work that takes long may look at it.
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
    # A daemon: it may be waiting for standard input when everything else is over.
    Thread(target=draw, daemon=True).start()
    try:
        while (future := queue.get()) is not None:
            yield future.result()
            room.release()
    finally:
        stopped = True
        if stop is not None:
            stop.set()
        room.release()
        pool.shutdown(wait=True, cancel_futures=True)
