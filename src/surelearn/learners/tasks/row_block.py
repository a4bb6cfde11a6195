"""Blocks of labelled rows as the core wants them; must not know models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surelearn import _check, _core
from surelearn.read import Labels
from surelearn.units import Units


class Features(NamedTuple):
    """The rows of a block, as arrays that a cache can store."""

    arrays: tuple[NDArray[Any], ...]  # (starts, features, values), or one dense table
    n_features: int
    names: Any = None  # words that occur in the rows, as their reader registers them

    @property
    def is_sparse(self) -> bool:
        return len(self.arrays) > 1

    def rows(self) -> _core.Rows:
        """The checked rows of the core."""
        if self.is_sparse:
            starts, features, values = self.arrays
            rows = _core.Rows.csr(starts, features, values, self.n_features)
        else:
            rows = _core.Rows.dense(self.arrays[0])
        _check.sound_rows(rows.fault)
        return rows


class RowBlock(NamedTuple):
    """Labelled rows as the core wants them; rows of weight zero have been dropped.

    Parameters
    ----------
    rows : Rows or KernelRows
        Rows of the core; None for an empty block.
    labels : Labels
    weight : ndarray or None
    X : matrix, optional
        The matrix behind the rows; None for one row, and in a stream.
    numbers : ndarray, optional
        The row numbers in the user's X, if rows were dropped.
    span : tuple of int, optional
        Which of the rows belong to the block; None: all.
    features : Features, optional
        The arrays behind all rows of a block of a stream.
    named : optional
        Where the names in the rows are, for those who remember them once learnt.
    is_new : bool, default False
        Whether the rows come for the first time, and count for the scale of columns.
    units : Units, optional
        Those that the rows, but not X, are in already; see `in_units`.
    """

    rows: Any
    labels: Labels
    weight: NDArray[np.float64] | None
    X: Any = None
    numbers: NDArray[np.int64] | None = None
    span: tuple[int, int] | None = None
    features: Features | None = None
    named: Any = None
    is_new: bool = False
    units: Units | None = None

    def in_units(self, units: Units) -> RowBlock:
        """The same block for weights that read rows as they are."""
        return self._replace(rows=units.of(self.rows), units=units)

    @property
    def is_sparse(self) -> bool:
        return bool(issparse(self.X)) if self.features is None else self.features.is_sparse

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.labels.n_rows if self.span is None else self.span[1] - self.span[0]

    def part(self, begin: int, end: int) -> RowBlock:
        """The rows of a stretch of a block of a stream, in place."""
        return self._some(self.rows.part(begin, end), slice(begin, end))

    def take(self, numbers: NDArray[np.int64]) -> RowBlock:
        """Copies of some rows of a block of a stream."""
        return self._some(self.rows.take(numbers), numbers)

    def _some(self, rows: _core.Rows, which: Any) -> RowBlock:
        weight = None if self.weight is None else self.weight[which]
        return self._replace(rows=rows, labels=self.labels.take(which), weight=weight, span=None)

    @classmethod
    def read(
        cls, features: Features, labels: Labels, weight: NDArray[np.float64] | None
    ) -> RowBlock:
        """A block of a stream."""
        return cls(features.rows(), labels, weight, features=features)
