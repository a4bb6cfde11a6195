"""From margins of problems to scores of classes; the largest score, first of equals, is the label.

A score is a sum over problems, taken in their order for each row by itself: what a row gets does
not depend on the rows beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import log_ndtr

from surelearn import _check
from surelearn.decode._code import Code

__all__ = [
    "hamming",
    "label_probabilities",
    "loss_based",
    "probability",
    "scores",
    "tournament",
    "votes",
]

Array = NDArray[np.float64]


def _total(code: Code, positive: Array, negative: Array, left_out: float = 0.0) -> Array:
    """Sum over problems of what each gives its positive, its negative and its other classes."""
    # Not a product of dense matrices, whose rounding would depend on the number of rows and on the
    # machine; and all pairs are mostly zeros.
    signs = np.hstack([code.matrix > 0, code.matrix < 0])
    entries = sparse.csr_array(signs.astype(np.float64))
    given = np.ascontiguousarray(np.hstack([positive, negative]).T)
    zeros = (code.matrix == 0).sum(axis=1)
    total: Array = np.ascontiguousarray((entries @ given).T) + left_out * zeros
    return total


def _margins(code: Code, mean: object) -> Array:
    if not isinstance(code, Code):
        raise TypeError(f"code must be a Code, got {code!r}.")
    m = _check.numbers("mean", mean)
    if m.ndim != 2 or m.shape[1] != code.n_problems:
        raise ValueError(
            f"mean must have shape (n, {code.n_problems}), a column for each problem, got shape "
            f"{m.shape}."
        )
    return m


def _moments(code: Code, mean: object, variance: object) -> tuple[Array, Array]:
    m, v = _margins(code, mean), _check.numbers("variance", variance)
    if v.shape != m.shape:
        raise ValueError(f"variance must have shape {m.shape} as mean has, got shape {v.shape}.")
    if (v < 0).any():
        raise ValueError(f"variance must not be negative, got {v[v < 0][0]}.")
    return m, v


def _pairs(who: str, code: Code, mean: object) -> Array:
    """Margins of a code that has one problem for every two classes, in any order."""
    m = _margins(code, mean)
    K, B = code.matrix.shape
    if B != K * (K - 1) // 2 or ((code.matrix != 0).sum(axis=0) != 2).any():
        raise ValueError(f"{who} needs a code with a problem for every two classes, got {code!r}.")
    return m


def hamming(code: Code, mean: ArrayLike) -> Array:
    r"""Count the problems whose sign agrees with the row of each class.

    .. math:: s_k = \sum_b \frac{1 + c_{kb} \operatorname{sign} M_b}2

    A margin of exactly 0 counts a half for all classes, and so does a problem that leaves the class
    out. For all pairs these are the votes of each class and a constant.

    Parameters
    ----------
    code : Code
    mean : array-like of shape (n, n_problems)
        Margins :math:`M` of rows.

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        `n_problems` less the Hamming distance to each row of the code.

    References
    ----------
    Dietterich & Bakiri 1995, Solving Multiclass Learning Problems via Error-Correcting Output
    Codes; with zeros: Allwein, Schapire & Singer 2000.

    Examples
    --------
    >>> from surelearn.decode import one_vs_rest
    >>> hamming(one_vs_rest(3), [[-1.0, 2.0, -1.0]])
    array([[1., 3., 1.]])
    """
    sign = np.sign(_margins(code, mean))
    return _total(code, (1.0 + sign) / 2, (1.0 - sign) / 2, 0.5)


def _exponential(z: Array) -> Array:
    # Where a double ends; larger margins would make every class equally bad.
    loss: Array = np.exp(np.minimum(-z, 700.0))
    return loss


#: Losses of a margin z, positive if right.
_LOSSES: dict[str, Callable[[Array], Array]] = {
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "exponential": _exponential,
    "linear": lambda z: -z,
}


def loss_based(code: Code, mean: ArrayLike, *, loss: str = "hinge") -> Array:
    r"""The loss that each class would have, with its sign turned.

    .. math:: s_k = -\sum_b L(c_{kb} M_b)

    Parameters
    ----------
    code : Code
    mean : array-like of shape (n, n_problems)
        Margins :math:`M` of rows.
    loss : {"hinge", "logistic", "exponential", "linear"}, default "hinge"
        :math:`L(z)`: :math:`\max(0, 1 - z)`, :math:`\log(1 + e^{-z})`, :math:`e^{-z}` (at most
        :math:`e^{700}`) or :math:`-z`. Without zeros in the code the linear one chooses the row
        that is nearest to the margins.

    Returns
    -------
    s : ndarray of shape (n, n_classes)

    References
    ----------
    Allwein, Schapire & Singer 2000, Reducing Multiclass to Binary.

    Examples
    --------
    >>> from surelearn.decode import one_vs_rest
    >>> loss_based(one_vs_rest(3), [[-1.0, 2.0, -1.0]])
    array([[-5.,  0., -5.]])
    """
    m = _margins(code, mean)
    L = _LOSSES[_check.choice("loss", loss, _LOSSES)]
    return _total(code, -L(m), -L(-m), -float(L(np.zeros(1))[0]))


#: Standard deviations beyond which a margin is certain; half the square of it is still a number.
_CERTAIN = 1e150


def probability(code: Code, mean: ArrayLike, variance: ArrayLike) -> Array:
    r"""Log-probability that the problems would answer with the row of each class.

    .. math:: s_k = \sum_b \log \Phi\Big(\frac{c_{kb} M_b}{\sqrt{V_b}}\Big)

    if problems are independent. A problem that leaves the class out tells nothing of it:
    :math:`\Phi(0) = 1/2`, as for a fair coin, so that classes with many zeros are not favoured. A
    problem that is sure has more to say than one that has seen little; to `hamming` they are equal.

    Parameters
    ----------
    code : Code
    mean, variance : array-like of shape (n, n_problems)
        Margins :math:`M` of rows and their variances :math:`V`. A margin of variance 0 is certain;
        if every class contradicts such margins the one that contradicts fewest is ahead.

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        Finite. `label_probabilities` brings them to sum to one.

    Examples
    --------
    >>> from surelearn.decode import minimal_bits
    >>> probability(minimal_bits(3), [[1.0, 2.0]], [[1.0, 100.0]]).round(3)
    array([[-2.707, -2.387, -1.038]])
    """
    m, v = _moments(code, mean, variance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(m == 0, 0.0, m / np.sqrt(v))
    z = np.clip(z, -_CERTAIN, _CERTAIN)
    return _total(code, log_ndtr(z), log_ndtr(-z), float(np.log(0.5)))


def label_probabilities(
    code: Code, mean: ArrayLike, variance: ArrayLike, *, log: bool = False
) -> Array:
    r"""Probability of each label, given that the answers are the row of some class.

    .. math:: \Pr[k] = \frac{e^{s_k}}{\sum_l e^{s_l}}, \qquad
        s_k = \sum_b \log \Phi\Big(\frac{c_{kb} M_b}{\sqrt{V_b}}\Big)

    For two classes it is :math:`\Phi(M / \sqrt V)` of the one margin.

    Parameters
    ----------
    code : Code
    mean, variance : array-like of shape (n, n_problems)
        As in `probability`.
    log : bool, default False
        Whether to return logarithms, which do not underflow.

    Returns
    -------
    p : ndarray of shape (n, n_classes)
        Rows sum to one.

    Examples
    --------
    >>> from surelearn.decode import minimal_bits
    >>> label_probabilities(minimal_bits(3), [[1.0, 2.0]], [[1.0, 100.0]]).round(3)
    array([[0.13 , 0.179, 0.691]])
    """
    log = _check.flag("log", log)
    s = probability(code, mean, variance)
    s -= s.max(axis=1, keepdims=True)
    s -= np.log(np.exp(s).sum(axis=1, keepdims=True))
    return s if log else np.exp(s)


def scores(code: Code, mean: ArrayLike) -> Array:
    r"""Sum of the margins with the signs that each class has in them.

    .. math:: s_k = \sum_b c_{kb} M_b, \qquad
        \text{all pairs: } s_i = \sum_{j > i} M_{ij} - \sum_{j < i} M_{ji}

    Parameters
    ----------
    code : Code
    mean : as of `hamming`

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        For one-vs-rest with three or more classes the margins themselves, which have the same
        order.

    Examples
    --------
    >>> from surelearn.decode import all_pairs
    >>> scores(all_pairs(3), [[-1.0, 5.0, 1.0]])
    array([[ 4.,  2., -6.]])
    """
    m = _margins(code, mean)
    if code.kind == "ovr" and code.n_classes > 2:
        return m.copy()
    return _total(code, m, -m)


def votes(code: Code, mean: ArrayLike) -> Array:
    r"""How many of its pairs each class wins; of those with equally many, by their `scores`.

    .. math:: \text{votes}_i + \frac{s_i}{4 (1 + |s_i|)}

    A margin of exactly 0 is half a vote for both.

    Parameters
    ----------
    code : Code
        A problem for every two classes, as of `all_pairs`.
    mean : as of `hamming`

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        The second term stays below a quarter, so that it settles ties and nothing else. `hamming`
        leaves them to the order of the classes.

    Examples
    --------
    >>> from surelearn.decode import all_pairs
    >>> votes(all_pairs(3), [[-1.0, 5.0, 1.0]]).round(2)
    array([[ 1.2 ,  2.17, -0.21]])
    """
    m = _pairs("votes", code, mean)
    sign = np.sign(m)
    s = _total(code, m, -m)
    return _total(code, (1.0 + sign) / 2, (1.0 - sign) / 2) + s / (4.0 * (1.0 + np.abs(s)))


def tournament(code: Code, mean: ArrayLike) -> Array:
    """The number of rounds that each class stays in, where the loser of a pair is out.

    Neighbours in the order of the classes meet, winners meet again, one without a partner goes on;
    of equals the first goes on. K - 1 margins of K (K - 1) / 2 settle the label. A class that beats
    every other one wins; if there is none the label depends on the order of the classes.

    Parameters
    ----------
    code, mean : as of `votes`

    Returns
    -------
    rounds : ndarray of shape (n, n_classes)

    Examples
    --------
    >>> from surelearn.decode import all_pairs
    >>> tournament(all_pairs(3), [[-1.0, 5.0, 1.0]])  # 1 beats 0, then 2
    array([[0., 2., 1.]])
    """
    m = _pairs("tournament", code, mean)
    problem, sign = _meetings(code)
    row = np.arange(len(m))[:, None]
    left_in = np.tile(np.arange(code.n_classes), (len(m), 1))
    rounds = np.zeros((len(m), code.n_classes))
    while left_in.shape[1] > 1:
        paired = left_in.shape[1] // 2 * 2
        first, second = left_in[:, 0:paired:2], left_in[:, 1:paired:2]
        ahead = sign[first, second] * m[row, problem[first, second]] >= 0
        left_in = np.hstack([np.where(ahead, first, second), left_in[:, paired:]])
        rounds[row, left_in] += 1
    return rounds


def _meetings(code: Code) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For every two classes, the problem that compares them and the sign of the first in it."""
    i, j = (code.matrix > 0).argmax(axis=0), (code.matrix < 0).argmax(axis=0)
    problem = np.zeros((code.n_classes, code.n_classes), np.intp)
    sign = np.ones_like(problem)
    problem[i, j] = problem[j, i] = np.arange(code.n_problems)
    sign[j, i] = -1
    return problem, sign
