"""The update rules as their papers print them, in high precision; knows nothing of weight vectors.

A rule takes the signed margin ``m`` and its variance ``v`` before the update and returns
``(alpha, gain)``: the step of the mean, ``mu += alpha sigma g``, and the step of the precision,
``sigma^-1 += gain g g'``. Both are zero if the rule is not triggered, if ``v`` is zero, or if ``m``
or ``v`` is not finite. Rules that ask for a margin of 1 take any other as ``margin``; it stands for
the 1 of m < 1 and 1 - m. Arguments and results are floats. A printed equation may cancel badly, so
it is evaluated with enough digits that only the last rounding to float is left.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable

import numpy as np
from mpmath import mp, mpf

Step = tuple[float, float]
Exact = tuple[mpf, mpf]

NO_STEP: Exact = (mpf(0), mpf(0))
ONE = mpf(1)


def _digits(numbers: Iterable[float]) -> int:
    """Decimal digits that survive the cancellation between terms built from these numbers.

    The worst is 1 - w in probit with |m| large: four powers of t = m / sqrt(noise + v).
    """
    sizes = [abs(math.log10(abs(x))) for x in numbers if x != 0 and math.isfinite(x)]
    return 100 + 6 * math.ceil(max(sizes, default=0.0))


def _precise(rule: Callable[..., Exact]) -> Callable[..., Step]:
    """Let a rule compute in high precision between float arguments and float results."""

    @functools.wraps(rule)
    def step(m: float, v: float, *shares: np.ndarray, **params: float) -> Step:
        # A whole covariance may give v < 0 by rounding.
        if v <= 0 or not (math.isfinite(m) and math.isfinite(v)):
            return 0.0, 0.0
        numbers = [float(x) for x in (m, v, *params.values(), *np.ravel(shares))]
        with mp.workdps(_digits(numbers)):
            exact = {name: mpf(float(value)) for name, value in params.items()}
            exact_shares = [[mpf(float(x)) for x in a] for a in shares]
            alpha, gain = rule(mpf(float(m)), mpf(float(v)), *exact_shares, **exact)
            return float(alpha), float(gain)

    return step


@_precise
def variance(m: mpf, v: mpf, *, phi: mpf) -> Exact:
    """Confidence-weighted step under ``m >= phi v`` after the update.

    alpha = (-(1 + 2 phi m) + sqrt((1 + 2 phi m)^2 - 8 phi (m - phi v))) / (4 phi v),
    gain = 2 alpha phi; at phi = 0 the limit is alpha = max(0, -m / v).

    References
    ----------
    Dredze, Crammer & Pereira 2008, eq. 12 and 16.
    """
    if not m < phi * v:
        return NO_STEP
    if phi == 0:
        return -m / v, mpf(0)
    root = mp.sqrt((1 + 2 * phi * m) ** 2 - 8 * phi * (m - phi * v))
    alpha = (-(1 + 2 * phi * m) + root) / (4 * phi * v)
    return alpha, 2 * alpha * phi


@_precise
def variance_exact(m: mpf, v: mpf, a: list[mpf], *, phi: mpf) -> Exact:
    """Confidence-weighted step for a covariance that is diagonal from the start.

    alpha >= 0 is the root of m + alpha v = phi sum_j a_j / (1 + 2 alpha phi a_j),
    gain = 2 alpha phi. At phi = 0 the equation itself gives alpha = -m / v.

    Parameters
    ----------
    m, v : float
        Margin and variance before the update; ``v`` is taken as the sum of ``a`` without rounding.
    a : array of shape (n_features,)
        Shares of the variance, a_j = sigma_j g_j^2.
    phi : float
        Normal quantile of the wanted probability.

    References
    ----------
    Dredze, Crammer & Pereira 2008, sec. 4.1.
    """
    v = mp.fsum(a)
    if not m < phi * v:
        return NO_STEP

    def excess(alpha: mpf) -> mpf:
        return m + alpha * v - phi * mp.fsum(a_j / (1 + 2 * alpha * phi * a_j) for a_j in a)

    # excess rises with alpha; it is negative at 0, and at the upper end it is phi (v - u) >= 0.
    low, high = mpf(0), (phi * v - m) / v
    while high - low > mpf("1e-22") * high:
        middle = (low + high) / 2
        if excess(middle) < 0:
            low = middle
        else:
            high = middle
    return high, 2 * high * phi


def _stdev_gain(alpha: mpf, v: mpf, phi: mpf) -> mpf:
    """Gain that goes with alpha (Crammer, Dredze & Pereira 2008, eq. 9 and 12)."""
    sqrt_u = (-alpha * v * phi + mp.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) / 2
    return alpha * phi / sqrt_u


def _stdev_alpha(m: mpf, v: mpf, phi: mpf) -> mpf:
    """Step of the mean (Crammer, Dredze & Pereira 2008, eq. 14)."""
    psi = 1 + phi**2 / 2
    xi = 1 + phi**2
    root = mp.sqrt(m**2 * phi**4 / 4 + v * phi**2 * xi)
    return max(mpf(0), (-m * psi + root) / (v * xi))


@_precise
def stdev(m: mpf, v: mpf, *, phi: mpf) -> Exact:
    """Confidence-weighted step under ``m >= phi sqrt(v)`` after the update.

    With psi = 1 + phi^2 / 2, xi = 1 + phi^2 and u the variance after the update:

    alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 xi)) / (v xi)),
    sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2, gain = alpha phi / sqrt(u).

    At phi = 0 these give alpha = max(0, -m / v), gain = 0.

    References
    ----------
    Crammer, Dredze & Pereira 2008, eq. 9, 12 and 14.
    """
    if not m < phi * mp.sqrt(v):
        return NO_STEP
    alpha = _stdev_alpha(m, v, phi)
    return alpha, _stdev_gain(alpha, v, phi)


@_precise
def arow(m: mpf, v: mpf, *, r: mpf, margin: mpf = ONE) -> Exact:
    """Adaptive regularisation: alpha = (1 - m) / (v + r), gain = 1 / r, if m < 1.

    References
    ----------
    Crammer, Kulesza & Dredze 2009.
    """
    if not m < margin:
        return NO_STEP
    return (margin - m) / (v + r), 1 / r


@_precise
def probit(m: mpf, v: mpf, *, noise: mpf) -> Exact:
    """Moments matched after one row of probit regression with noise variance ``noise``; always.

    With t = m / sqrt(noise + v), h = pdf(t) / cdf(t), w = h (h + t), beta = w / (noise + v):
    alpha = h / sqrt(noise + v), gain = beta / (1 - beta v).

    References
    ----------
    Minka 2001, assumed-density filtering; Graepel et al. 2010.
    """
    total = noise + v
    t = m / mp.sqrt(total)
    h = mp.npdf(t) / mp.ncdf(t)
    beta = h * (h + t) / total
    return h / mp.sqrt(total), beta / (1 - beta * v)


@_precise
def scw1(m: mpf, v: mpf, *, phi: mpf, C: mpf) -> Exact:
    """Soft Stdev with a linear slack: alpha = min(C, alpha of Stdev), gain = alpha phi / sqrt(u).

    At phi = 0: alpha = min(C, max(0, -m / v)), gain = 0.

    References
    ----------
    Wang, Zhao & Hoi 2012, proposition 1.
    """
    if not m < phi * mp.sqrt(v):
        return NO_STEP
    alpha = min(C, _stdev_alpha(m, v, phi))
    return alpha, _stdev_gain(alpha, v, phi)


@_precise
def scw2(m: mpf, v: mpf, *, phi: mpf, C: mpf) -> Exact:
    """Soft Stdev with a squared slack.

    With n = v + 1 / (2 C) and gamma = phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2)):
    alpha = max(0, (-(2 m n + phi^2 m v) + gamma) / (2 (n^2 + n v phi^2))),
    gain = alpha phi / sqrt(u). At phi = 0: alpha = max(0, -m / n), gain = 0.

    References
    ----------
    Wang, Zhao & Hoi 2012, proposition 2.
    """
    if not m < phi * mp.sqrt(v):
        return NO_STEP
    n = v + 1 / (2 * C)
    gamma = phi * mp.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
    alpha = (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2))
    alpha = max(mpf(0), alpha)
    return alpha, _stdev_gain(alpha, v, phi)


@_precise
def nherd(m: mpf, v: mpf, *, C: mpf, margin: mpf = ONE) -> Exact:
    """Normal herding: alpha = (1 - m) / (v + 1 / C), gain = 2 C + C^2 v, if m < 1.

    References
    ----------
    Crammer & Lee 2010.
    """
    if not m < margin:
        return NO_STEP
    return (margin - m) / (v + 1 / C), 2 * C + C**2 * v


@_precise
def sop(m: mpf, v: mpf) -> Exact:
    """Second-order perceptron: alpha = (1 - m) / (1 + v), gain = 1, if m <= 0.

    With mu = A^-1 k and sigma = A^-1 this is the paper's k += y x, A += x x'.

    References
    ----------
    Cesa-Bianchi, Conconi & Gentile 2005.
    """
    if not m <= 0:
        return NO_STEP
    return (1 - m) / (1 + v), mpf(1)


@_precise
def perceptron(m: mpf, v: mpf) -> Exact:
    """Perceptron: alpha = 1 if m <= 0; sigma stays the identity."""
    if not m <= 0:
        return NO_STEP
    return mpf(1), mpf(0)


@_precise
def pa(m: mpf, v: mpf, *, margin: mpf = ONE) -> Exact:
    """Passive-aggressive: alpha = (1 - m) / v if m < 1, v = |g|^2.

    References
    ----------
    Crammer et al. 2006; Dredze, Crammer & Pereira 2008, eq. 2 and 3.
    """
    if not m < margin:
        return NO_STEP
    return (margin - m) / v, mpf(0)


@_precise
def pa1(m: mpf, v: mpf, *, C: mpf, margin: mpf = ONE) -> Exact:
    """Passive-aggressive with a linear slack: alpha = min(C, (1 - m) / v) if m < 1.

    References
    ----------
    Crammer et al. 2006, PA-I.
    """
    if not m < margin:
        return NO_STEP
    return min(C, (margin - m) / v), mpf(0)


@_precise
def pa2(m: mpf, v: mpf, *, C: mpf, margin: mpf = ONE) -> Exact:
    """Passive-aggressive with a squared slack: alpha = (1 - m) / (v + 1 / (2 C)) if m < 1.

    References
    ----------
    Crammer et al. 2006, PA-II.
    """
    if not m < margin:
        return NO_STEP
    return (margin - m) / (v + 1 / (2 * C)), mpf(0)


REGISTRY: dict[str, Callable[..., Step]] = {
    "variance": variance,
    "variance-exact": variance_exact,
    "stdev": stdev,
    "arow": arow,
    "probit": probit,
    "scw1": scw1,
    "scw2": scw2,
    "nherd": nherd,
    "sop": sop,
    "perceptron": perceptron,
    "pa": pa,
    "pa1": pa1,
    "pa2": pa2,
}

# Parameters of each rule. The margin, which a misclassification cost changes, is none of them.
_NO_PARAMETERS = {"m", "v", "a", "margin"}
PARAMETERS = {
    name: tuple(key for key in inspect.signature(rule).parameters if key not in _NO_PARAMETERS)
    for name, rule in REGISTRY.items()
}

# Rules that move the mean only: sigma stays the identity, so v = |g|^2.
FIRST_ORDER = frozenset({"perceptron", "pa", "pa1", "pa2"})

# Soft rules: the parameter that trades the loss against staying put, and its value at weight w.
_TRADE_OFF: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "arow": ("r", lambda r, w: r / w),
    "probit": ("noise", lambda noise, w: noise / w),
    "scw1": ("C", lambda C, w: C * w),
    "scw2": ("C", lambda C, w: C * w),
    "nherd": ("C", lambda C, w: C * w),
    "pa1": ("C", lambda C, w: C * w),
    "pa2": ("C", lambda C, w: C * w),
}


def weighted(
    name: str, m: float, v: float, w: float, a: np.ndarray | None = None, **params: float
) -> Step:
    """Step of rule ``name`` for a sample of weight ``w`` > 0.

    A soft rule scales its own trade-off by the weight. A hard rule has none, so its whole step is
    scaled, and never stretched: (alpha, gain) times min(1, w).
    """
    rule = REGISTRY[name]
    if name in _TRADE_OFF:
        parameter, scale = _TRADE_OFF[name]
        return rule(m, v, **{**params, parameter: scale(params[parameter], w)})
    shares = () if name != "variance-exact" else (a,)
    alpha, gain = rule(m, v, *shares, **params)
    return min(1.0, w) * alpha, min(1.0, w) * gain
