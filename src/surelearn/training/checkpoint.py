"""Checkpoints: when training writes its model, and how it handles signals meanwhile."""

from __future__ import annotations

import errno
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from surelearn import _check, files
from surelearn.training.claim import claimed

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class _Saved(Protocol):
    def save(self, path: Any) -> None: ...


class Checkpoint:
    """Writes an estimator to a file at intervals.

    Parameters
    ----------
    estimator : object with ``save``
    path : str, path, Claim or None
        None: write nothing.
    every : int or str
        The interval: a number of rows, or a time such as ``"30s"``, ``"10m"`` or ``"1h"``.
    """

    def __init__(self, estimator: _Saved, path: Any, every: int | str) -> None:
        self._estimator = estimator
        self.path = None if path is None else os.fspath(path)
        self._claim = nullcontext() if path is None else claimed(path)
        if self.path is not None:
            _check_writable(self.path)
        self._rows, self._seconds = _interval(every)
        self._written = 0, time.monotonic()
        self._handlers: dict[int, Callable[..., Any]] = {}
        self._interrupted: int | None = None
        self._waits = False

    def claimed(self) -> AbstractContextManager[object]:
        """A context in which no other training may write to the file."""
        return self._claim

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A context in which Ctrl-C, and a SIGTERM with a handler, end training between two blocks.

        So the written model always corresponds to one position in the source.
        """
        before = {} if self.path is None else self._heard()
        self._handlers.update(before)
        for number in before:
            signal.signal(number, self._interrupt)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self) -> dict[int, Callable[..., Any]]:
        """The handlers of signals that are not deferred yet."""
        if threading.current_thread() is not threading.main_thread():
            return {}  # Python handles signals in the main thread only
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        return {n: h for n, h in handlers.items() if callable(h) and h != self._interrupt}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A context in which nothing is being learnt, so signals are handled at once."""
        self._waits = True
        try:
            self.end_if_interrupted()
            yield
        finally:
            self._waits = False

    def _interrupt(self, number: int, frame: Any) -> None:
        self._interrupted = number
        if self._waits:
            self.end_if_interrupted()

    def end_if_interrupted(self) -> None:
        """Call the original handler of a deferred signal: Ctrl-C raises KeyboardInterrupt."""
        if self._interrupted is not None:
            number, self._interrupted = self._interrupted, None
            self._handlers[number](number, None)

    def step(self, rows: int) -> None:
        """Write if the interval has passed; called after each block with the rows learnt."""
        if self.path is None:
            return
        before, then = self._written
        if rows - before >= self._rows or time.monotonic() - then >= self._seconds:
            try:
                self.write()
            except OSError as error:  # the old file is intact and the model is in memory: go on
                warnings.warn(
                    f"{self.path} could not be written, training goes on: {error}", stacklevel=2
                )
            self._written = rows, time.monotonic()

    def write(self) -> None:
        if self.path is not None:
            with self.watching():  # a second Ctrl-C must not interrupt the write
                self._estimator.save(self.path)


def _check_writable(path: str) -> None:
    """Raise before the first pass if the file could not be written after the last."""
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise FileNotFoundError(errno.ENOENT, "checkpoint must be in a folder that exists", path)
    files.check_writable(path)


def _interval(every: int | str) -> tuple[float, float]:
    """(rows, seconds) between two checkpoints; one of them is infinite."""
    if isinstance(every, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", every)
        if found is None:
            what = "be rows or a time such as '30s' or '10m'"
            raise ValueError(_check.must("checkpoint_every", what, every))
        return float("inf"), float(found[1]) * _UNITS[found[2]]
    return float(_check.count("checkpoint_every", every)), float("inf")
