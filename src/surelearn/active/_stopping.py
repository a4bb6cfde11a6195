"""Stopping rules: when to stop asking for labels; must not know models or rows."""

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
    """What a `Pool` has observed so far, in the order of the labels.

    Parameters
    ----------
    n_labels : int
        Labels told, including those of the start.
    missed : ndarray of bool
        Whether the model mispredicted each label before it learnt it. Labels of the start, and
        those before two classes were known, are not included.
    at_random : ndarray of bool
        Whether each of these questions was drawn at random, by `explore` or by the strategy.
    predictions : list of ndarray or None
        Label numbers predicted for the watched rows after each label; None before two classes are
        known. The list is empty if no rule watches rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surelearn.active import Budget, Progress
    >>> none = np.zeros(0, bool)
    >>> Budget(100).reason(Progress(100, none, none, []))
    '100 labels of 100'
    """

    n_labels: int
    missed: NDArray[np.bool_]
    at_random: NDArray[np.bool_]
    predictions: Sequence[NDArray[np.int32] | None]


class Stopping(ABC):
    """A rule that says when there are enough labels.

    Examples
    --------
    >>> from surelearn.active import Stopping
    >>> class Never(Stopping):
    ...     def reason(self, seen):
    ...         return ""
    """

    #: How many rows of the pool the rule watches: they are predicted after every label.
    watch: int = 0

    @abstractmethod
    def reason(self, seen: Progress) -> str:
        """The reason to stop, or ``""`` to go on."""


@dataclass(frozen=True)
class Budget(Stopping):
    r"""Stop after n labels.

    .. math:: t \ge n

    Parameters
    ----------
    n : int
        Total number of labels, including those of the start.

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
        """The number of labels, once it has reached n."""
        return f"{seen.n_labels} labels of {self.n}" if seen.n_labels >= self.n else ""


@dataclass(frozen=True)
class Stable(Stopping):
    r"""Stop when new labels no longer change the predictions.

    The model predicts a fixed random sample of the pool after each label. With :math:`P_t` the
    predictions after label t and :math:`\kappa` Cohen's agreement above chance,

    .. math:: \frac{1}{k} \sum_{i=0}^{k-1} \kappa(P_{t - iw}, P_{t - (i+1)w}) \ge \theta, \qquad
        \kappa = \frac{a - e}{1 - e}

    where a is the share of rows on which two predictions agree and e the share expected from their
    label counts. If both predict a single label, e = 1 and kappa counts as 0: the model does not
    separate the classes yet.

    Parameters
    ----------
    threshold : float, default 0.99
        :math:`\theta`.
    window : int, default 20
        Labels w between two compared predictions.
    times : int, default 3
        Number of comparisons k; the rule needs at least k w labels.
    watch : int, default 1000
        Size of the sample, at most that of the pool.

    References
    ----------
    Bloodgood & Vijay-Shanker 2009, A Method for Stopping Active Learning Based on Stabilizing
    Predictions. The paper compares models between batches of labels; here it is every w labels.

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
        """The mean agreement, once it has reached the threshold."""
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
    r"""Stop when the progressive validation error is low enough.

    The model predicts each label before it learns it. With p the error rate over the last n
    questions, stop when the upper end of Wilson's interval is at most :math:`\epsilon`,

    .. math:: \frac{p + \frac{z^2}{2n} + z \sqrt{\frac{p (1 - p)}{n} + \frac{z^2}{4 n^2}}}
        {1 + z^2 / n} \le \epsilon

    Questions chosen by a strategy are harder than the rest of the pool: they bias the estimate
    upwards, and the rule stops late or never. With `explore`, the `Pool` draws a share of the
    questions at random from the open rows, and the rule counts these only. One small bias is left:
    the estimate is an average over the last n models, so it is a little high while the model still
    improves.

    Parameters
    ----------
    error : float
        :math:`\epsilon`, in (0, 1).
    window : int, default 100
        The last n questions are judged.
    z : float, default 1.0
        Width of the interval in standard errors; 0 uses the estimate as it is.

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
        """The upper end of the interval, once it is at most the error."""
        at_random = bool(seen.at_random.any())
        judged = (seen.missed[seen.at_random] if at_random else seen.missed)[-self.window :]
        if len(judged) < self.window:
            return ""
        # The upper end of Wilson's interval for the share of mistakes.
        p, n, z = float(judged.mean()), self.window, self.z
        middle = p + z * z / (2 * n)
        half = z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
        bound = (middle + half) / (1 + z * z / n)
        if bound > self.error:
            return ""
        kind = "random" if at_random else "chosen"
        return f"error at most {bound:.3f} on the last {self.window} {kind} questions"


def kappa(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """Agreement of two predictions above chance (Cohen 1960); 0 if both have a single label."""
    size = int(max(a.max(), b.max())) + 1
    expected = float(np.bincount(a, minlength=size) @ np.bincount(b, minlength=size)) / len(a) ** 2
    return 0.0 if expected >= 1.0 else (float(np.mean(a == b)) - expected) / (1.0 - expected)
