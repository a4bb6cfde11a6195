"""Compressed rows of one column each, and how they are joined; must not know kinds of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core

#: Starts, features and values of compressed rows.
Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

#: What a zero is stored as: compressed rows have none, and leave out what is missing.
ZERO = float(np.finfo(np.float32).tiny)


class Part(NamedTuple):
    """A part of each row: its features are moved by `offset`, its values multiplied by `weight`."""

    arrays: Arrays
    offset: int
    weight: float = 1.0

    def as_rows(self, n_features: int) -> _core.Rows:
        """The rows of this part alone, under the numbers of all features."""
        starts, features, values = self.arrays
        moved = features.astype(np.int64) + self.offset
        return _core.Rows.csr(starts, moved, values, n_features)


class Named(NamedTuple):
    """Features with what they stand for."""

    features: NDArray[np.int64]
    names: Sequence[str]


#: Names in the rows of a table: of hashed features, or of a column of texts.
Found = list[Named | tuple[str, Any]]


def joined(parts: Sequence[Part], n_rows: int, dtype: type) -> Arrays:
    """Rows that have the features of all parts, ascending."""
    given: Any = [
        (starts, features, values.astype(dtype, copy=False), offset, weight)
        for (starts, features, values), offset, weight in parts
    ]
    join = _core.join_rows32 if dtype is np.float32 else _core.join_rows64
    starts, features, values = join(given, n_rows)
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    return starts, features, values


def one_a_row(features: NDArray[np.int32]) -> Arrays:
    """Rows of one feature each, with value 1."""
    n = len(features)
    return np.arange(n + 1), features, np.ones(n, np.float32)


def some_rows(rows: NDArray[np.bool_], feature: int) -> Arrays:
    """Some rows with one feature, the same for all, with value 1."""
    n = int(np.count_nonzero(rows))
    starts = np.append(0, np.cumsum(rows)).astype(np.int64)
    return starts, np.full(n, feature, np.int32), np.ones(n, np.float32)


def of_numbers(columns: Sequence[NDArray[np.float64]]) -> Arrays:
    """Rows of some columns of numbers, from feature 0 on, without those that are missing."""
    table = np.column_stack(columns)
    there = ~np.isnan(table)
    values = table[there]
    values[values == 0] = ZERO
    places = np.broadcast_to(np.arange(table.shape[1], dtype=np.int32), table.shape)[there]
    starts = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int64)
    return starts, places, values


def of_codes(
    codes: NDArray[Any], distinct: Sequence[str], place_of: Callable[[str], int], missing: int
) -> tuple[Arrays, NDArray[np.int64]]:
    """Rows of one category each; -1 is `missing`. Also the features of the distinct values."""
    table = np.array([*map(place_of, distinct), missing], dtype=np.int64)
    return one_a_row(table[codes].astype(np.int32)), table[:-1]


def of_lists(
    starts: NDArray[np.int64], codes: NDArray[Any], table: NDArray[np.int64], n_features: int
) -> Arrays:
    """Rows of any number of categories, brought to length 1; a repeated value counts once."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    pairs = np.unique(rows * np.int64(n_features) + table[codes])
    rows, features = np.divmod(pairs, n_features)
    sizes = np.bincount(rows, minlength=len(starts) - 1)
    values = (1.0 / np.sqrt(sizes[rows])).astype(np.float32)
    ends = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return ends, features.astype(np.int32), values


def taken(arrays: Arrays, codes: NDArray[Any]) -> Arrays:
    """The rows of these numbers; -1 is an empty one."""
    starts, features, values = arrays
    n = len(starts) - 1
    if len(codes) == n and np.array_equal(codes, np.arange(n)):
        return starts.astype(np.int64), features, values
    sizes = np.append(np.diff(starts), 0).astype(np.int64)[codes]
    ends = np.append(0, np.cumsum(sizes)).astype(np.int64)
    begins = np.append(starts[:-1], 0).astype(np.int64)[codes]
    at = np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1])
    return ends, features[at], values[at]


def of_length_one(arrays: Arrays) -> Arrays:
    """The same rows, each brought to length 1."""
    starts, features, values = arrays
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    lengths = np.sqrt(np.bincount(rows, values.astype(np.float64) ** 2, len(starts) - 1))
    return starts, features, (values / lengths[rows]).astype(np.float32)


def crossed(left: Part, right: Part, n_features: int, size: int) -> Arrays:
    """The products of the features of both, hashed into `size` places."""
    n = np.arange(len(left.arrays[0]) - 1)
    starts, features, values = _core.cross_rows(
        left.as_rows(n_features), right.as_rows(n_features), n, n, size, True
    )
    return starts, features, values


def pairs_of(left: Part, right: Part) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct pairs of a feature of `left` and one of `right` that a row has, where each row
    has one of each at most."""
    has = (np.diff(left.arrays[0]) > 0) & (np.diff(right.arrays[0]) > 0)
    own = left.arrays[1][left.arrays[0][:-1][has]].astype(np.int64) + left.offset
    other = right.arrays[1][right.arrays[0][:-1][has]].astype(np.int64) + right.offset
    pairs = np.unique(own << 32 | other)
    return pairs >> 32, pairs & 0xFFFFFFFF


def places_of_pairs(
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]], n_features: int, size: int
) -> NDArray[np.int64]:
    """Where the products of pairs of features are hashed to."""
    left, right = (Part(one_a_row(side.astype(np.int32)), 0) for side in pairs)
    _, places, _ = crossed(left, right, n_features, size)
    return places.astype(np.int64)
