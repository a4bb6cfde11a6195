"""What the svmlight and Vowpal Wabbit parsers share: rows of a block, and bad lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from surelearn import _check

#: Anything with the buffer protocol: bytes, a memoryview, an Arrow buffer.
BytesLike = Any

#: A bad line as the core reports it: line, column, start and size of what was found, and what was
#: expected.
Found = tuple[int, int, int, int, str]


class BadLine(NamedTuple):
    """A skipped line; lines count from 1."""

    line: int
    reason: str


class Parsed(NamedTuple):
    """The rows of a block in CSR form, with labels, weights, bad lines and queries.

    If a row may have many labels, `lists` has those of each row, or what is wrong with them.
    """

    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[Any]
    n_features: int
    labels: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    bad: list[BadLine]
    queries: NDArray[np.int64] | None = None
    lists: list[list[int] | str] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def n_bad(self) -> int:
        return len(self.bad)

    def matrix(self, n_features: int) -> csr_array:
        """The rows, without features beyond the last column."""
        width = max(n_features, self.n_features)
        shape = (self.n_rows, width)
        matrix = csr_array((self.values, self.features, self.starts), shape=shape)
        return matrix if width == n_features else matrix[:, :n_features]

    def too_wide(self, n_features: int) -> NDArray[np.bool_]:
        """Which rows have a feature beyond the last column."""
        if self.n_features <= n_features:
            return np.zeros(self.n_rows, bool)
        wide = self.features >= n_features
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.starts))[wide]
        return np.bincount(rows, minlength=self.n_rows) > 0


def bytes_of(block: BytesLike) -> NDArray[np.uint8]:
    return np.frombuffer(block, dtype=np.uint8)


def bad_lines(
    found: Iterable[Found],
    data: NDArray[np.uint8],
    *,
    first_line: int,
    name: str,
    skip_bad: bool,
    takes_lists: bool = False,
) -> list[BadLine]:
    """The bad lines with their reasons; raises an error for the first unless `skip_bad`.

    If the format takes lists of labels, the error for a list names the keyword.
    """
    bad = []
    for line, _, begin, size, expected in found:
        reason = _check.unlike(expected, data[begin : begin + size].tobytes())
        if takes_lists and expected == "one label":
            reason = _check.Message(
                "{wrong} With {separator} a row has a list of labels.",
                wrong=reason,
                separator=_check.Keyword("label_separator", ","),
            )
        bad.append(BadLine(first_line + line, reason))
    if bad and not skip_bad:
        line, reason = bad[0]
        where = f"{name}, line {line}"
        raise _check.bad_record(where, reason, n_before=line - first_line)
    return bad


def too_wide(most: int, found: int) -> _check.Message:
    """What is wrong with a sparse row that has too many features."""
    return _check.Message(
        "expected at most {most} features, got {found}. Train with {n_features} to have room.",
        most=most,
        found=found,
        n_features=_check.Keyword("n_features", found),
    )
