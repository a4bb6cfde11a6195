"""svmlight text, ``label [qid:n] index:value ... # comment``: a block of lines to rows."""

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
    skip_bad: bool = False,
) -> Parsed:
    r"""The rows of a block of whole lines, read without holding the interpreter's lock.

    Lines that are blank or a comment are no rows. A label is one finite number; ``qid:n`` behind it
    is passed over. Entries stay in the order of the line, repeated ones too, and zeros are left
    out. Numbers are those of Python's ``float``, rounded once to `dtype`, without ``inf``, ``nan``
    and underscores. `n_features` is one more than the largest index, that of a zero included.

    Parameters
    ----------
    block : bytes-like
        Must not change meanwhile. The newline of the last line may be missing.
    first_line : int
        Number of the first line, for messages.
    name : str
        Name of the file, for messages.
    dtype : float32 or float64
    zero_based : bool
        Whether indices are counted from 0. Otherwise 0 is refused.
    skip_bad : bool
        Leave out lines that cannot be read, and tell them as `bad`.

    Raises
    ------
    BadInput
        With the first bad line, unless they are left out.

    Examples
    --------
    >>> parse(b"+1 2:0.5 7:1\n-1 1:3 # bad\n").features
    array([1, 6, 0], dtype=int32)
    """
    data = bytes_of(block)
    core = _core.parse_svmlight32 if np.dtype(dtype) == np.float32 else _core.parse_svmlight64
    starts, features, values, n_features, labels, found = core(
        data, zero_based=zero_based, skip_bad=skip_bad
    )
    bad = bad_lines(found, data, first_line=first_line, name=name, skip_bad=skip_bad)
    return Parsed(starts, features, values, n_features, labels, None, bad)
