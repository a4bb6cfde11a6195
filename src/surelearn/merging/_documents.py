"""Document counts of hashed features, of several models; must not know how they were counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Documents(NamedTuple):
    """How many documents have been counted, and in how many of them each feature occurs.

    Parameters
    ----------
    n : int
    features, counts : ndarray of int64
        Features that occur, ascending, and the documents of each.
    """

    n: int
    features: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def none(cls) -> Documents:
        """No documents."""
        return cls(0, np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def of(
        cls, n: int, features: NDArray[Any], counts: NDArray[Any], *, n_features: int
    ) -> Documents:
        """From the arrays of a file, all of them checked."""
        kinds = [features.dtype, counts.dtype]
        if kinds != [np.int64, np.int64] or features.ndim != 1 or features.shape != counts.shape:
            raise ValueError("documents must have one whole number for each feature.")
        ascending = bool(np.all(features[1:] > features[:-1]))
        if len(features) and not (ascending and features[0] >= 0 and features[-1] < n_features):
            raise ValueError("features of documents must ascend and lie within the model.")
        if len(counts) and not (counts.min() > 0 and counts.max() <= n):
            raise ValueError(f"documents of a feature must be from 1 to {n}.")
        return cls(n, *map(np.ascontiguousarray, (features, counts)))

    def plus(self, other: Documents, times: int = 1) -> Documents:
        """These documents, and those of another model so many times; a negative number takes them
        away."""
        features = np.union1d(self.features, other.features)
        counts = np.zeros(len(features), np.int64)
        counts[np.searchsorted(features, self.features)] = self.counts
        counts[np.searchsorted(features, other.features)] += times * other.counts
        kept = counts != 0
        return Documents(self.n + times * other.n, features[kept], counts[kept])


def added(a: Documents | None, b: Documents | None) -> Documents | None:
    """The documents of both."""
    if a is None or b is None:
        return b if a is None else a
    return a.plus(b)
