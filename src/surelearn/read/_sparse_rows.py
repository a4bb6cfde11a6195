"""What the readers of lines have in common: rows of a block, and lines that are none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check

#: Anything whose bytes can be looked at where they lie: bytes, a memoryview, an Arrow buffer.
BytesLike = Any

#: Of the core: line, column, begin and size of what was found, what was expected.
Found = tuple[int, int, int, int, str]


class BadLine(NamedTuple):
    """A line that was left out. Lines and columns (in bytes) are counted from 1."""

    line: int
    column: int
    reason: str


class Parsed(NamedTuple):
    """Rows of a block of lines in compressed form, with what else the lines say."""

    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[Any]
    n_features: int
    labels: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    bad: list[BadLine]

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def n_bad(self) -> int:
        return len(self.bad)


def bytes_of(block: BytesLike) -> NDArray[np.uint8]:
    return np.frombuffer(block, dtype=np.uint8)


def bad_lines(
    found: Iterable[Found], data: NDArray[np.uint8], *, first_line: int, name: str, skip_bad: bool
) -> list[BadLine]:
    """The lines that could not be read, in words; raises the first unless they are left out."""
    bad = []
    for line, column, begin, size, expected in found:
        reason = _check.unlike(expected, data[begin : begin + size].tobytes())
        bad.append(BadLine(first_line + line, column + 1, reason))
    if bad and not skip_bad:
        line, _, reason = bad[0]
        where = f"{name}, line {line}"
        raise _check.bad_record(where, reason, n_before=line - first_line)
    return bad
