"""The paper's synthetic data, and learners that make one pass over it; must not know entries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import SureClassifier

Array = NDArray[np.float64]

POINTS, FEATURES = 1000, 20
FULL: dict[str, Any] = {"covariance": "full"}


class Cloud(NamedTuple):
    """What the paper leaves open: deviation along the long axis, variance of the noise.

    With a `gap`, points are moved away from the axis by as much: our addition.
    """

    long: float
    noise: float
    gap: float = 0.0

    def __str__(self) -> str:
        gap = f", gap {self.gap:g}" if self.gap else ""
        return f"axis {self.long:g}, noise {self.noise:g}{gap}"


#: Axes and noise that the text allows. The ticks of figure 3 speak for the first.
CLOUDS = (Cloud(10.0, 2.0), Cloud(3.5, 2.0), Cloud(2.0, 4.0))
LONG = CLOUDS[0]


def points(cloud: Cloud, seed: int, n: int = POINTS) -> tuple[Array, NDArray[np.int64]]:
    """Two features that matter, turned by 45 degrees, and noise; labels by the long axis."""
    random = np.random.default_rng(seed)
    along, across = random.normal(0, cloud.long, n), random.normal(size=n)
    across += np.copysign(cloud.gap, across)
    X = random.normal(0, np.sqrt(cloud.noise), (n, FEATURES))
    X[:, 0] = (along + across) / np.sqrt(2)
    X[:, 1] = (along - across) / np.sqrt(2)
    return X, np.where(across > 0, 1, -1)


def error_rate(cloud: Cloud, w: Array) -> float:
    r"""Probability that a new point is wrong, in percent.

    The score of a point is :math:`a s + b z`, with s the place across the axis, which has the sign
    of the label, z standard normal, a and b given by the weights: it is wrong with probability
    :math:`\arccos(a / \sqrt{a^2 + b^2}) / \pi`.
    """
    across, along = (w[0] - w[1]) / np.sqrt(2), (w[0] + w[1]) / np.sqrt(2)
    rest = np.hypot(cloud.long * along, np.sqrt(cloud.noise) * np.linalg.norm(w[2:]))
    return float(100 * np.arctan2(rest, across) / np.pi)


def model(**how: Any) -> SureClassifier:
    """A learner of the paper: in the order of the rows, without intercept."""
    once: dict[str, Any] = {"passes": 1, "shuffle": False, "fit_intercept": False, "n_jobs": 1}
    return SureClassifier(dtype="float64", **once, **how, scale=False)


def is_collapse(error: ValueError) -> bool:
    """Whether a learner was stopped because its variances had become zero."""
    return "collapse" in str(error)
