"""Learners of the paper, the choice of their parameter, and their errors in folds.

A parameter is chosen on rows that it is not judged on: for each half of the folds in one
randomised run, a cross-validation over the rows of the other half. Must not know tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from experiments.papers.entry import Row
from experiments.sets import Rows, folds
from surelearn import MulticlassSVM, SoftmaxClassifier, SureClassifier, rules

PASSES = 5
#: Parts of the run that chooses a parameter.
PARTS = 4


class Learner(NamedTuple):
    """A model of a parameter, and the values that this is chosen from."""

    make: Callable[[float], Any]
    grid: tuple[float, ...]


def pa(C: float, **settings: Any) -> SureClassifier:
    """PA-I; as in the paper no model has an intercept."""
    return SureClassifier(rules.PA1(C=C), fit_intercept=False, **settings, scale=False)


def variance(phi: float, **settings: Any) -> SureClassifier:
    """Variance, with the diagonal of the precision as printed."""
    return SureClassifier(rules.Variance(phi=phi), fit_intercept=False, **settings, scale=False)


def _exact(phi: float) -> SureClassifier:
    return SureClassifier(rules.VarianceExact(phi=phi), fit_intercept=False, scale=False)


def _svm(C: float) -> LinearSVC:
    return LinearSVC(C=C, loss="hinge", fit_intercept=False, max_iter=100_000, random_state=0)


def _own_svm(C: float) -> MulticlassSVM:
    return MulticlassSVM(C=C, fit_intercept=False, random_state=0, n_jobs=1)


def _maxent(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, solver="liblinear", fit_intercept=False, random_state=0)


def _own_maxent(C: float) -> SoftmaxClassifier:
    return SoftmaxClassifier(l2=1 / C, fit_intercept=False, n_jobs=1)


def _sgd(rate: float) -> SGDClassifier:
    """Huber's loss, as in Blitzer et al. 2007, and a constant rate."""
    return SGDClassifier(
        "modified_huber",
        penalty=None,
        learning_rate="constant",
        eta0=rate,
        max_iter=PASSES,
        tol=None,
        fit_intercept=False,
        random_state=0,
    )


PHI = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
STEP = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0)
WEIGHT = (0.001, 0.003, 0.01, 0.03, 0.1, 1.0)
PRIOR = (0.003, 0.01, 0.03, 0.1, 1.0, 10.0)
RATE = (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
#: Those of the paper, with ours beside the SVM and maxent of LIBLINEAR.
LEARNERS = {
    "PA": Learner(pa, STEP),
    "Variance": Learner(variance, PHI),
    "Variance-Exact": Learner(_exact, PHI),
    "SVM": Learner(_svm, WEIGHT),
    "MulticlassSVM": Learner(_own_svm, WEIGHT),
    "Maxent": Learner(_maxent, PRIOR),
    "SoftmaxClassifier": Learner(_own_maxent, PRIOR),
    "SGD": Learner(_sgd, RATE),
    "averaged PA": Learner(partial(pa, average=True), STEP),
    "averaged Variance": Learner(partial(variance, average=True), PHI),
}


def wrong(
    model: Any, data: Rows, learn: NDArray[Any], judge: NDArray[Any]
) -> Iterator[NDArray[np.bool_]]:
    """Which of the judged rows are wrong: after each pass, or once if the model has none."""
    if not isinstance(model, SureClassifier):
        yield model.fit(data.X[learn], data.y[learn]).predict(data.X[judge]) != data.y[judge]
        return
    random = np.random.default_rng(0)
    for _ in range(PASSES):
        order = random.permutation(learn)
        model.partial_fit(data.X[order], data.y[order], classes=[False, True])
        yield model.predict(data.X[judge]) != data.y[judge]


def tuned(learner: Learner, data: Rows, places: NDArray[Any]) -> float:
    """The parameter with the fewest errors in one run of cross-validation over these rows."""
    errors = np.zeros(len(learner.grid))
    for learn, judge in folds(data.groups[places], PARTS, seed=1):
        for place, parameter in enumerate(learner.grid):
            *_, last = wrong(learner.make(parameter), data, places[learn], places[judge])
            errors[place] += last.sum()
    return learner.grid[int(errors.argmin())]


def judged(learner: Learner, data: Rows, n_folds: int, n_runs: int) -> Row:
    """Parameters, error % by pass, and in how many runs each row is wrong in the end.

    A run is a cross-validation in folds of its own.
    """
    parameters: list[float] = []
    by_pass: list[Counter[int]] = []
    for run in range(n_runs):
        for parameter, learn, judge in _tuned_folds(learner, data, n_folds, run):
            parameters += [parameter] if parameter not in parameters else []
            found = list(wrong(learner.make(parameter), data, learn, judge))
            by_pass = by_pass or [Counter() for _ in found]
            for counter, one in zip(by_pass, found, strict=True):
                counter.update(judge[one].tolist())
    n = len(data.y)
    return {
        "rows": n,
        "features": data.X.shape[1],
        "runs": n_runs,
        "parameters": sorted(parameters),
        "errors": [100 * counter.total() / (n * n_runs) for counter in by_pass],
        "missed": "".join(str(by_pass[-1][row]) for row in range(n)),
    }


def _tuned_folds(
    learner: Learner, data: Rows, n_folds: int, run: int
) -> Iterator[tuple[float, NDArray[Any], NDArray[Any]]]:
    """A parameter, rows to learn and rows to judge, for each fold."""
    parts = list(folds(data.groups, n_folds, seed=run))
    halves = parts[: n_folds // 2], parts[n_folds // 2 :]
    for here, other in (halves, halves[::-1]):
        parameter = tuned(learner, data, np.concatenate([judge for _, judge in other]))
        yield from ((parameter, learn, judge) for learn, judge in here)
