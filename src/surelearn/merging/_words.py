"""Words and document counts of hashed features, of several models; must not know texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core


class Words(NamedTuple):
    """Which word each feature stands for.

    Parameters
    ----------
    features, ends : ndarray of int64
        A feature, and where its word ends in `text`.
    text : bytes
        The words in UTF-8, one after the other.
    shared : ndarray of uint8
        1 where a feature has other words too.
    """

    features: NDArray[np.int64]
    ends: NDArray[np.int64]
    text: bytes
    shared: NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        features: NDArray[Any],
        ends: NDArray[Any],
        letters: NDArray[Any],
        shared: NDArray[Any],
    ) -> Words:
        """From arrays of a file, every one of them sound."""
        kinds = [part.dtype for part in (features, ends, letters, shared)]
        if kinds != [np.int64, np.int64, np.uint8, np.uint8] or letters.ndim != 1:
            raise TypeError(f"words must be rows of integers and bytes, got {kinds}.")
        n, text = len(features), letters.tobytes()
        if not (len(ends) == len(shared) == n == len(np.unique(features))):
            raise ValueError(
                "words must have one feature, end and clash flag each, all features distinct."
            )
        rising = bool(np.all(ends[1:] >= ends[:-1])) and (n == 0 or ends[0] >= 0)
        if not rising or (ends[-1] if n else 0) != len(text) or (shared > 1).any():
            raise ValueError(
                "word_ends must ascend to the end of words, and word_clashes be 0 or 1."
            )
        text.decode("utf-8")
        inner = ends[:-1][ends[:-1] < len(text)]
        if (letters[inner] & 0xC0 == 0x80).any():
            raise ValueError("word_ends must not cut a UTF-8 character.")
        whole = np.ascontiguousarray
        return cls(whole(features), whole(ends), text, whole(shared))

    def ordered(self) -> Words:
        """In the order of the features."""
        if (self.features[1:] > self.features[:-1]).all():
            return self
        order = np.argsort(self.features)
        sizes = np.diff(self.ends, prepend=0)
        begins = (self.ends - sizes)[order]
        sizes = sizes[order]
        ends = np.cumsum(sizes)
        # Byte i of the result is so far from its place in `text` as its word is.
        letters = np.repeat(begins - (ends - sizes), sizes) + np.arange(len(self.text))
        text = np.frombuffer(self.text, dtype=np.uint8)[letters].tobytes()
        return Words(self.features[order], ends, text, self.shared[order])


def united(a: Words | None, b: Words | None) -> Words | None:
    """The words of both. Of two in one feature the smaller by its bytes stays: who met which
    first would depend on the order of the models."""
    if a is None or not len(a.features):
        return a if b is None else b
    if b is None or not len(b.features):
        return a
    return Words(*_core.unite_names(a.ordered(), b.ordered()))


def met_in_order(parts: Sequence[Words | None]) -> Words | None:
    """The words of parts that are met one after the other, as one would meet them all."""
    known = [part for part in parts if part is not None]
    return Words(*_core.names_met_in_order(known)) if known else None


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
