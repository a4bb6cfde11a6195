"""Features that are multiples of each other, as one: the same optimum with fewer weights.

Half of the words of a text collection occur in a single document. All words that occur in the same
documents with proportional values get proportional weights under an L2 penalty, so one feature can
stand for them: if :math:`x_j = c_j u` for all j of a group, then :math:`\\lVert c \\rVert u` with
the weight v gives the same scores and the same penalty as all :math:`x_j` with the weights
:math:`v c_j / \\lVert c \\rVert`. L-BFGS spends most of its time on vectors as long as the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surelearn.solvers._objective import Array, Interrupted, Solution

#: Digits of a feature's signature: equal up to rounding, and never by chance.
_DIGITS = 10

#: Join features if at most this share of them is left: doing it takes as long as an evaluation.
_WORTH = 0.8

#: Features with values outside are not joined: sums of their squares may underflow or overflow.
_LEAST, _MOST = 1e-30, 1e30


class Joined(NamedTuple):
    """Rows with joined features, and how their weights belong to those of all features."""

    X: Any  # CSR
    shares: Any  # CSR of shape (n_features, n_joined): the orthonormal columns c / |c|

    @classmethod
    def of(cls, X: Any) -> Joined | None:
        """Join the features of CSR rows without duplicate entries; None if few can be."""
        columns = X.tocsc()
        columns.eliminate_zeros()
        sizes = np.abs(columns.data)
        if sizes.min(initial=1.0) < _LEAST or sizes.max(initial=1.0) > _MOST:
            return None
        met = np.flatnonzero(np.diff(columns.indptr))
        groups, length = _groups(columns[:, met]) if len(met) else (met, np.zeros(0))
        n_joined = int(groups.max(initial=-1)) + 1
        if n_joined > _WORTH * X.shape[1]:
            return None
        whole = np.sqrt(np.bincount(groups, length**2, minlength=n_joined))
        shape = X.shape[1], n_joined
        shares = sparse.csr_array((length / whole[groups], (met, groups)), shape=shape)
        joined = sparse.csr_array(X @ shares)
        joined.sort_indices()
        return cls(joined, shares)

    def short(self, w: Array | None, n_columns: int) -> Array | None:
        """The weights of joined features that are nearest to weights of all features."""
        if w is None:
            return None
        table = w.reshape(-1, n_columns)
        n = self.shares.shape[0]
        return np.concatenate([(self.shares.T @ table[:n]).ravel(), table[n:].ravel()])

    def long(self, w: Array, n_columns: int) -> Array:
        """The weights of all features; rows after those of features, the intercept, stay."""
        table = w.reshape(-1, n_columns)
        n = self.shares.shape[1]
        return np.concatenate([(self.shares @ table[:n]).ravel(), table[n:].ravel()])

    def solve(self, solver: Callable[[], Solution], n_columns: int) -> Solution:
        """Run a solver over the joined features; its solution in weights of all features."""
        try:
            found = solver()
        except Interrupted as stopped:
            found = stopped.solution
            raise Interrupted(found._replace(w=self.long(found.w, n_columns))) from None
        return found._replace(w=self.long(found.w, n_columns))


def _groups(columns: Any) -> tuple[np.ndarray[Any, Any], Array]:
    """The group of each column of a CSC matrix without empty columns, and its signed length.

    Two columns are in one group if their directions agree in all of: number of entries, first row,
    and two random projections.
    """
    begin, count = columns.indptr[:-1], np.diff(columns.indptr)
    values = columns.data.astype(np.float64)
    length = np.sqrt(np.add.reduceat(values**2, begin)) * np.sign(values[begin])
    direction = values / np.repeat(length, count)
    random = np.random.default_rng(0).random((2, columns.shape[0]))
    signature = [
        np.round(np.add.reduceat(part[columns.indices] * direction, begin), _DIGITS)
        for part in random
    ]
    keys = np.stack([count, columns.indices[begin], *signature], axis=1)
    _, groups = np.unique(keys, axis=0, return_inverse=True)
    return groups.ravel(), length
