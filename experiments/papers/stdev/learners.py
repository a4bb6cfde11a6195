"""The seven learners of figure 2 and some more, each with its grid; must not know entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.papers.stdev.clouds import FULL, POINTS, Cloud, is_collapse, model, points
from surelearn import rules

PHIS = np.geomspace(0.003, 30, 41)
CS = np.geomspace(1e-4, 1, 13)
RS = np.geomspace(0.1, 1000, 17)
PRIORS = np.geomspace(0.01, 100, 17)

PRECISION = {"projection": "precision"}
COVARIANCE = {"projection": "covariance"}
AVERAGE = {"average": True}


class Learner(NamedTuple):
    """How a learner is made of its parameter, and which values are tried."""

    make: Callable[[float], dict[str, Any]]
    parameter: str
    grid: Iterable[float]


class Tried(NamedTuple):
    """Mean mistakes of a value over the tuning runs, and how many of these were lost."""

    value: float
    mistakes: float
    lost: int


def _phi(rule: type[Any], **options: Any) -> Learner:
    return Learner(lambda phi: {"rule": rule(phi=phi), **options}, "phi", PHIS)


def _pa(**options: Any) -> Learner:
    return Learner(lambda C: {"rule": rules.PA1(C=C), **options}, "C", CS)


def _fixed(**how: Any) -> Learner:
    return Learner(lambda _: how, "", [])


LEARNERS = {
    "perceptron": _fixed(rule="perceptron"),
    "PA": _pa(),
    "perceptron, averaged": _fixed(rule="perceptron", **AVERAGE),
    "PA, averaged": _pa(**AVERAGE),
    "SOP": Learner(
        lambda a: {"rule": "sop", "initial_variance": 1 / a, **FULL}, "a", PRIORS
    ),  # a is that of Cesa-Bianchi et al.: it is added to the diagonal
    "Var diag, precision": _phi(rules.Variance, **PRECISION),
    "Var diag, covariance": _phi(rules.Variance, **COVARIANCE),
    "Stdev diag, precision": _phi(rules.Stdev, **PRECISION),
    "Stdev diag, covariance": _phi(rules.Stdev, **COVARIANCE),
    "Var full": _phi(rules.Variance, **FULL),
    "Stdev full": _phi(rules.Stdev, **FULL),
    "VarianceExact diag": _phi(rules.VarianceExact, **PRECISION),
    "AROW full": Learner(lambda r: {"rule": rules.AROW(r=r), **FULL}, "r", RS),
}


def mistakes(how: dict[str, Any], X: Any, y: Any) -> float:
    """Mistakes of one pass; not a number if the variances collapse."""
    try:
        return float(model(**how).fit(X, y).mistakes_[0])
    except ValueError as error:
        if is_collapse(error):
            return np.nan
        raise


def tried(learner: Learner, cloud: Cloud, seeds: Iterable[int]) -> list[Tried]:
    """Every value of the grid on the same runs; a lost run counts as all mistakes."""
    sets = [points(cloud, seed) for seed in seeds]
    out = []
    for value in learner.grid:
        found = np.array([mistakes(learner.make(value), X, y) for X, y in sets])
        mean = np.nan_to_num(found, nan=POINTS).mean()
        out.append(Tried(float(value), float(mean), int(np.isnan(found).sum())))
    return out


def best(found: Sequence[Tried]) -> float:
    """The value with the fewest mistakes, the first of equals."""
    return min(found, key=lambda one: one.mistakes).value
