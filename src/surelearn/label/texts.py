"""Texts of a pool in a file instead of memory; must not know items or labels."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile, gettempdir
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np


class TextFile:
    """Texts in a temporary file without a name; a model takes it as a column of texts.

    Several threads may read it. It is gone with the process.

    Parameters
    ----------
    texts : iterable of str, optional

    Examples
    --------
    >>> file = TextFile(["a fine film", "a dull film"])
    >>> file[1]
    'a dull film'
    >>> file.take([1, 0]).to_pylist()
    ['a dull film', 'a fine film']
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115  (open as long as this object lives)
        finalize(self, self._file.close)
        self._lock = Lock()
        self._ends = array("q", [0])
        self.extend(texts)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts at the end."""
        encoded = [text.encode() for text in texts]
        left = memoryview(b"".join(encoded))
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:  # a full disk, for one
            raise OSError(error.errno, error.strerror, gettempdir()) from error
        for text in encoded:
            self._ends.append(self._ends[-1] + len(text))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> str:
        return self._bytes(i).decode()

    def take(self, rows: Any) -> Any:
        """Texts by number, as a pyarrow.LargeStringArray."""
        import pyarrow as pa

        found = [self._bytes(i) for i in np.asarray(rows).tolist()]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(found))]
        return pa.Array.from_buffers(pa.large_string(), len(found), buffers)

    def to_pylist(self) -> list[str]:
        """All texts."""
        return list(self)

    def _bytes(self, i: int) -> bytes:
        begin, end = self._ends[i], self._ends[i + 1]
        with self._lock:
            self._file.seek(begin)
            return self._file.read(end - begin)
