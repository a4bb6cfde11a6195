"""Lock a model file: one training at a time may write it; must not know what is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
            lock = _locked(beside)
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


def _locked(beside: str) -> int:
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
