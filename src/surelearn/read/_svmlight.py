"""Parses a block of svmlight text, ``label [qid:n] index:value ... # comment``, into rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from surelearn import _core
from surelearn.read._sparse_rows import BytesLike, Parsed, bad_lines, bytes_of


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
    bad = bad_lines(found, data, first_line=first_line, name=name, skip_bad=skip_bad)
    return Parsed(starts, features, values, n_features, labels, None, bad, queries)
