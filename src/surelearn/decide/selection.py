"""Which rows to answer, such that a risk holds among them; must not know what an answer is.

Thresholds come from other rows than those that certify them, so that testing them one after the
other, from strict to loose, until the first that fails, needs no correction (fixed-sequence
testing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.decide.bounds import mean_upper_bound, shows

Array = NDArray[np.float64]

#: The most thresholds that are tried.
_THRESHOLDS = 200
#: What counts as nearly the largest expected coverage.
_NEARLY = 0.85
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


def fewest_to_split(n_choosing: int, what: str) -> int:
    """The fewest rows of which so many choose, which `what` needs."""
    if n_choosing > _MOST_CHOOSING:
        raise ValueError(
            f"{what} needs {n_choosing:,} records beside those that certify the risk, and at most "
            f"{_MOST_CHOOSING:,} are taken. Use a larger level, or choose_novelty without a risk."
        )
    return n_choosing * _CHOOSING


def select(
    choosing: Selection, certifying: Selection, *, risk: float, delta: float, binary: bool
) -> Certified | None:
    """The loosest threshold that is certified, or None if none is.

    Parameters
    ----------
    choosing, certifying : Selection
        Disjoint parts of a simple random sample; the rows of the second are in random order.
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
    for threshold in _sequence(choosing, len(sureness), risk, delta):
        answered = sureness >= threshold
        if not answered.any() or not shows(loss[answered], risk, delta, binary=binary):
            break
        best = float(threshold)
    if best is None:
        return None
    answered = sureness >= best
    bound = min(risk, mean_upper_bound(loss[answered], delta, binary=binary))
    return Certified(best, bound, float(answered.mean()), len(sureness))


def _sequence(choosing: Selection, n: int, risk: float, delta: float) -> Array:
    """Thresholds to try on n rows, from strict to loose; the last one answers all rows.

    The first failure ends the sequence, so much depends on where it starts: a strict threshold
    answers too few rows to show anything, a loose one has too many losses. It starts at the
    strictest one from which nearly the largest coverage is expected.
    """
    sureness, loss = choosing
    m = len(sureness)
    if not m or not n:
        return np.array([-np.inf])
    order = np.argsort(-sureness, kind="stable")
    ends = np.unique(np.linspace(1, m, min(m, _THRESHOLDS)).astype(np.int64))
    lost = np.cumsum(loss[order])[ends - 1]
    thresholds = np.append(sureness[order][ends - 1], -np.inf)
    coverage = np.append(ends / (m + 1.0), 1.0)
    passing = _chance(
        np.append(lost, lost[-1]), np.append(ends, m), n * coverage, risk=risk, delta=delta
    )
    # The sequence ends at its weakest threshold: what comes after that is reached no surer.
    expected = [
        float(np.minimum.accumulate(passing[i:]) @ np.diff(coverage[i:], prepend=0.0))
        for i in range(len(thresholds))
    ]
    start = int(np.argmax(np.array(expected) >= _NEARLY * max(expected)))
    return thresholds[start:]


def _chance(
    lost: Array, n_choosing: NDArray[np.int64], n: Array, *, risk: float, delta: float
) -> Array:
    """The chance that n rows show the risk, given what others have lost.

    The losses of the n rows are beta-binomial with Jeffreys' prior, taken as normal.
    """
    from scipy.special import bdtrik, ndtr  # slow to import

    a, b = lost + 0.5, n_choosing - lost + 0.5
    rate = a / (a + b)
    allowed = np.floor(bdtrik(delta, np.floor(n), risk) + 1e-9)
    variance = n * rate * (1 - rate) * (1 + np.maximum(0.0, n - 1) / (a + b + 1))
    chance = ndtr((allowed + 0.5 - n * rate) / np.sqrt(variance))
    return np.where((1 - risk) ** np.floor(n) <= delta, chance, 0.0)
