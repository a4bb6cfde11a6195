"""What benchmarks of batch learners share: the fewest iterations that reach a peer's objective."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from _measure import newsgroups
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer

#: The least share of an objective that two values may differ by and count as the same.
SAME = 1e-5


class Fitted(Protocol):
    """A batch learner after `fit`."""

    objective_: float
    n_iter_: int


def quietly(fit: Callable[[], Fitted]) -> Fitted:
    """Fit with so few iterations that the learner warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit()


def fewest(fit: Callable[[int], Fitted], target: float, first: int = 8) -> int:
    """The smallest `max_iter` with an objective no higher than the target, by bisection."""
    low, high = 0, first
    while not _reaches(fit, high, target):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(fit, middle, target) else (middle, high)
    return high


def _reaches(fit: Callable[[int], Fitted], max_iter: int, target: float) -> bool:
    value = quietly(lambda: fit(max_iter)).objective_
    print(f"{max_iter:5} iterations: objective {value:.4f}, wanted {target:.4f}", flush=True)
    return value <= target


def newsgroup_rows() -> tuple[Any, np.ndarray]:
    """20 Newsgroups: tf-idf of words with logarithmic counts, rows of length 1."""
    texts, labels = newsgroups()
    return TfidfVectorizer(sublinear_tf=True).fit_transform(texts), np.asarray(labels)


def scores(model: Any, X: Any) -> np.ndarray:
    found: np.ndarray = X @ model.coef_.T + model.intercept_
    return found


def log_losses(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """The log loss of each row, from the weights alone."""
    found = scores(model, X)
    return logsumexp(found, axis=1) - found[_places(model, y)]


def hinge_losses(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """The hinge loss of each row where each mistake costs 1."""
    found = scores(model, X)
    right = found[_places(model, y)]
    found += 1.0
    found[_places(model, y)] -= 1.0
    return found.max(axis=1) - right


def _places(model: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(y)), np.searchsorted(model.classes_, y)
