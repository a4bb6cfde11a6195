"""Later passes over a source learn what the first one has read; must not know models.

A cache keeps what the first pass has read. Without one, files are read again, and may have changed.
Bytes that were added since are not read. A file that has changed in any other way ends training.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.read import Place, Source, Stamp


class FirstPass:
    """Reads a source for each pass, and holds later passes to the first.

    Parameters
    ----------
    source : Source
    start : Place
        Where the first pass begins: midway if training is resumed there.
    """

    def __init__(self, source: Source, start: Place) -> None:
        self._source = source
        self._start = start
        self._stamps = source.stamps
        # A later pass reads these files up to here. Those before the start are read as they are.
        self._ends = dict.fromkeys(range(start.file, len(source.names)), 0) | {start.file: start.at}
        self._met: set[Place] = set()  # the ends of all blocks
        self._is_over = False

    def blocks(self, place: Place) -> Iterator[Any]:
        """The blocks from a place on."""
        return self._again(place) if self._is_over else self._for_the_first_time(place)

    def end(self, *, is_last: bool) -> None:
        """End a pass; after the last, warn of files that have changed since the first began."""
        self._is_over = True
        if is_last:
            with contextlib.suppress(OSError):  # a file that is gone is no longer needed
                for name, is_longer in self._changed_files():
                    _warn(name, is_longer=is_longer)

    def _for_the_first_time(self, place: Place) -> Iterator[Any]:
        for block in self._source.blocks(place):
            self._met.add(block.end)
            self._ends[block.end.file] = block.end.at
            yield block

    def _again(self, place: Place) -> Iterator[Any]:
        self._check()
        for block in self._source.blocks(place, self._ends):
            if block.end > self._start and block.end not in self._met:
                raise _source_changed(self._source.names[block.end.file])
            yield block
        self._check()

    def _check(self) -> None:
        """Raise for a file that has changed, unless bytes may have been added at its end."""
        for name, is_longer in self._changed_files():
            if not is_longer:
                raise _source_changed(name)

    def _changed_files(self) -> list[tuple[str, bool]]:
        """The files that are not as they were, and whether they may only have grown."""
        now = zip(self._source.names, self._stamps, self._source.stamps, strict=True)
        return [
            (name, self._source.can_grow and _is_longer(before, after))
            for name, before, after in now
            if before is not None and after is not None and before != after
        ]


def _warn(name: str, *, is_longer: bool) -> None:
    what = "has grown" if is_longer else "has changed"
    rest = " Resume to learn what was added." if is_longer else ""
    warnings.warn(
        f"{name} {what} since the first pass. All passes learnt what was read then.{rest}",
        stacklevel=2,
    )


def _is_longer(before: Stamp, after: Stamp) -> bool:
    if before.size is None or after.size is None:
        return False
    return before.inode == after.inode and before.size < after.size


def _source_changed(name: str) -> ValueError:
    """The error for a file that later passes cannot read as the first one did."""
    return ValueError(
        f"{name} must stay as it was in the first pass, got one that has changed since. Train anew."
    )


try:
    import fcntl
except ImportError:  # Windows, which refuses to remove a folder in use anyway
    fcntl = None  # type: ignore[assignment]

_PREFIX = "surelearn-cache-"
#: A folder without a lock file is abandoned after this many seconds.
_FORGOTTEN = 3600


class Kept(NamedTuple):
    """Where the arrays of a block are in the file, and what belongs to them."""

    arrays: tuple[tuple[int, np.dtype[Any], tuple[int, ...]], ...]  # offset, type, shape
    info: Any


class Cache:
    """Blocks of arrays, written once and read in order any number of times.

    Parameters
    ----------
    limit : int
        Size in bytes. A cache that would exceed it, or finds the disk full, drops all blocks.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._blocks: list[Kept] = []
        self._file: FileIO | None = None
        self._owned: tuple[Path, FileIO] | None = None
        self._reading = Lock()
        self.is_whole = False  # whether it holds all blocks of a source

    @property
    def n_blocks(self) -> int:
        return len(self._blocks)

    def add(self, arrays: Sequence[NDArray[Any]], info: Any) -> None:
        """Store a block, unless the cache is full."""
        if self._limit == 0:
            return
        size = sum(array.nbytes for array in arrays)
        try:
            if self._size + size > self._limit:
                raise OSError("the limit is reached")
            self._write(arrays, info)
        except OSError:  # no space left: later passes read the source again
            self.drop()

    def _write(self, arrays: Sequence[NDArray[Any]], info: Any) -> None:
        if self._file is None:
            self._owned = _own_folder()
            self._file = FileIO(self._owned[0] / "rows", "w+")
        places = []
        for array in arrays:
            places.append((self._size, array.dtype, array.shape))
            data = _bytes_of(np.ascontiguousarray(array))
            while len(data):  # an unbuffered file may write less than it was given
                data = data[self._file.write(data) :]
            self._size += array.nbytes
        self._blocks.append(Kept(tuple(places), info))

    def blocks(self) -> Iterator[Kept]:
        """The stored blocks, for `read`."""
        return iter(self._blocks)

    def read(self, kept: Kept) -> list[NDArray[Any]]:
        """The arrays of a block; safe to call in any thread.

        Raises OSError if the file cannot be read, or was cut short by another program.
        """
        return [self._array(*place) for place in kept.arrays]

    def _array(self, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        array = np.empty(shape, dtype)
        assert self._file is not None
        with self._reading:  # the file has one position for all threads
            self._file.seek(offset)
            view = _bytes_of(array)
            while len(view):
                size = self._file.readinto(view)
                if not size:  # another program has changed the file
                    left = os.fstat(self._file.fileno()).st_size
                    raise OSError(
                        f"{self._file.name} must be the cache of the first pass as written, got a "
                        f"file that was cut short at {left} bytes. Train again."
                    )
                view = view[size:]
        return array

    def drop(self) -> None:
        """Delete the cache from the disk, and keep no more blocks."""
        self.close()
        self._limit = 0

    def close(self) -> None:
        """Delete the cache from the disk."""
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
    """A new locked folder; folders of dead processes are removed first."""
    remove_forgotten()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # Lock first, then rename: a file called "lock" that is not locked has no living owner.
    lock = FileIO(folder / "new", "w")
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(folder / "new", folder / "lock")
    return folder, lock


def remove_forgotten() -> None:
    """Remove the folders of killed processes."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_forgotten(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_forgotten(folder: Path) -> bool:
    try:
        lock = FileIO(folder / "lock", "r+")
    except FileNotFoundError:  # just being made, or its process died while making it
        return time.time() - folder.stat().st_mtime > _FORGOTTEN
    with lock:
        if fcntl is None:
            return True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
