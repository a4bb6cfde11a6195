r"""Room 7, probability: means and variances of scores in, label probabilities out.

Must not know weights, rules or estimators.

>>> from surelearn.probability import label_probabilities
>>> label_probabilities([[1.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]]).round(3)
array([[0.634, 0.183, 0.183]])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check, _core

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Reliability",
    "entropy",
    "fit_temperature",
    "label_probabilities",
    "reliability",
    "sample_probabilities",
]

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
    m, v = _check.score_moments(mean, variance)
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
    c = _check.covariance(covariance, (m.shape[0], m.shape[1]))
    _check.generator(random)
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


@dataclass(frozen=True, eq=False)
class Reliability:
    """How well probabilities match errors, as returned by `reliability`.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
        Bin b holds predictions of probability in ``[edges[b], edges[b + 1])``; the last bin
        includes 1.
    count : ndarray of shape (bins,)
        Number of predictions in each bin.
    mean_probability : ndarray of shape (bins,)
        Their mean probability; NaN in an empty bin.
    error_share : ndarray of shape (bins,)
        Wrong predictions in the bin / all rows. Sums to the error.
    conditional_error : ndarray of shape (bins,)
        Wrong predictions in the bin / predictions in the bin; NaN in an empty bin. It falls from
        bin to bin if probabilities are informative, and equals one minus `mean_probability` if they
        are calibrated.
    right_probability, wrong_probability : float
        Mean probability of right and of wrong predictions; NaN if there are none.
    entropy : float
        Mean of the normalised entropy.
    error : float
        Wrong predictions / all rows.
    calibration_error : float
        Mean distance between the probability of predictions and the share of right ones, weighted
        by the counts of the bins; 0 for calibrated probabilities.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 7. The
    calibration error: Guo, Pleiss, Sun & Weinberger 2017, On Calibration of Modern Neural Networks,
    eq. 3.
    """

    edges: Array
    count: NDArray[np.int64]
    mean_probability: Array
    error_share: Array
    conditional_error: Array
    right_probability: float
    wrong_probability: float
    entropy: float

    @property
    def error(self) -> float:
        return float(self.error_share.sum())

    @property
    def calibration_error(self) -> float:
        share = self.count / max(1, self.count.sum())
        apart = np.abs(1.0 - self.conditional_error - self.mean_probability)
        return float(np.nansum(share * apart))

    def __str__(self) -> str:
        lines = ["   bin         count  mean prob  error share  error in bin"]
        for b, count in enumerate(self.count):
            low, high = self.edges[b], self.edges[b + 1]
            end = "]" if b == len(self.count) - 1 else ")"
            numbers = (self.mean_probability[b], self.error_share[b], self.conditional_error[b])
            mean, share, inside = ("-" if np.isnan(x) else f"{x:.4f}" for x in numbers)
            lines.append(
                f"[{low:.3f}, {high:.3f}{end} {count:7d} {mean:>10} {share:>12} {inside:>13}"
            )
        lines.append(
            f"mean probability: right {self.right_probability:.4f}, "
            f"wrong {self.wrong_probability:.4f}; mean entropy {self.entropy:.4f}"
        )
        return "\n".join(lines)


def reliability(
    y: ArrayLike,
    p: ArrayLike,
    classes: ArrayLike,
    *,
    bins: int = 10,
    y_pred: ArrayLike | None = None,
) -> Reliability:
    """Compare the probabilities of predictions with the share of right ones.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    p : array-like of shape (n, K)
        Label probabilities.
    classes : array-like of shape (K,)
        The label of each column, sorted, as in ``classes_`` of an estimator.
    bins : int, default 10
        Number of equal parts of [0, 1].
    y_pred : array-like of shape (n,), optional
        Predicted labels. The default is the most probable ones.

    Returns
    -------
    result : Reliability

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 7.

    Examples
    --------
    >>> r = reliability(["a", "b", "b"], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["a", "b"], bins=2)
    >>> r.count, r.conditional_error.round(3)
    (array([0, 3]), array([  nan, 0.333]))
    """
    rows = _check.probabilities(p)
    bins = _check.count("bins", bins)
    labels = _check.sorted_classes(classes, rows.shape[1])
    truth = _check.known_labels(y, labels, len(rows), "y")
    if y_pred is None:
        predicted: NDArray[np.intp] = rows.argmax(axis=1)
    else:
        predicted = _check.known_labels(y_pred, labels, len(rows), "y_pred")
    confidence = rows[np.arange(len(rows)), predicted]
    table = Bins(bins)
    table.add(confidence, predicted != truth, entropy(rows))
    return table.reliability()


class Bins:
    """The sums behind a `Reliability`, over batches of predictions.

    >>> bins = Bins(2)
    >>> bins.add(np.array([0.9, 0.8]), np.array([False, True]), np.array([0.5, 0.7]))
    >>> bins.reliability().error
    0.5
    """

    def __init__(self, bins: int) -> None:
        self._edges = np.arange(bins + 1) / bins
        # First row: right predictions; second row: wrong ones.
        self._count = np.zeros((2, bins), dtype=np.int64)
        self._probability = np.zeros((2, bins))
        self._entropy = 0.0

    def add(self, confidence: Array, wrong: NDArray[np.bool_], entropy: Array) -> None:
        """Add a batch: the probability of each prediction, whether it is wrong, its entropy."""
        bins = len(self._edges) - 1
        bin_of = np.minimum(np.searchsorted(self._edges, confidence, side="right") - 1, bins - 1)
        for side, rows in enumerate((~wrong, wrong)):
            self._count[side] += np.bincount(bin_of[rows], minlength=bins)
            self._probability[side] += np.bincount(bin_of[rows], confidence[rows], bins)
        self._entropy += float(entropy.sum())

    def reliability(self) -> Reliability:
        count, errors = self._count.sum(axis=0), self._count[1]
        some, n = np.where(count > 0, count, np.nan), count.sum()
        right, wrong = (
            _ratio(total, number)
            for total, number in zip(self._probability.sum(1), self._count.sum(1), strict=True)
        )
        return Reliability(
            edges=self._edges,
            count=count,
            mean_probability=self._probability.sum(axis=0) / some,
            error_share=errors / max(1, n),
            conditional_error=errors / some,
            right_probability=right,
            wrong_probability=wrong,
            entropy=_ratio(self._entropy, n),
        )


def _ratio(total: float, number: int) -> float:
    return float(total / number) if number else float("nan")


def fit_temperature(mean: ArrayLike, variance: ArrayLike, y: ArrayLike) -> float:
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

    Returns
    -------
    tau : float
        Multiply variances by ``tau ** 2``. It is near a bound if every label is predicted right,
        or if the scores are uninformative.

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
        return _fit_sampled(_check.numbers("mean", mean), variance, y)
    m, v = _columns(*_check.score_moments(mean, variance))
    places = _check.known_labels(y, np.arange(m.shape[1]), len(m), "y")
    possible = np.isfinite(_log_probability(m, v, places, _LARGEST))
    m, v, places = m[possible], v[possible], places[possible]
    if not len(m):
        return 1.0
    return float(np.exp(_minimum(lambda log_tau: -_log_probability(m, v, places, log_tau).mean())))


def best_temperature(log_probabilities: Callable[[float], Array]) -> float:
    """As `fit_temperature`, for any model of the labels.

    Parameters
    ----------
    log_probabilities : callable
        A function of tau that returns the log-probability of each true label.

    Returns
    -------
    tau : float
        Within the bounds of `fit_temperature`.
    """
    if not len(log_probabilities(1.0)):
        return 1.0
    return float(
        np.exp(_minimum(lambda log_tau: -log_probabilities(float(np.exp(log_tau))).mean()))
    )


def _fit_sampled(m: Array, covariance: ArrayLike, y: ArrayLike) -> float:
    """The same for dependent scores, with the same draws for every tau."""
    roots = _roots(_check.covariance(covariance, (m.shape[0], m.shape[1])))
    places = _check.known_labels(y, np.arange(m.shape[1]), len(m), "y")

    def loss(log_tau: float) -> float:
        p = _own_share(m, roots * np.exp(log_tau), places)
        return float(-np.log(np.maximum(p, 0.5 / _DRAWS)).mean())

    # More digits would only fit the noise of the draws.
    return float(np.exp(_minimum(loss, near=1e-3))) if len(m) else 1.0


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


def _log_probability(m: Array, v: Array, places: NDArray[np.int64], log_tau: float) -> Array:
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.clip(v * np.exp(2.0 * log_tau), limits.tiny, 1e300)
    return _core.log_probability_of(m, np.where(v > 0, scaled, 0.0), places)


def _minimum(loss: Callable[[float], Any], near: float = 1e-6) -> float:
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
