"""Columns that a batch has beside its features: labels as codes, and those of `keep` unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Labels(NamedTuple):
    """Labels as codes into a list of distinct values, so that each value is checked only once.

    Parameters
    ----------
    codes : ndarray of int32 of shape (n_rows,) or (n_labels,)
    values : ndarray
        The distinct labels.
    starts : ndarray of int64 of shape (n_rows + 1,) or None
        For many labels per row: the labels of row i are ``codes[starts[i]:starts[i + 1]]``, each
        once, and `codes` holds those of all rows one after the other. None: one label per row.

    Examples
    --------
    >>> from surelearn.read import Labels
    >>> topics = Labels(np.array([0, 1, 1]), np.array(["wheat", "corn"]), np.array([0, 2, 2, 3]))
    >>> topics.lists()
    [('wheat', 'corn'), (), ('corn',)]
    """

    codes: NDArray[np.int32]
    values: NDArray[Any]
    starts: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, y: NDArray[Any]) -> Self:
        """One label for each row, with sorted values."""
        values = np.unique(y)
        return cls(np.searchsorted(values, y).astype(np.int32), values)

    @property
    def is_many(self) -> bool:
        """Whether a row has any number of labels."""
        return self.starts is not None

    @property
    def y(self) -> NDArray[Any]:
        """The label of each row, or those of all rows one after the other."""
        return self.values[self.codes]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.codes, minlength=len(self.values))

    @property
    def seen(self) -> NDArray[Any]:
        """The values that occur, sorted."""
        return np.unique(self.values[np.bincount(self.codes, minlength=len(self.values)) > 0])

    def codes_in(self, classes: NDArray[Any]) -> NDArray[np.int32]:
        """Codes into sorted classes of the same kind; -1 for what is none of them."""
        if classes is self.values:
            return self.codes
        if not len(classes):
            return np.full(len(self.codes), -1, np.int32)
        places = np.minimum(np.searchsorted(classes, self.values), len(classes) - 1)
        places = np.where(classes[places] == self.values, places, -1)
        return places.astype(np.int32)[self.codes]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes) if self.starts is None else len(self.starts) - 1

    def take(self, rows: Any) -> Labels:
        """The labels of some rows."""
        if self.starts is None:
            return self._replace(codes=self.codes[rows])
        starts, places = spans_of(self.starts, rows)
        return self._replace(codes=self.codes[places], starts=starts)

    def lists(self) -> list[tuple[Any, ...]]:
        """The labels of each row as a tuple, for many labels per row."""
        assert self.starts is not None
        labels, starts = self.y.tolist(), self.starts.tolist()
        return [tuple(labels[a:b]) for a, b in pairwise(starts)]

    def in_order(self) -> Labels:
        """The same labels with sorted values; those of a row are sorted as well, each once.

        One label per row is left as it is.
        """
        if self.starts is None:
            return self
        order = np.argsort(self.values, kind="stable")
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.starts))
        keys = np.unique(rows * max(1, len(order)) + ranks[self.codes])
        rows, codes = np.divmod(keys, max(1, len(order)))
        starts = np.searchsorted(rows, np.arange(self.n_rows + 1)).astype(np.int64)
        return Labels(codes.astype(np.int32), self.values[order], starts)


def spans_of(bounds: NDArray[np.int64], chosen: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bounds of some spans one after the other, and the places of what is in them.

    >>> bounds, places = spans_of(np.array([0, 2, 3, 6]), [2, 0])
    >>> bounds.tolist(), places.tolist()
    ([0, 3, 5], [3, 4, 5, 0, 1])
    """
    chosen = np.arange(len(bounds) - 1)[chosen]
    sizes = np.diff(bounds)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return starts, np.repeat(bounds[chosen] - starts[:-1], sizes) + np.arange(starts[-1])


#: Kept columns by name.
Kept = Mapping[str, NDArray[Any]]

_INT64 = range(-(2**63), 2**63)


def values_of(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array: numeric if all have one numeric type, else of objects.

    Texts are objects, because a numpy string array gives each text the room of the longest.
    """
    types = set(map(type, values))
    plain = types in ({bool}, {float}) or (types == {int} and all(v in _INT64 for v in values))
    return np.array(values) if plain else np.fromiter(values, object, len(values))


def kept_column(column: Any) -> NDArray[Any]:
    """A kept column of an Arrow table; dates and times become texts, which lose no digits."""
    import pyarrow
    from pyarrow import types

    if types.is_temporal(column.type):
        column = column.cast(pyarrow.string())
    return values_of(column.to_pylist())


def joined_kept(parts: Sequence[Kept]) -> Kept:
    """The kept columns of several batches, joined."""
    return {
        name: values_of([value for part in parts for value in part[name].tolist()])
        for name in parts[0]
    }
