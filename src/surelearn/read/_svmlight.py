"""Parses a block of svmlight text, ``label [qid:n] index:value ... # comment``, into rows.

The parser of Vowpal Wabbit text gives the same rows and bad lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from surelearn import _check, _core

#: The labels of a line: its first word, unless that is an entry such as ``5:0.5`` or ``qid:3``.
_HEAD = re.compile(rb"[ \t]*(?:([^\s:#]+)(?![^\s#]))?")
_LIST = re.compile(rb"[-+]?[0-9]{1,18}(?:,[-+]?[0-9]{1,18})*")


def parse(
    block: BytesLike,
    *,
    first_line: int = 1,
    name: str = "<block>",
    dtype: DTypeLike = np.float32,
    zero_based: bool = False,
    grouped: bool = False,
    skip_bad: bool = False,
) -> Parsed:
    r"""Parse a block of whole lines into rows, without holding the GIL.

    Blank lines and comments are no rows. A label is one finite number; ``qid:n`` after it is
    ignored unless `grouped`. Entries keep the order of the line, repeated ones included; zeros are
    dropped. Numbers are written as for Python's ``float``, without ``inf``, ``nan`` and
    underscores, and rounded once to `dtype`. `n_features` is one more than the largest index, even
    if its value is zero.

    Parameters
    ----------
    block : bytes-like
        Must not change during the call. The last newline may be missing.
    first_line : int
        Number of the first line, for messages.
    name : str
        Name of the file, for messages.
    dtype : float32 or float64
    zero_based : bool
        Whether indices start at 0. Otherwise an index of 0 is refused.
    grouped : bool
        Whether every row must have a ``qid:n``, which is returned in `queries`.
    skip_bad : bool
        Whether to skip lines that cannot be parsed, and list them in `bad`.

    Raises
    ------
    BadInput
        For the first bad line, unless `skip_bad`.

    Examples
    --------
    >>> parse(b"+1 2:0.5 7:1\n-1 1:3 # bad\n").features
    array([1, 6, 0], dtype=int32)
    """
    data = bytes_of(block)
    core = _core.parse_svmlight32 if np.dtype(dtype) == np.float32 else _core.parse_svmlight64
    starts, features, values, n_features, labels, queries, found = core(
        data, zero_based=zero_based, grouped=grouped, skip_bad=skip_bad
    )
    bad = bad_lines(
        found, data, first_line=first_line, name=name, skip_bad=skip_bad, takes_lists=True
    )
    return Parsed(starts, features, values, n_features, labels, None, bad, queries)


def parse_lists(block: BytesLike, **options: Any) -> Parsed:
    r"""The same for lines with any number of labels, ``1,3 index:value ...``.

    Labels are whole numbers. A line that begins with an entry has none.

    Parameters
    ----------
    block, **options
        As in `parse`.

    Returns
    -------
    Parsed
        With `lists`; `labels` is NaN for a row whose list is bad.

    Examples
    --------
    >>> parse_lists(b"1,3 2:0.5\n4:1\n2 1:3 # one\n").lists
    [[1, 3], [], [2]]
    """
    numbered, heads = _apart(bytes(block))
    found = parse(numbered, **options)
    lists = [_list_of(heads[int(number)]) for number in found.labels.tolist()]
    labels = np.array([np.nan if isinstance(own, str) else 0.0 for own in lists])
    return found._replace(labels=labels, lists=lists)


def _apart(data: bytes) -> tuple[bytes, list[bytes]]:
    """The lines with the number of the row in place of its labels, and the labels of each row."""
    lines: list[bytes] = []
    heads: list[bytes] = []
    for line in data.split(b"\n"):
        found = _HEAD.match(line)
        assert found is not None  # it matches nothing as well
        head, rest = found[1] or b"", line[found.end() :]
        if head or rest.partition(b"#")[0].strip():
            line = b"%d %b" % (len(heads), rest)
            heads.append(head)
        lines.append(line)
    return b"\n".join(lines), heads


def _list_of(head: bytes) -> list[int] | str:
    """The labels, or a sentence that says what is wrong with them."""
    if not head:
        return []
    if _LIST.fullmatch(head) is None:
        return _check.unlike("whole numbers separated by commas", head)
    return [int(label) for label in head.split(b",")]


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
