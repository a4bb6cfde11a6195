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

from surelearn.decide.bounds import mean_upper_bound, shows

Array = NDArray[np.float64]

#: The most thresholds that are tried.
_THRESHOLDS = 200
#: One row in so many, and so many at most, choose the score and the thresholds.
_CHOOSING, _MOST_CHOOSING = 4, 5000


class Selection(NamedTuple):
    """What is said of rows whose labels are known: how sure each answer is, and what it loses."""

    sureness: Array
    loss: Array

    def take(self, rows: NDArray[np.int64]) -> Selection:
        return Selection(self.sureness[rows], self.loss[rows])


class Certified(NamedTuple):
    """A threshold, and what is known of the rows whose sureness reaches it.

    Parameters
    ----------
    threshold : float
        Answer where the sureness is at least that large; infinite: never.
    bound : float
        The upper bound of the risk among the answered ones.
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
    choosing: Selection, certifying: Selection, *, risk: float, delta: float, binary: bool
) -> Certified | None:
    """The loosest threshold that is certified, or None if none is.

    Parameters
    ----------
    choosing, certifying : Selection
        Disjoint parts of a simple random sample; the rows of the second are in random order.
    risk, delta : float
        The mean loss among the answered rows is at most `risk`, but with probability `delta`.
    binary : bool
        Whether losses are 0 or 1.

    References
    ----------
    Geifman & El-Yaniv 2017, Selective classification for deep neural networks. Angelopoulos, Bates,
    Candes, Jordan & Lei 2021, Learn then test, sec. 2 (fixed-sequence testing).
    """
    sureness, loss = certifying
    best = None
    for threshold in _sequence(choosing, len(sureness), delta):
        answered = sureness >= threshold
        if not answered.any() or not shows(loss[answered], risk, delta, binary=binary):
            break
        best = float(threshold)
    if best is None:
        return None
    answered = sureness >= best
    bound = min(risk, mean_upper_bound(loss[answered], delta, binary=binary))
    return Certified(best, bound, float(answered.mean()), len(sureness))


def _sequence(choosing: Selection, n: int, delta: float) -> Array:
    """Thresholds from strict to loose; the first is where the bound is expected to be smallest.

    A stricter one answers too few rows to show anything, and one early loss would end the sequence.
    """
    sureness, loss = choosing
    if not len(sureness):
        return np.array([-np.inf])
    order = np.argsort(-sureness, kind="stable")
    ends = np.unique(np.linspace(1, len(order), min(len(order), _THRESHOLDS)).astype(np.int64))
    thresholds = sureness[order][ends - 1]
    # Of the answered rows that choose, as if half a row more had been lost.
    rate = (np.cumsum(loss[order])[ends - 1] + 0.5) / (ends + 1.0)
    expected = n * ends / len(order)
    log = math.log(1 / delta)
    bound = rate + np.sqrt(2 * log * rate * (1 - rate) / expected) + log / expected
    return np.append(thresholds[int(np.argmin(bound)) :], -np.inf)
