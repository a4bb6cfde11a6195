"""Finite-sample upper bounds of the mean of losses in [0, 1]; must not know what is lost."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: The largest bet, as a share of the one that could lose everything.
_BOLDEST = 0.75
#: What a computed bound may exceed a risk by that it is equal to.
_ROUNDING = 1e-12
#: Steps of a bisection: the bound is found to 1e-9.
_STEPS = 30


def fewest_rows(risk: float, delta: float, *, binary: bool = True) -> int:
    r"""The fewest rows that can show a risk: those that do so without any loss.

    .. math:: n = \lceil \log \delta / \log(1 - risk) \rceil

    if losses are 0 or 1; more are needed to bet against losses that are shares.

    >>> fewest_rows(0.05, 0.1), fewest_rows(0.001, 0.1), fewest_rows(0.05, 0.1, binary=False)
    (45, 2302, 60)
    """
    least = max(1, math.ceil(math.log(delta) / math.log1p(-risk) - 1e-9))
    if binary:
        return least
    most = least
    while not bets_against(np.zeros(most), risk, delta):
        least, most = most, 2 * most
    while least < most:
        middle = (least + most) // 2
        shown = bets_against(np.zeros(middle), risk, delta)
        least, most = (least, middle) if shown else (middle + 1, most)
    return least


def binomial_upper_bound(errors: int, n: int, delta: float) -> float:
    r"""The exact upper bound of a probability, from independent rows (Clopper and Pearson 1934).

    .. math:: u = \sup \{p : \Pr[Bin(n, p) \le errors] > \delta\}

    The probability is above u in at most a share `delta` of all samples.

    >>> round(binomial_upper_bound(0, 45, 0.1), 4)
    0.0499
    """
    from scipy.special import betaincinv  # slow to import

    if errors >= n:
        return 1.0
    return float(betaincinv(errors + 1.0, n - errors, 1.0 - delta))


def mean_upper_bound(losses: Array, delta: float, *, binary: bool) -> float:
    """An upper bound of the mean of independent losses in [0, 1], wrong with probability `delta`.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        In an order that does not depend on them.
    delta : float
    binary : bool
        Whether all losses that can occur are 0 or 1: then it is `binomial_upper_bound`, else the
        smallest mean above that of the sample that `bets_against` refutes.
    """
    if binary:
        return binomial_upper_bound(round(float(losses.sum())), len(losses), delta)
    low, high = (float(losses.mean()) if len(losses) else 1.0), 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        refuted = bets_against(losses, middle, delta)
        low, high = (low, middle) if refuted else (middle, high)
    return high


def shows(losses: Array, risk: float, delta: float, *, binary: bool) -> bool:
    """Whether losses show that their mean is at most `risk`, wrongly with probability `delta`."""
    if binary:
        errors = round(float(losses.sum()))
        return binomial_upper_bound(errors, len(losses), delta) <= risk * (1 + _ROUNDING)
    return bets_against(losses, risk, delta)


def bets_against(losses: Array, mean: float, delta: float) -> bool:
    r"""Whether betting refutes that losses in [0, 1] have at least this mean.

    .. math:: K_i = \prod_{j \le i} (1 + \lambda_j (mean - l_j)), \qquad
        \lambda_j = \min\Big(\sqrt{2 \log(1 / \delta) / (n \hat\sigma_{j-1}^2)},
        \tfrac{0.75}{1 - mean}\Big)

    The capital K is a supermartingale if the mean is at least that large, whatever the past bets
    were, so it exceeds :math:`1 / \delta` with probability at most :math:`\delta`.

    References
    ----------
    Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by betting, sec. 4.
    """
    n = len(losses)
    if n == 0 or mean >= 1.0:
        return False
    order = np.arange(1, n + 1)
    # Estimates from the past, which start as if one loss of 1/2 had been seen.
    average = (0.5 + np.cumsum(losses)) / (order + 1)
    spread = (0.25 + np.cumsum((losses - average) ** 2)) / (order + 1)
    before = np.concatenate([[0.25], spread[:-1]])
    bet = np.minimum(np.sqrt(2 * math.log(1 / delta) / (n * before)), _BOLDEST / (1.0 - mean))
    capital = np.cumsum(np.log1p(bet * (mean - losses)))
    return bool(capital.max() >= math.log(1 / delta))
