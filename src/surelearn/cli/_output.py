"""Output of whole lines, even when the disk is full; must not know what the lines say."""

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

#: A pipe takes up to this many bytes in one piece or not at all (POSIX; 512 is its minimum).
_AT_ONCE = getattr(select, "PIPE_BUF", 512)


def is_shown(output: Path | None) -> bool:
    """Whether the lines go to a terminal, where a progress bar would break them up."""
    return output is None and sys.stdout.isatty()


#: The option --output of commands that write lines.
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", dir_okay=False, help="Write to this file, not to standard output."
    ),
]


@contextmanager
def opened(output: Path | None) -> Iterator[WholeLines]:
    """Open a file, or standard output, for whole lines."""
    if output is None:
        sys.stdout.flush()
        buffer = sys.stdout.buffer
        # Below the buffer: it would keep lines back, and cut them anywhere.
        yield WholeLines(getattr(buffer, "raw", buffer), "standard output")
    else:
        with open(output, "wb", buffering=0) as file:
            yield WholeLines(file, os.fspath(output))


class WholeLines:
    """Writes lines without a buffer, so that the reader of a stream gets each one at once.

    Parameters
    ----------
    file : binary file without a buffer
    name : str
        The name of the file in errors.
    """

    def __init__(self, file: Any, name: str) -> None:
        self._file = file
        self._name = name
        self._n_lines = 0

    def write(self, lines: bytes) -> None:
        """Write whole lines; if the disk fills up, keep the lines that fit and raise."""
        done = 0
        try:
            while done < len(lines):
                size = self._file.write(memoryview(lines)[done : _end(lines, done)])
                if size is None:  # a full pipe that must not block
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                done += size
        except OSError as error:
            self._n_lines += lines.count(b"\n", 0, done)
            told = self._lines_written(done - lines.rfind(b"\n", 0, done) - 1)
            raise OSError(error.errno, f"{error.strerror}{told}", self._name) from None
        self._n_lines += lines.count(b"\n")

    def _lines_written(self, n_bytes: int) -> str:
        """Cut a half-written line off a regular file; say how many lines are left in it."""
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
    """Where the next write ends: after as many whole lines as a pipe takes in one piece.

    A signal that arrives while the pipe is full then cuts no line. A line longer than `_AT_ONCE`
    is written alone, and a signal may cut it.
    """
    if len(lines) - begin <= _AT_ONCE:
        return len(lines)
    last = lines.rfind(b"\n", begin, begin + _AT_ONCE) + 1
    return last or lines.find(b"\n", begin) + 1 or len(lines)
