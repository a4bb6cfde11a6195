"""Parts of one sum in several threads; must not know what is summed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from surelearn._workers import Workers

T = TypeVar("T")
R = TypeVar("R")

#: Features that are worth a thread.
_FEWEST = 1 << 14


def in_threads(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """``map(work, items)``, in the caller's own thread where one is enough."""
    if threads == 1 or len(items) == 1:
        return list(map(work, items))
    with Workers(threads, "surelearn-merge") as pool:
        return list(pool.map(work, items))


def slices(n: int, threads: int) -> list[slice]:
    """Cuts of so many features, one for each thread that is worth it."""
    parts = max(1, min(threads, n // _FEWEST))
    return [slice(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
