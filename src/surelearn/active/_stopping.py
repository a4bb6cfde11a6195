"""When to stop asking: rules over what was seen so far; must not know models or rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check


class Progress(NamedTuple):
    """What a `Pool` has seen so far, in the order of the labels.

    Parameters
    ----------
    n_labels : int
        Labels told, those of the start too.
    missed : ndarray of bool
        Whether the model was wrong of each label before it learnt it. Without those of the start
        and those before two classes were known.
    at_random : ndarray of bool
        Whether each of these questions was asked at random, by `explore` or by the strategy.
    predictions : list of ndarray or None
        Places of the labels of the watched rows after each label told; None before two classes are
        known. Empty where no rule watches any.
    """

    n_labels: int
    missed: NDArray[np.bool_]
    at_random: NDArray[np.bool_]
    predictions: Sequence[NDArray[np.int32] | None]


class Stopping(ABC):
    """A rule that says when labels are enough."""

    #: How many rows of the pool a rule wants to be predicted after every label.
    watch: int = 0

    @abstractmethod
    def reason(self, seen: Progress) -> str:
        """Why to stop, or nothing."""


@dataclass(frozen=True)
class Budget(Stopping):
    r"""Stop when so many labels are there.

    .. math:: t \ge n

    Parameters
    ----------
    n : int
        Labels in all, those of the start too.

    Examples
    --------
    >>> from surelearn.active import Budget
    >>> Budget(100)
    Budget(n=100)
    """

    n: int

    def __post_init__(self) -> None:
        _check.count("n", self.n)

    def reason(self, seen: Progress) -> str:
        return f"{seen.n_labels} labels of {self.n}" if seen.n_labels >= self.n else ""


@dataclass(frozen=True)
class Stable(Stopping):
    r"""Stop when more labels have ceased to change what the model says.

    A fixed random sample of the pool is predicted after each label. With :math:`P_t` the
    predictions after label t and :math:`\kappa` Cohen's agreement above chance,

    .. math:: \frac{1}{k} \sum_{i=0}^{k-1} \kappa(P_{t - iw}, P_{t - (i+1)w}) \ge \theta, \qquad
        \kappa = \frac{a - e}{1 - e}

    with a the share of rows on which two agree and e the share expected of their label counts.
    Where both name one label only, e = 1 and kappa counts as 0: that is no decision yet.

    Parameters
    ----------
    threshold : float, default 0.99
        :math:`\theta`.
    window : int, default 20
        Labels w between two predictions that are compared.
    times : int, default 3
        Comparisons k, so it needs at least k w labels.
    watch : int, default 1000
        Rows of the sample, at most those of the pool.

    References
    ----------
    Bloodgood & Vijay-Shanker 2009, A Method for Stopping Active Learning Based on Stabilizing
    Predictions. Theirs compares models between batches of labels, ours every w labels.

    Examples
    --------
    >>> from surelearn.active import Stable
    >>> Stable(window=50).threshold
    0.99
    """

    threshold: float = 0.99
    window: int = 20
    times: int = 3
    watch: int = 1000

    def __post_init__(self) -> None:
        _check.number("threshold", self.threshold, "(0, 1]", low=0.0, high=np.nextafter(1.0, 2.0))
        for name in ("window", "times", "watch"):
            _check.count(name, getattr(self, name))

    def reason(self, seen: Progress) -> str:
        span = self.window * self.times
        if len(seen.predictions) <= span:
            return ""
        looks = [seen.predictions[-1 - i * self.window] for i in range(self.times + 1)]
        known = [look for look in looks if look is not None]
        if len(known) < len(looks):
            return ""
        pairs = pairwise(known)
        mean = float(np.mean([kappa(new, old) for new, old in pairs]))
        if mean < self.threshold:
            return ""
        return f"predictions stable: kappa {mean:.3f} over the last {span} labels"


@dataclass(frozen=True)
class EstimatedError(Stopping):
    r"""Stop when the error, judged on each label before it is learnt, is low enough.

    Progressive validation: with p the share of the last n questions that the model got wrong
    before it learnt them, stop when the upper end of Wilson's interval is low enough,

    .. math:: \frac{p + \frac{z^2}{2n} + z \sqrt{\frac{p (1 - p)}{n} + \frac{z^2}{4 n^2}}}
        {1 + z^2 / n} \le \epsilon

    Questions that a strategy chose are harder than the rest of the pool: by them alone the estimate
    is too high, and the rule stops late or never. With `explore` of the `Pool` a share of the
    questions is drawn at random from what is left, and then these alone are counted. Their
    estimate is honest but for one thing: it is of models up to n questions old, and so a little
    high where the model still improves.

    Parameters
    ----------
    error : float
        :math:`\epsilon`, in (0, 1).
    window : int, default 100
        Questions n that are judged, the last ones.
    z : float, default 1.0
        Width of the interval in standard errors; 0: the estimate itself.

    References
    ----------
    Blum, Kalai & Langford 1999, Beating the Hold-Out: Bounds for K-fold and Progressive
    Cross-Validation. Wilson 1927, Probable Inference.

    Examples
    --------
    >>> from surelearn.active import EstimatedError
    >>> EstimatedError(0.05, window=50).window
    50
    """

    error: float
    window: int = 100
    z: float = 1.0

    def __post_init__(self) -> None:
        _check.number("error", self.error, "(0, 1)", low=0.0, high=1.0)
        _check.count("window", self.window)
        _check.number("z", self.z, "[0, inf)", low=0.0)

    def reason(self, seen: Progress) -> str:
        at_random = bool(seen.at_random.any())
        judged = (seen.missed[seen.at_random] if at_random else seen.missed)[-self.window :]
        if len(judged) < self.window:
            return ""
        bound = upper_end(float(judged.mean()), self.window, self.z)
        if bound > self.error:
            return ""
        kind = "random" if at_random else "chosen"
        return f"error at most {bound:.3f} on the last {self.window} {kind} questions"


def kappa(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """Agreement of two predictions above chance (Cohen 1960); 0 where there is one label only."""
    size = int(max(a.max(), b.max())) + 1
    expected = float(np.bincount(a, minlength=size) @ np.bincount(b, minlength=size)) / len(a) ** 2
    return 0.0 if expected >= 1.0 else (float(np.mean(a == b)) - expected) / (1.0 - expected)


def upper_end(p: float, n: int, z: float) -> float:
    """Wilson's upper bound of a share p of n."""
    middle, half = p + z * z / (2 * n), z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    return (middle + half) / (1 + z * z / n)
