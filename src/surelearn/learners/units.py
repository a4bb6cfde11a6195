"""The units of dense numbers: a warning where a model learns little in them. Knows no model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

#: Mean squares of columns further apart than this factor are unlike.
_APART = 1e4

#: Mean squares that are all above or all below these are far from 1.
_LARGE, _SMALL = 100.0, 0.01

#: Scales are told from rows with so many values in all: a look at all of a large X costs time.
_VALUES = 1_000_000

IN_PIPELINE = "Scale the columns, as in make_pipeline(StandardScaler(), SureClassifier())."
IN_SOURCE = (
    "Scale the columns of the source, such as to mean 0 and standard deviation 1; in Python, rows "
    "in memory can be scaled as in make_pipeline(StandardScaler(), SureClassifier())."
)


def warn_of_units(X: Any, remedy: str = IN_PIPELINE) -> None:
    """Warn if the columns of a dense X are of unlike size, or all far from 1.

    The mean is over the values that are not 0, since a rule learns nothing from a 0: columns that
    are rarely 1 need no scaling. Columns that are constant do not count.
    """
    if not isinstance(X, np.ndarray) or not X.size:  # sparse rows are learnt as they are
        return
    some = X[:: -(-X.size // _VALUES)]
    some = some[:, (some != some[:1]).any(axis=0)].astype(np.float64)
    if not some.size:
        return
    with np.errstate(over="ignore", under="ignore"):  # 1e200 squared is as large as need be
        squares = np.square(some).sum(axis=0) / np.count_nonzero(some, axis=0)
    least, most = squares.min(), squares.max()
    if most > _APART * least:
        found = "columns of similar size, got mean squares more than a factor of 10,000 apart"
    elif least > _LARGE:
        found = "columns of a size near 1, got mean squares above 100 only"
    elif most < _SMALL:
        found = "columns of a size near 1, got mean squares below 0.01 only"
    else:
        return
    said = (
        f"X should have {found}: little may be learnt, and probabilities may be far off. {remedy}"
    )
    warnings.warn(said, UserWarning, stacklevel=2)
