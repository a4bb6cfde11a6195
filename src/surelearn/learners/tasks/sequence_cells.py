"""Which weights of a tagger's table a batch loss has, and their way in and out of the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.learners.tasks.sequences import SequenceBatch
from surelearn.weights import Diagonal

Array = NDArray[np.float64]

#: Rows of the table that are written at a time, so that no second table is needed.
_ROWS = 1 << 14


class Cells(NamedTuple):
    """Cells of a table, row after row: row j has those of ``labels[offsets[j]:offsets[j + 1]]``.

    The weights of cells are a vector in this order.
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def all(cls, n_rows: int, n_labels: int) -> Cells:
        """All cells of a table."""
        offsets = np.arange(0, (n_rows + 1) * n_labels, n_labels, dtype=np.int64)
        return cls(offsets, np.tile(np.arange(n_labels, dtype=np.int32), n_rows))

    @classmethod
    def observed(cls, batch: SequenceBatch, n_labels: int) -> Cells:
        """Cells of the features and labels, or pairs of labels, that occur together in a batch."""
        tokens, pairs, bounds, y = batch[:4]
        return cls(*_core.observed_cells(tokens, pairs, bounds, y, n_labels))

    @classmethod
    def where(cls, wanted: NDArray[np.bool_]) -> Cells:
        """The cells that are True in a table of shape (n_labels, n_rows)."""
        rows, labels = np.nonzero(wanted.T)
        counts = np.bincount(rows, minlength=wanted.shape[1])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        return cls(offsets, labels.astype(np.int32))

    def listed(self, n_labels: int) -> Cells | tuple[None, None]:
        """These cells as the core takes them: None for all, which it need not look up."""
        return (None, None) if len(self.labels) == n_labels * self.n_rows else self

    def mask(self, n_labels: int) -> NDArray[np.bool_]:
        """Whether a cell is among these, of shape (n_labels, n_rows)."""
        mask = np.zeros((self.n_rows, n_labels), dtype=bool)
        mask[self._rows(0, self.n_rows), self.labels] = True
        return mask.T

    def read(self, table: NDArray[np.floating]) -> Array:
        """The values of these cells in a table of shape (n_labels, n_rows)."""
        return table[self.labels, self._rows(0, self.n_rows)].astype(np.float64)

    def write(
        self, weights: Diagonal, rows: NDArray[np.int64], mean: Array, variance: Array
    ) -> None:
        """Put means and variances of these cells into weights, which keep their other cells.

        `rows` are the rows of the weights that are those of the cells, ascending.
        """
        K, tiny = weights.n_columns, np.finfo(weights.layout.dtype).tiny
        for begin in range(0, self.n_rows, _ROWS):
            end = min(begin + _ROWS, self.n_rows)
            some = slice(self.offsets[begin], self.offsets[end])
            places, labels, touched = self._rows(begin, end), self.labels[some], rows[begin:end]
            both = [table[:, touched] for table in (weights.means, weights.variances)]
            runs = np.ascontiguousarray(np.concatenate(both).T)
            runs[places, labels] = mean[some]
            runs[places, K + labels] = np.maximum(variance[some], tiny)
            weights.put_features({"features": touched, "cells": runs, "rounds": 0})

    def _rows(self, begin: int, end: int) -> NDArray[np.int64]:
        """The row of each cell of rows `begin` to `end`, counted from `begin`."""
        return np.repeat(np.arange(end - begin), np.diff(self.offsets[begin : end + 1]))
