"""What the svmlight and Vowpal Wabbit parsers share: rows of a block, and bad lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check

#: Anything with the buffer protocol: bytes, a memoryview, an Arrow buffer.
BytesLike = Any

#: A bad line as the core reports it: line, column, start and size of what was found, and what was
#: expected.
Found = tuple[int, int, int, int, str]


class BadLine(NamedTuple):
    """A skipped line. Lines and columns (in bytes) count from 1."""

    line: int
    column: int
    reason: str


class Parsed(NamedTuple):
    """The rows of a block in CSR form, with labels, weights and bad lines."""

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
    """The bad lines with their reasons; raises an error for the first unless `skip_bad`."""
    bad = []
    for line, column, begin, size, expected in found:
        reason = _check.unlike(expected, data[begin : begin + size].tobytes())
        bad.append(BadLine(first_line + line, column + 1, reason))
    if bad and not skip_bad:
        line, _, reason = bad[0]
        where = f"{name}, line {line}"
        raise _check.bad_record(where, reason, n_before=line - first_line)
    return bad
