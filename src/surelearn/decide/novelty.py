"""How new a record is beside kept-back ones of known classes; must not know models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Novelty(NamedTuple):
    """The novelty of kept-back records.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Ascending.
    """

    values: Array

    @classmethod
    def of(cls, values: Array) -> Novelty:
        return cls(np.sort(values))

    def p_value(self, novelty: Array) -> Array:
        r"""The conformal p-value: a known record has at most p with probability p, on average.

        .. math:: p = \frac{1 + \#\{i : v_i \ge v\}}{n + 1}

        References
        ----------
        Bates, Candes, Lei, Romano & Sesia 2023, Testing for outliers with conformal p-values.

        Examples
        --------
        >>> Novelty.of(np.array([1.0, 3.0, 2.0])).p_value(np.array([2.5, 9.0]))
        array([0.5 , 0.25])
        """
        n = len(self.values)
        above = n - np.searchsorted(self.values, novelty, side="left")
        return np.asarray((1.0 + above) / (n + 1.0))

    @staticmethod
    def fewest(level: float) -> int:
        """The fewest records by which a p-value can be as small as `level`."""
        return int(np.ceil(1.0 / level - 1.0 - 1e-9))
