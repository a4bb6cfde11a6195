"""What benchmarks of batch learners share: the fewest iterations that reach a peer's objective."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable
from functools import partial
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


def fewest(fit: Callable[..., Fitted], target: float, most: int) -> int:
    """The fewest iterations after which the objective is no higher than the target.

    What `verbose=1` prints has six digits, so the number is then tried.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        quietly(partial(fit, max_iter=most, verbose=1))
    found = re.findall(r"iteration (\d+): objective ([0-9.,]+),? ", printed.getvalue())
    near = [int(n) for n, value in found if float(value.strip(",").replace(",", "")) <= target]
    n = near[0] if near else most
    while quietly(partial(fit, max_iter=n)).objective_ > target:
        n += 1
    return n


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
