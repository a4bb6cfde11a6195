"""A pool of threads that does without where the system has none left; must not know the work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class Workers(ThreadPoolExecutor):
    """A `ThreadPoolExecutor` whose caller does the work itself where no thread can be started.

    A limit of address space (``ulimit -v``) leaves no room for the stack of a thread long before it
    leaves none for the work.

    Examples
    --------
    >>> with Workers(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def submit(self, work: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Do some work in a thread, or now: as that of the base class."""
        once = _Once(partial(work, *args, **kwargs))
        try:
            super().submit(once)
        except RuntimeError:  # can't start new thread; the work is in the queue all the same
            once()
        return once.future


class _Once(Generic[R]):
    """Work that is done by the first of the threads that call it."""

    def __init__(self, work: Callable[[], R]) -> None:
        self._work = [work]
        self.future: Future[R] = Future()

    def __call__(self) -> None:
        try:
            work = self._work.pop()
        except IndexError:  # another thread does it
            return
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(work())
        except BaseException as error:
            self.future.set_exception(error)
