"""Parses Vowpal Wabbit text, ``label importance 'tag|namespace feature:value ...``, into rows.

Lines of the label-dependent format, ``label:cost 'tag|namespace feature:value ...``, become
candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from surelearn import _core
from surelearn.read._svmlight import BadLine, BytesLike, Parsed, bad_lines, bytes_of


def parse(
    block: BytesLike,
    *,
    first_line: int = 1,
    name: str = "<block>",
    dtype: DTypeLike = np.float32,
    n_features: int = 2**20,
    alternate_sign: bool = True,
    skip_bad: bool = False,
) -> Parsed:
    r"""Parse a block of whole lines into rows, without holding the GIL.

    A line is ``[label [importance [base]]] ['tag]|namespace[:scale] feature[:value] ...``, with one
    namespace for each bar. The rules are Vowpal Wabbit's. A word that touches the first bar or
    begins with a quote is a tag. A space after a bar means no namespace. A missing value is 1, and
    ``city:paris`` is a categorical feature. Tag and base are ignored.

    A feature is hashed by the name ``namespace^feature`` (or ``namespace^city^paris``; the bare
    name without a namespace). Bucket and sign are those of scikit-learn's ``FeatureHasher``, not of
    Vowpal Wabbit, so weights cannot be exchanged with it. Equal features are summed in the order of
    the line, zeros are dropped, and features ascend.

    Parameters
    ----------
    block, first_line, name, dtype, skip_bad
        As in `_svmlight.parse`, with the same errors.
    n_features : int
        From 1 to 2**31 - 1.
    alternate_sign : bool
        Whether a negative hash makes the value negative.

    Returns
    -------
    Parsed
        A missing label is NaN. `weights` is None if no line has an importance.

    Examples
    --------
    >>> rows = parse(b"1 2.0 |text good:2 day\n|text bad day\n", n_features=100)
    >>> rows.labels, rows.weights
    (array([ 1., nan]), array([2., 1.]))
    """
    data = bytes_of(block)
    core = _core.parse_vw32 if np.dtype(dtype) == np.float32 else _core.parse_vw64
    starts, features, values, labels, weights, found = core(
        data, n_features=n_features, alternate_sign=alternate_sign, skip_bad=skip_bad
    )
    bad = bad_lines(found, data, first_line=first_line, name=name, skip_bad=skip_bad)
    return Parsed(starts, features, values, n_features, labels, weights, bad)


class ParsedCandidates(NamedTuple):
    """Lines of a block as rows: candidates, and the features that those of a group share."""

    X: csr_array
    costs: NDArray[np.float64]  # NaN for a missing one
    names: NDArray[np.int64]  # labels, -1 for a missing one
    groups: NDArray[np.int64]  # number of the group of each row, from 0
    shared: NDArray[np.bool_]  # whether a row is shared by the candidates of its group
    bad: list[BadLine]


def parse_candidates(block: BytesLike, *, n_features: int = 2**20) -> ParsedCandidates:
    r"""Parse a block of whole groups of the label-dependent format, without holding the GIL.

    A line is ``[label[:cost]] ['tag]|namespace[:scale] feature[:value] ...`` with a whole number as
    label; a blank line ends a group. The first line of a group may be ``shared |...``. Features are
    hashed as by `parse`, without signs. Lines that cannot be parsed are listed in `bad`.

    Examples
    --------
    >>> rows = parse_candidates(b"shared |t red\n1:0 |l hot\n2:1.5 |l cold\n")
    >>> rows.costs.tolist(), rows.names.tolist(), rows.shared.tolist()
    ([nan, 0.0, 1.5], [-1, 1, 2], [True, False, False])
    """
    data = bytes_of(block)
    starts, features, values, costs, names, groups, shared, found = _core.parse_candidates(
        data, n_features=n_features, skip_bad=True
    )
    X = csr_array((values, features, starts), shape=(len(costs), n_features))
    bad = bad_lines(found, data, first_line=1, name="", skip_bad=True)
    return ParsedCandidates(X, costs, names, groups, shared, bad)
