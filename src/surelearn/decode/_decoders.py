"""Decoders: from margins of problems to scores of classes; must not know weights or rules.

A score is a sum over problems, in their order and for each row alone, so the score of a row does
not depend on the rows around it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

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
    """Sum over problems of what each adds to its positive, negative and other classes."""
    # A sparse product: the rounding of a dense one would depend on the number of rows and on the
    # machine. Besides, the code of all pairs is mostly zeros.
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
        raise ValueError(f"variance must have shape {m.shape} like mean, got shape {v.shape}.")
    if (v < 0).any():
        raise ValueError(f"variance must not be negative, got {v[v < 0][0]}.")
    return m, v


def _pairs(who: str, code: Code, mean: object) -> Array:
    """The margins; raises unless the code has one problem for every two classes."""
    m = _margins(code, mean)
    K, B = code.matrix.shape
    if B != K * (K - 1) // 2 or ((code.matrix != 0).sum(axis=0) != 2).any():
        raise ValueError(f"{who} needs a code with a problem for every two classes, got {code!r}.")
    return m


def hamming(code: Code, mean: ArrayLike) -> Array:
    r"""Count the problems whose sign agrees with the row of each class.

    .. math:: s_k = \sum_b \frac{1 + c_{kb} \operatorname{sign} M_b}2

    A margin of exactly 0 counts a half for all classes, and so does a problem that leaves the class
    out. For all pairs, the scores are the votes of each class plus a constant.

    Parameters
    ----------
    code : Code
    mean : array-like of shape (n, n_problems)
        Margins :math:`M` of rows.

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        `n_problems` minus the Hamming distance to each row of the code.

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
    # Beyond 700 a double overflows, and with infinite losses all classes would be equal.
    loss: Array = np.exp(np.minimum(-z, 700.0))
    return loss


#: Losses as functions of the margin z, which is positive if the answer is right.
_LOSSES: dict[str, Callable[[Array], Array]] = {
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "exponential": _exponential,
    "linear": lambda z: -z,
}


def loss_based(code: Code, mean: ArrayLike, *, loss: str = "hinge") -> Array:
    r"""The negative loss of each class.

    .. math:: s_k = -\sum_b L(c_{kb} M_b)

    Parameters
    ----------
    code : Code
    mean : array-like of shape (n, n_problems)
        Margins :math:`M` of rows.
    loss : {"hinge", "logistic", "exponential", "linear"}, default "hinge"
        :math:`L(z)`: :math:`\max(0, 1 - z)`, :math:`\log(1 + e^{-z})`, :math:`e^{-z}` (at most
        :math:`e^{700}`) or :math:`-z`. For codes without zeros, the linear loss chooses the row
        nearest to the margins.

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


#: Margins are clipped at this many standard deviations; half of its square is still finite.
_CERTAIN = 1e150


def probability(code: Code, mean: ArrayLike, variance: ArrayLike) -> Array:
    r"""Log-probability that the answers of the problems are the row of each class.

    .. math:: s_k = \sum_b \log \Phi\Big(\frac{c_{kb} M_b}{\sqrt{V_b}}\Big)

    if problems are independent. A problem that leaves the class out counts as a fair coin,
    :math:`\Phi(0) = 1/2`, so that classes with many zeros are not favoured. A sure problem has more
    influence than one that has seen few rows; `hamming` treats them alike.

    Parameters
    ----------
    code : Code
    mean, variance : array-like of shape (n, n_problems)
        Margins :math:`M` of rows and their variances :math:`V`. A margin of variance 0 is certain.
        If every class contradicts some certain margins, the one that contradicts fewest wins.

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        Finite log-probabilities. `label_probabilities` normalises them.

    Examples
    --------
    >>> from surelearn.decode import minimal_bits
    >>> probability(minimal_bits(3), [[1.0, 2.0]], [[1.0, 100.0]]).round(3)
    array([[-2.707, -2.387, -1.038]])
    """
    from scipy.special import log_ndtr  # slow to import

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
    r"""Sum of the margins, each with the sign of the class in that problem.

    .. math:: s_k = \sum_b c_{kb} M_b, \qquad
        \text{all pairs: } s_i = \sum_{j > i} M_{ij} - \sum_{j < i} M_{ji}

    Parameters
    ----------
    code : Code
    mean : as of `hamming`

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        For one-vs-rest with three or more classes, the margins themselves: their order is the same.

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
    r"""The number of pairs that each class wins; `scores` break ties.

    .. math:: \text{votes}_i + \frac{s_i}{4 (1 + |s_i|)}

    A margin of exactly 0 is half a vote for each of the two.

    Parameters
    ----------
    code : Code
        A code with a problem for every two classes, such as `all_pairs`.
    mean : as of `hamming`

    Returns
    -------
    s : ndarray of shape (n, n_classes)
        The second term is below a quarter, so it breaks ties and changes nothing else. In `hamming`
        the order of the classes breaks ties.

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
    """The number of rounds that each class survives in a knockout tournament.

    Neighbours in the order of the classes play each other, then the winners, and so on. A class
    without a partner advances, and so does the first of two equals. The label depends on K - 1 of
    the K (K - 1) / 2 margins. A class that beats every other one wins; if there is none, the label
    depends on the order of the classes.

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
