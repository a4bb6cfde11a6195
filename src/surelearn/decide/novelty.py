"""How new a record is beside kept-back ones of known classes; must not know models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Scores of novelty and their power of the variance, the default first.
NOVELTY_SCORES = {"deviations": 0.5, "precision": 1.0}


def novelty_of(mean: Array, variance: Array, score: str) -> Array:
    r"""How new records are, from the moments of their best label's score.

    .. math:: -m / v^p, \qquad p = \tfrac12 \text{ for "deviations"}, \quad
        p = 1 \text{ for "precision"}

    What the model has met makes m large and v small. With p = 1/2 it is the number of standard
    deviations of the score above 0, which does not depend on the scale of rows. With p = 1 the
    variance counts more, which finds more where rows have about the same length.

    Examples
    --------
    >>> novelty_of(np.array([2.0, 2.0, -1.0]), np.array([0.25, 1.0, 1.0]), "deviations")
    array([-4., -2.,  1.])
    """
    power = np.where(variance > 0, variance, 1.0) ** NOVELTY_SCORES[score]
    known = np.where(mean > 0, mean / power, mean)
    return np.asarray(np.where(variance > 0, -known, 0.0))


class Novelty(NamedTuple):
    """The novelty of kept-back records.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Ascending.
    score : str
        One of `NOVELTY_SCORES`.
    """

    values: Array
    score: str = "deviations"

    @classmethod
    def of(cls, values: Array, score: str = "deviations") -> Novelty:
        """Novelty in any order."""
        return cls(np.sort(values), score)

    def p_value(self, novelty: Array) -> Array:
        r"""The conformal p-value: that of a known record is at most p with probability p or less.

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

    def beyond(self, novelty: Array, level: float) -> NDArray[np.bool_]:
        """Whether each p-value is at most `level`, which is below 1; quicker than `p_value`."""
        n = len(self.values)
        n_above = np.count_nonzero((1.0 + np.arange(n + 1)) / (n + 1.0) <= level) - 1
        if n_above < 0:
            return np.zeros(len(novelty), dtype=bool)
        return np.asarray(~(novelty <= self.values[n - n_above - 1]))

    @staticmethod
    def fewest(level: float) -> int:
        """The fewest records by which a p-value can be as small as `level`."""
        return int(np.ceil(1.0 / level - 1.0 - 1e-9))
