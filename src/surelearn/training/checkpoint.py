"""Checkpoints: when training writes its model, who else may not, and how it handles signals."""

from __future__ import annotations

import errno
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Protocol

from surelearn import _check, files

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

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
        if self.path is not None:  # raise before the first pass, not after the last
            if not os.path.isdir(os.path.dirname(os.path.abspath(self.path))):
                said = "checkpoint must be in a folder that exists"
                raise FileNotFoundError(errno.ENOENT, said, self.path)
            files.check_writable(self.path)
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


def _interval(every: int | str) -> tuple[float, float]:
    """(rows, seconds) between two checkpoints; one of them is infinite."""
    if isinstance(every, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", every)
        if found is None:
            what = "be rows or a time such as '30s' or '10m'"
            raise ValueError(_check.must("checkpoint_every", what, every))
        return float("inf"), float(found[1]) * _UNITS[found[2]]
    return float(_check.count("checkpoint_every", every)), float("inf")


class Claim(os.PathLike[str]):
    """The path of a file that `claimed` has locked."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


@contextmanager
def claimed(path: str | os.PathLike[str], *, doing: str = "training it") -> Iterator[Claim]:
    """A context in which no other process may write to a file, which need not exist.

    It locks another file next to it. The operating system releases the lock when the process ends,
    even if it is killed, so a leftover file blocks no later training. Without support for locks, or
    in a read-only folder, work goes on without one. A `Claim` may be claimed again. The error for a
    second process says what the first one is `doing`.
    """
    if isinstance(path, Claim):
        yield path
        return
    target = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.lock")
    lock = None
    if fcntl is not None and (os.path.isfile(target) or not os.path.exists(target)):
        try:
            lock = _lock(beside)
        except BlockingIOError:
            raise BlockingIOError(
                f"{os.fspath(path)} must have one writer at a time, got a second one: "
                f"{_process_in(beside)} is {doing}. Wait for its end, or name another file."
            ) from None
        except OSError:  # a file system without locks, or a read-only folder
            pass
    process = os.getpid()
    try:
        yield Claim(os.fspath(path))
    finally:
        if lock is not None:
            if process == os.getpid():  # a forked child must not remove its parent's lock
                with suppress(FileNotFoundError):
                    os.unlink(beside)
            os.close(lock)


def _lock(beside: str) -> int:
    """Lock a file and return its descriptor."""
    while True:
        # A link in its place may lead to a file that must not be emptied.
        lock = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last owner may have removed the file after it was opened here: then try again.
            is_there = _is_at(lock, beside)
            if is_there:
                os.ftruncate(lock, 0)
                os.write(lock, f"{os.getpid()}\n".encode())
        except OSError as error:
            if not isinstance(error, BlockingIOError):  # locks do not work here: leave no file
                os.unlink(beside)
            os.close(lock)
            raise
        if is_there:
            return lock
        os.close(lock)


def _is_at(descriptor: int, path: str) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _process_in(beside: str) -> str:
    """The process that has locked a file, if the file names it."""
    with suppress(OSError, ValueError), open(beside, encoding="ascii") as file:
        return f"process {int(file.read())}"
    return "another process"
