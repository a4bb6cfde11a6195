"""Who may write a model file: one training at a time; must not know what is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Claim(os.PathLike[str]):
    """A path that `claimed` has given."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[Claim]:
    """A model file that no other training may write to while this lasts; it need not exist.

    A file beside it is locked. The system unlocks it however the process ends, so what a killed one
    leaves keeps no other out. Where there are no locks, or the folder is read-only, training goes
    on without. A claim may be claimed again.
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
                f"{_process_in(beside)} is training it. Wait for its end, or name another file."
            ) from None
        except OSError:  # no locks there, or a folder that is read-only
            pass
    process = os.getpid()
    try:
        yield Claim(os.fspath(path))
    finally:
        if lock is not None:
            if process == os.getpid():  # not where a child of a fork ends
                with suppress(FileNotFoundError):
                    os.unlink(beside)
            os.close(lock)


def _locked(beside: str) -> int:
    """The descriptor of a file that is locked from now on."""
    while True:
        lock = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before may have removed it since it was opened here.
            is_there = _is_at(lock, beside)
            if is_there:
                os.ftruncate(lock, 0)
                os.write(lock, f"{os.getpid()}\n".encode())
        except OSError as error:
            if not isinstance(error, BlockingIOError):  # it tells nobody anything
                os.unlink(beside)
            os.close(lock)
            raise
        if is_there:
            return lock
        os.close(lock)


def _is_at(descriptor: int, path: str) -> bool:
    """Whether an open file has this name still."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _process_in(beside: str) -> str:
    """Who has locked a file, as far as it tells."""
    with suppress(OSError, ValueError), open(beside, encoding="ascii") as file:
        return f"process {int(file.read())}"
    return "another process"
