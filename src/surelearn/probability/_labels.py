"""Probabilities of labels from means and variances of scores, and the temperature of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check, _core

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[np.float64]

#: Number of normal deviates drawn at a time: 16 MB.
_BLOCK = 1 << 21


def label_probabilities(mean: ArrayLike, variance: ArrayLike, *, log: bool = False) -> Array:
    r"""Probability that each label has the largest score.

    The scores of one row are independent and normal:

    .. math:: \Pr[y] = \int N(t; s_y, v_y) \prod_{z \ne y} \Phi\Big(\frac{t - s_z}{\sqrt{v_z}}\Big)
        dt, \qquad \Pr[1] = \Phi\Big(\frac{s_1 - s_0}{\sqrt{v_0 + v_1}}\Big)
        \text{ for two labels.}

    Parameters
    ----------
    mean : array-like of shape (n, K) or (n,)
        Means :math:`s` of the scores. If one-dimensional, means of the margin of two classes, which
        is positive for the second.
    variance : array-like of the same shape
        Variances :math:`v` of the scores. Equal scores of variance 0 share the probability.
    log : bool, default False
        Whether to return logarithms, which do not underflow. This is slower: every unlikely label
        needs a separate integral.

    Returns
    -------
    p : ndarray of shape (n, K) or (n, 2)
        Probabilities to 1e-9, in rows that sum to one; or logarithms to a relative 1e-6.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 4, who
    sample. The integral is exact for independent scores.

    Examples
    --------
    >>> label_probabilities([0.0, 3.0], [1.0, 1.0]).round(4)
    array([[0.5   , 0.5   ],
           [0.0013, 0.9987]])
    >>> label_probabilities([[0.0, 100.0, 0.0]], [[1.0, 1.0, 1.0]], log=True).round(1)
    array([[-2505.2,     0. , -2505.2]])
    """
    m, v = _moments(mean, variance)
    log = _check.flag("log", log)
    return _core.label_probabilities(*_columns(m, v), log)


def _columns(m: Array, v: Array) -> tuple[Array, Array]:
    """The moments of one margin as those of two scores: the constant 0, and the margin."""
    if m.ndim == 2:
        return m, v
    zero = np.zeros_like(m)
    return np.stack([zero, m], axis=1), np.stack([zero, v], axis=1)


def sample_probabilities(
    mean: ArrayLike,
    covariance: ArrayLike,
    n_samples: int,
    random: np.random.Generator,
) -> Array:
    r"""Share of random draws of the scores in which each label wins.

    Use it for dependent scores; for independent ones `label_probabilities` is exact and faster. The
    standard error of a probability p is :math:`\sqrt{p (1 - p) / n}`. All rows share the same
    draws, so the result of a row does not depend on the other rows.

    Parameters
    ----------
    mean : array-like of shape (n, K)
        Means of the scores.
    covariance : array-like of shape (n, K) or (n, K, K)
        Variances of independent scores, or the full covariance matrix of each row, which may be
        singular.
    n_samples : int
        Number of draws.
    random : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    p : ndarray of shape (n, K)

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 4.

    Examples
    --------
    >>> same = [[[1.0, 1.0], [1.0, 1.0]]]  # both scores move together: the larger mean wins
    >>> sample_probabilities([[0.1, 0.0]], same, 1000, np.random.default_rng(0))
    array([[1., 0.]])
    """
    m = _check.numbers("mean", mean)
    if m.ndim != 2 or m.shape[1] < 2:
        raise ValueError(f"mean must have shape (n, K) with K >= 2, got shape {m.shape}.")
    c = _covariance(covariance, (m.shape[0], m.shape[1]))
    if not isinstance(random, np.random.Generator):
        raise TypeError(f"random must be a numpy.random.Generator, got {random!r}.")
    n_samples = _check.count("n_samples", n_samples)
    return _sampled(m, _roots(c), n_samples, random)


def _sampled(m: Array, roots: Array, n_samples: int, random: np.random.Generator) -> Array:
    """Sample in blocks to save memory, with the same draws for every row."""
    n, n_classes = m.shape
    wins = np.zeros(m.shape)
    draws = max(1, min(n_samples, _BLOCK // n_classes))
    step = max(1, _BLOCK // (n_classes * draws))
    for done in range(0, n_samples, draws):
        normal = random.standard_normal((min(draws, n_samples - done), n_classes))
        for first in range(0, n, step):
            rows = slice(first, first + step)
            scores = _spread(normal, roots[rows]) + m[rows, None]
            wins[rows] += _wins(scores)
    return wins / n_samples


def _roots(c: Array) -> Array:
    """The standard deviations, or a square root of each covariance matrix."""
    if c.ndim == 2:
        return np.sqrt(c)
    # Not the Cholesky factor, which does not exist for a singular covariance.
    values, vectors = np.linalg.eigh(c)
    values[values < 1e-13 * values[:, -1:]] = 0.0  # the root of a rounding error is none
    roots: Array = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
    return roots


def _spread(normal: Array, roots: Array) -> Array:
    """Give standard normals, (draw, class) or (row, draw, class), the covariance of each row."""
    apart = roots.ndim == 2
    spread: Array = normal * roots[:, None] if apart else normal @ roots.transpose(0, 2, 1)
    return spread


def _wins(scores: Array) -> Array:
    """The number of draws that each label wins; ties, up to rounding, share a draw."""
    rounding = 1e-9 * np.abs(scores).max(axis=2, keepdims=True)
    best = scores >= scores.max(axis=2, keepdims=True) - rounding
    wins: Array = (best / best.sum(axis=2, keepdims=True)).sum(axis=1)
    return wins


def entropy(p: ArrayLike) -> Array:
    r"""Normalised entropy of each row: 0 for a certain label, 1 if all are equally likely.

    .. math:: H = -\frac{1}{\log K} \sum_z p_z \log p_z, \qquad 0 \log 0 = 0

    Parameters
    ----------
    p : array-like of shape (n, K)
        Label probabilities.

    Returns
    -------
    H : ndarray of shape (n,)

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 7.

    Examples
    --------
    >>> entropy([[0.5, 0.5], [1.0, 0.0]])
    array([1., 0.])
    """
    rows = _check.probabilities(p)
    terms = rows * np.log(np.where(rows > 0, rows, 1.0))
    share: Array = terms.sum(axis=1) / np.log(rows.shape[1])
    return np.clip(0.0 - share, 0.0, 1.0)  # 0.0 - x, unlike -x, is never -0.0


def fit_temperature(
    mean: ArrayLike, variance: ArrayLike, y: ArrayLike, *, shrink: bool = False
) -> float:
    r"""The factor of the standard deviations that maximises the likelihood of held-out labels.

    .. math:: \tau = \arg\min_\tau -\frac1n \sum_i \log \Pr[y_i; s_i, \tau^2 v_i],
        \qquad 10^{-4} \le \tau \le 10^4

    Parameters
    ----------
    mean, variance : array-like of shape (n, K) or (n,)
        As in `label_probabilities`. If `variance` has shape (n, K, K), as in
        `sample_probabilities`, probabilities are estimated from 500 draws.
    y : array-like of shape (n,)
        The column of the true label of each row; 0 or 1 for the margins of two classes.
    shrink : bool, default False
        Whether :math:`\log \tau` has a standard normal prior, which counts as one more row.

    Returns
    -------
    tau : float
        Multiply variances by ``tau ** 2``. Without `shrink` it is near a bound if every label is
        predicted right, or if the scores are uninformative.

    Notes
    -----
    :math:`\Pr[y]` is log-concave in the means, so the loss is convex in :math:`1 / \tau` and has
    one minimum. Rows whose label is impossible for every tau are ignored.

    Examples
    --------
    >>> tau = fit_temperature([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1, 1, 1, 0])
    >>> round(tau, 4)  # normal_cdf(1 / tau) = 3/4
    1.4826
    """
    if np.ndim(variance) == 3:
        return _fit_sampled(_check.numbers("mean", mean), variance, y, shrink=shrink)
    m, v = _columns(*_moments(mean, variance))
    places = _check.known_labels(y, np.arange(m.shape[1]), len(m), "y")
    possible = np.isfinite(_log_probability(m, v, places, np.exp(_LARGEST)))
    m, v, places = m[possible], v[possible], places[possible]
    return best_temperature(lambda tau: _log_probability(m, v, places, tau), shrink=shrink)


def best_temperature(
    log_probabilities: Callable[[float], Array], *, shrink: bool = False, near: float = 1e-6
) -> float:
    """As `fit_temperature`, for any model of the labels.

    Parameters
    ----------
    log_probabilities : callable
        A function of tau that returns the log-probability of each true label.
    shrink : bool, default False
    near : float, default 1e-6
        The accuracy of ``log(tau)``.

    Returns
    -------
    tau : float
        Within the bounds of `fit_temperature`.

    Examples
    --------
    >>> m, y = np.array([1.0, 1.0, 1.0, 1.0]), np.array([1, 1, 1, -1])
    >>> round(best_temperature(lambda tau: -np.logaddexp(0.0, -y * m / tau)), 4)
    0.9102
    """

    def loss(log_tau: float) -> float:
        found = -log_probabilities(float(np.exp(log_tau)))
        return float((found.sum() + shrink * 0.5 * log_tau**2) / (len(found) + shrink))

    return float(np.exp(_minimum(loss, near))) if len(log_probabilities(1.0)) else 1.0


def _fit_sampled(m: Array, covariance: ArrayLike, y: ArrayLike, *, shrink: bool) -> float:
    """The same for dependent scores, with the same draws for every tau."""
    roots = _roots(_covariance(covariance, (m.shape[0], m.shape[1])))
    places = _check.known_labels(y, np.arange(m.shape[1]), len(m), "y")

    def log_probabilities(tau: float) -> Array:
        p = _own_share(m, roots * tau, places)
        return np.asarray(np.log(np.maximum(p, 0.5 / _DRAWS)))

    # More digits would only fit the noise of the draws.
    return best_temperature(log_probabilities, shrink=shrink, near=1e-3)


def _own_share(m: Array, roots: Array, places: NDArray[np.int64]) -> Array:
    """Share of draws that the true label wins. Each row has separate draws, so that their errors
    average out. They are the same at every call."""
    random = np.random.default_rng(0)
    share = np.zeros(len(m))
    step = max(1, _BLOCK // (m.shape[1] * _DRAWS))
    for first in range(0, len(m), step):
        rows = slice(first, first + step)
        normal = random.standard_normal((len(m[rows]), _DRAWS, m.shape[1]))
        scores = _spread(normal, roots[rows]) + m[rows, None]
        share[rows] = (scores.argmax(axis=2) == places[rows, None]).mean(axis=1)
    return share


#: Number of draws a row, for the temperature of dependent scores.
_DRAWS = 500

#: The bound of log tau, and the step of the first grid.
_LARGEST = float(np.log(1e4))
_STEP = _LARGEST / 8


def _log_probability(m: Array, v: Array, places: NDArray[np.int64], tau: float) -> Array:
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.clip(v * tau**2, limits.tiny, 1e300)
    return _core.log_probability_of(m, np.where(v > 0, scaled, 0.0), places)


def _minimum(loss: Callable[[float], float], near: float) -> float:
    """The log tau with the smallest loss, by golden section; ties go to the one nearest to 0."""
    grid = _STEP * np.arange(-8, 9)
    losses = [loss(x) for x in grid]
    best = min(range(len(grid)), key=lambda i: (losses[i], abs(grid[i])))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > near:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    found = float(0.5 * (low + high))
    return found if loss(found) < losses[best] else float(grid[best])


def _moments(mean: object, variance: object) -> tuple[Any, Any]:
    """Means and variances of scores: finite, of the same shape, no variance negative."""
    m, v = _check.numbers("mean", mean), _check.numbers("variance", variance)
    if m.ndim not in (1, 2):
        raise ValueError(f"mean must have one or two dimensions, got shape {m.shape}.")
    if m.ndim == 2 and m.shape[1] < 2:
        raise ValueError(f"mean must have a column for each of two or more classes, got {m.shape}.")
    if v.shape != m.shape:
        raise ValueError(f"variance must have shape {m.shape} like mean, got shape {v.shape}.")
    if (v < 0).any():
        raise ValueError(f"variance must not be negative, got {v[v < 0][0]}.")
    return m, v


def _covariance(value: object, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Variances (n, K) or covariances (n, K, K) of scores of shape (n, K)."""
    c = _check.numbers("covariance", value)
    if c.shape not in (shape, (*shape, shape[1])):
        raise ValueError(
            f"covariance must have shape {shape} or {(*shape, shape[1])}, got shape {c.shape}."
        )
    diagonal = c if c.ndim == 2 else np.diagonal(c, axis1=1, axis2=2)
    if (diagonal < 0).any():
        raise ValueError(f"covariance must not be negative, got {diagonal[diagonal < 0][0]}.")
    return c
