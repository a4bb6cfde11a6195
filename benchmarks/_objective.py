"""What benchmarks of batch learners share: the fewest iterations that reach a peer's objective."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from _measure import interleaved, newsgroups, show
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


class Run(NamedTuple):
    """A fitted model and the seconds of its `fit`."""

    model: Any
    seconds: float


def timed(fit: Callable[[], Fitted], repeats: int = 1) -> Run:
    """Fit so many times; the best time counts."""
    models: list[Fitted] = []
    times = interleaved({"": lambda: models.append(quietly(fit))}, repeats, warm=False)
    return Run(models[-1], times[""].best)


def fewest(fit: Callable[..., Fitted], target: float) -> int:
    """The fewest iterations after which the objective, to the six digits that `verbose=1` prints,
    is no higher than the target; all that were made if it never is."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        last = quietly(partial(fit, verbose=1)).n_iter_
    found = re.findall(r"iteration (\d+): objective ([0-9.,]+),? ", printed.getvalue())
    near = [int(n) for n, value in found if float(value.strip(",").replace(",", "")) <= target]
    return near[0] if near else last


def compared(
    title: str, unit: str, runs: Mapping[str, Run], value: Callable[[Any], float]
) -> list[dict[str, Any]]:
    """Show seconds, iterations (in `unit`) and objective of each run, and return them."""
    figures = [
        {
            "contestant": who,
            "seconds": round(run.seconds, 3),
            unit: int(np.max(run.model.n_iter_)),
            "objective": value(run.model),
        }
        for who, run in runs.items()
    ]
    lines = [
        [str(f["contestant"]), f"{f['seconds']:.2f}", str(f[unit]), f"{f['objective']:.3f}"]
        for f in figures
    ]
    show(title, ["", "seconds", unit, "objective"], lines)
    return figures


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
