"""Which rows to answer, such that a risk holds among them; must not know what an answer is.

Thresholds come from other rows than those that certify them, so that testing them one after the
other, from strict to loose, until the first that fails, needs no correction (fixed-sequence
testing).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.decide.bounds import fewest_rows, mean_upper_bound, shows

Array = NDArray[np.float64]

#: The most thresholds that are tried.
_THRESHOLDS = 200
#: One row in so many, and so many at most, choose the score and the thresholds.
_CHOOSING, _MOST_CHOOSING = 5, 2000


class Selection(NamedTuple):
    """What is said of rows whose labels are known: how sure each answer is, and what it loses."""

    sureness: Array
    loss: Array

    def take(self, rows: NDArray[np.int64]) -> Selection:
        """What is said of some rows."""
        return Selection(self.sureness[rows], self.loss[rows])


class Certified(NamedTuple):
    """A threshold, and what is known of the rows whose sureness reaches it.

    Parameters
    ----------
    threshold : float
        Answer where the sureness is at least that large; infinite: never.
    bound : float
        The upper bound of the risk among the answered ones, for this threshold alone: at most the
        risk that was asked for, which is what is promised.
    coverage : float
        The share of the certifying rows that is answered.
    n : int
        How many rows have certified it.
    """

    threshold: float
    bound: float
    coverage: float
    n: int


def too_few(n: int, least: int, *, risk: float, delta: float, unit: str) -> ValueError:
    """The error for a sample that cannot show a risk even without any loss."""
    return ValueError(
        f"risk={risk:g} with delta={delta:g} needs at least {least:,} {unit}, got {n:,}. Use more "
        "of them, a larger risk or a larger delta."
    )


def split(n: int, least: int, random: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Random row numbers: those that choose, and those that certify, `least` of them or more."""
    rows = random.permutation(n)
    n_choosing = max(0, min(n // _CHOOSING, _MOST_CHOOSING, n - least))
    return rows[:n_choosing], rows[n_choosing:]


def select(
    choosing: Array, certifying: Selection, *, risk: float, delta: float, binary: bool
) -> Certified | None:
    """The loosest threshold that is certified, or None if none is.

    Parameters
    ----------
    choosing : ndarray
        The sureness of other rows: thresholds are taken from it.
    certifying : Selection
        A simple random sample, in random order.
    risk, delta : float
        The mean loss among the answered rows is at most `risk`, except with probability `delta`.
    binary : bool
        Whether losses are 0 or 1.

    References
    ----------
    Geifman & El-Yaniv 2017, Selective classification for deep neural networks. Angelopoulos, Bates,
    Candes, Jordan & Lei 2021, Learn then test, sec. 2 (fixed-sequence testing).
    """
    sureness, loss = certifying
    best = None
    least = fewest_rows(risk, delta, binary=binary)
    for threshold in _sequence(choosing, len(sureness), least):
        answered = sureness >= threshold
        if not answered.any() or not shows(loss[answered], risk, delta, binary=binary):
            break
        best = float(threshold)
    if best is None:
        return None
    answered = sureness >= best
    bound = min(risk, mean_upper_bound(loss[answered], delta, binary=binary))
    return Certified(best, bound, float(answered.mean()), len(sureness))


def _sequence(sureness: Array, n: int, least: int) -> Array:
    """Thresholds from strict to loose for n rows, given the sureness of others.

    The first is expected to answer three times the fewest rows that can show the risk, but not more
    than half of all, nor less than twice the fewest: a stricter one hardly passes, and one early
    loss would end the sequence. The last one answers all rows.
    """
    ordered = np.sort(sureness)[::-1]
    share = max(2 * least, min(3 * least, n / 2)) / max(1, n)
    first = min(len(ordered), max(0, math.ceil(share * len(ordered)) - 1))
    ends = np.unique(np.linspace(first, len(ordered), _THRESHOLDS).astype(np.int64))
    return np.append(ordered, -np.inf)[ends]
