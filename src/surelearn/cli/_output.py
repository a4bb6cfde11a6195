"""Lines that are written whole or not at all; must not know what they say."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

#: Bytes that a pipe takes whole or not at all.
_AT_ONCE = getattr(select, "PIPE_BUF", 512)


def is_shown(output: Path | None) -> bool:
    """Whether lines appear on a terminal, where a bar would be in their way."""
    return output is None and sys.stdout.isatty()


#: Where lines are written, as an option.
Output = Annotated[
    Path | None, typer.Option(dir_okay=False, help="Write to a file, not to standard output.")
]


@contextmanager
def opened(output: Path | None) -> Iterator[WholeLines]:
    """Where lines are written: a file, or standard output."""
    if output is None:
        sys.stdout.flush()
        buffer = sys.stdout.buffer
        yield WholeLines(getattr(buffer, "raw", buffer), "standard output")
    else:
        with open(output, "wb", buffering=0) as file:
            yield WholeLines(file, os.fspath(output))


class WholeLines:
    """Writes lines at once: who reads a stream waits for them.

    Parameters
    ----------
    file : binary file without a buffer
    name : str
        What errors call it.
    """

    def __init__(self, file: Any, name: str) -> None:
        self._file = file
        self._name = name
        self._n_lines = 0

    def write(self, lines: bytes) -> None:
        """Write some whole lines; where no room is left, those that fit."""
        done = 0
        try:
            while done < len(lines):
                size = self._file.write(memoryview(lines)[done : _end(lines, done)])
                if size is None:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                done += size
        except OSError as error:
            self._n_lines += lines.count(b"\n", 0, done)
            told = self._told(done - lines.rfind(b"\n", 0, done) - 1)
            raise OSError(error.errno, f"{error.strerror}{told}", self._name) from None
        self._n_lines += lines.count(b"\n")

    def _told(self, n_bytes: int) -> str:
        """Take back the begin of a line from an ordinary file; what is in it then, in words."""
        try:
            descriptor = self._file.fileno()
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR) - n_bytes)
        except OSError:  # io.UnsupportedOperation is one
            return ""
        lines = "line was" if self._n_lines == 1 else "lines were"
        return f"; {self._n_lines:,} whole {lines} written"


def _end(lines: bytes, begin: int) -> int:
    """How far to write at once: whole lines that a pipe takes, or none of them where a signal comes
    while it is full. Of one that is too long for that a signal may leave the begin."""
    if len(lines) - begin <= _AT_ONCE:
        return len(lines)
    last = lines.rfind(b"\n", begin, begin + _AT_ONCE) + 1
    return last or lines.find(b"\n", begin) + 1 or len(lines)
