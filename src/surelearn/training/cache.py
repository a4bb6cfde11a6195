"""Rows of a stream kept on disk for later passes; must not know what they are rows of."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import fcntl
except ImportError:  # not on Windows, where a folder in use cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

_PREFIX = "surelearn-cache-"
#: Seconds after which a folder without a lock has no owner.
_FORGOTTEN = 3600


class Kept(NamedTuple):
    """Where the arrays of a block lie, and what else is known of it."""

    arrays: tuple[tuple[int, np.dtype[Any], tuple[int, ...]], ...]  # offset, type, shape
    info: Any


class Cache:
    """Blocks of arrays, written once and read in order again and again.

    Parameters
    ----------
    limit : int
        Bytes. A cache that would need more, or finds the disk full, forgets everything.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._blocks: list[Kept] = []
        self._file: FileIO | None = None
        self._owned: tuple[Path, FileIO] | None = None
        self._reading = Lock()
        self.is_whole = False  # whether it holds all of a source

    @property
    def n_blocks(self) -> int:
        return len(self._blocks)

    def add(self, arrays: Sequence[NDArray[Any]], info: Any) -> None:
        """Keep a block, unless room has run out."""
        if self._limit == 0:
            return
        size = sum(array.nbytes for array in arrays)
        try:
            if self._size + size > self._limit:
                raise OSError("the limit is reached")
            self._write(arrays, info)
        except OSError:  # no room: later passes read the source again
            self.close()
            self._limit = 0

    def _write(self, arrays: Sequence[NDArray[Any]], info: Any) -> None:
        if self._file is None:
            self._owned = _own_folder()
            self._file = FileIO(self._owned[0] / "rows", "w+")
        places = []
        for array in arrays:
            places.append((self._size, array.dtype, array.shape))
            data = _bytes_of(np.ascontiguousarray(array))
            while len(data):
                data = data[self._file.write(data) :]
            self._size += array.nbytes
        self._blocks.append(Kept(tuple(places), info))

    def blocks(self) -> Iterator[Kept]:
        """What was kept, for `read`."""
        return iter(self._blocks)

    def read(self, kept: Kept) -> list[NDArray[Any]]:
        """The arrays of a block; from any thread."""
        return [self._array(*place) for place in kept.arrays]

    def _array(self, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        array = np.empty(shape, dtype)
        assert self._file is not None
        with self._reading:
            self._file.seek(offset)
            view = _bytes_of(array)
            while len(view):
                view = view[self._file.readinto(view) :]
        return array

    def close(self) -> None:
        """Remove everything from the disk."""
        if self._file is not None:
            self._file.close()
        if self._owned is not None:
            folder, lock = self._owned
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
        self._file = self._owned = None
        self._blocks = []
        self._size = 0
        self.is_whole = False


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _own_folder() -> tuple[Path, FileIO]:
    """A new folder that others can see is in use; those of processes that died are removed."""
    remove_forgotten()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # Under its name a lock is never without an owner that lives.
    lock = FileIO(folder / "new", "w")
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(folder / "new", folder / "lock")
    return folder, lock


def remove_forgotten() -> None:
    """Remove what processes have left that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_forgotten(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_forgotten(folder: Path) -> bool:
    try:
        lock = FileIO(folder / "lock", "r+")
    except FileNotFoundError:  # being made at this moment, or by one that died while making it
        return time.time() - folder.stat().st_mtime > _FORGOTTEN
    with lock:
        if fcntl is None:
            return True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
