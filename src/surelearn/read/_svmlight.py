"""Parses a block of svmlight text, ``label [qid:n] index:value ... # comment``, into rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from surelearn import _check, _core
from surelearn.read._sparse_rows import BytesLike, Parsed, bad_lines, bytes_of

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
