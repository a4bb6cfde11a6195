"""Candidates of Vowpal Wabbit's label-dependent format, with the features they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from surelearn.read._sparse_rows import BadLine
from surelearn.read._vw import ParsedCandidates
from surelearn.rows import crossed

#: A group with more entries is refused: shared features are repeated for each candidate.
MOST_ENTRIES = 1 << 24


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a block.

    Parameters
    ----------
    parsed : ParsedCandidates
    cross : bool
        Whether to add the products of the shared features and those of each candidate.
    """

    parsed: ParsedCandidates
    cross: bool

    @property
    def bad(self) -> list[BadLine]:
        return self.parsed.bad

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Which rows are candidates."""
        return ~self.parsed.shared

    @property
    def costs(self) -> NDArray[np.float64]:
        return self.parsed.costs[self.own]

    @property
    def names(self) -> NDArray[np.int64]:
        return self.parsed.names[self.own]

    @property
    def groups(self) -> NDArray[np.int64]:
        return self.parsed.groups[self.own]

    @cached_property
    def X(self) -> csr_array:
        """The candidates, with the shared features of their group."""
        rows, own = self.parsed.X, self.own
        if own.all():
            return rows
        candidates = rows[own]
        # A group without shared features has an empty row instead, the last.
        shared = vstack([rows[~own], csr_array((1, rows.shape[1]), dtype=rows.dtype)], format="csr")
        last = shared.shape[0] - 1
        place = np.full(int(self.parsed.groups.max()) + 1, last)
        place[self.parsed.groups[~own]] = np.arange(last)
        of = place[self.groups]
        appended = candidates + shared[of]
        if not self.cross:
            return appended
        pairs = (of, np.arange(len(of)))
        return appended + crossed(shared, candidates, pairs, rows.shape[1], hashed=True)

    @property
    def wrong(self) -> str | None:
        """What is wrong with a group; None if all are valid."""
        if len(np.unique(self.parsed.groups)) > len(np.unique(self.groups)):
            return "expected candidates after the shared features, got none."
        most = int(self._n_entries.max(initial=0))
        if most > MOST_ENTRIES:
            return (
                f"expected a group of at most {MOST_ENTRIES} entries with its shared features, got "
                f"{most}. They are repeated for each candidate."
            )
        if not np.isfinite(self.X.data).all():  # sums of finite entries may overflow
            return "expected features of finite sums, got sums beyond the range of float32."
        return None

    @property
    def _n_entries(self) -> NDArray[Any]:
        """The number of entries of each group, with the shared features of each candidate."""
        sizes = np.diff(self.parsed.X.indptr).astype(np.float64)
        groups, own = self.parsed.groups, self.own
        n = int(groups.max(initial=-1)) + 1
        common = np.bincount(groups[~own], sizes[~own], minlength=n)[groups]
        each = sizes + common * (1 + sizes) if self.cross else sizes + common
        return np.bincount(groups[own], each[own], minlength=n)
