"""Mistakes in one pass over points on a long, thin cloud (Crammer, Dredze & Pereira 2008).

The experiment of figures 2(a) and 3 of "Exact Convex Confidence-Weighted Learning": see README.md.
Writes result.csv and synthetic.png beside this file.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.synthetic.picture import draw
from surelearn import SureClassifier, rules

RUNS = 300  # reported
TUNED_ON = 60  # other runs, for the parameters
POINTS, FEATURES = 1000, 20
LONG, NOISE = 10.0, 2.0  # deviation along the long axis; variance of the noise features
STEP = 50  # rounds between two marks of the picture
SHOWN_AFTER, PHI_SHOWN = 50, 1.65  # of the cloud of weights
PHIS = np.geomspace(0.003, 30, 21)
CS = np.geomspace(1e-4, 1, 13)
RS = np.geomspace(0.1, 1000, 17)
PRIORS = np.geomspace(0.01, 100, 17)
HERE = Path(__file__).parent

PRECISION = {"projection": "precision"}
COVARIANCE = {"projection": "covariance"}
FULL = {"covariance": "full"}


class Learner(NamedTuple):
    """A line of the table: how it is made of its parameter, and what the sheet has."""

    make: Callable[[float], dict[str, Any]]
    parameter: str
    grid: Iterable[float]
    expected: float  # mistakes, mean of 300 runs, from an independent implementation


def _phi(rule: type[Any], **options: Any) -> Callable[[float], dict[str, Any]]:
    return lambda phi: {"rule": rule(phi=phi), **options}


LEARNERS = {
    "perceptron": Learner(lambda _: {"rule": "perceptron"}, "", [1.0], 226),
    "PA1": Learner(lambda C: {"rule": rules.PA1(C=C)}, "C", CS, 167),
    "Variance, diagonal, precision": Learner(_phi(rules.Variance, **PRECISION), "phi", PHIS, 138),
    "Variance, diagonal, covariance": Learner(_phi(rules.Variance, **COVARIANCE), "phi", PHIS, 120),
    "VarianceExact, diagonal": Learner(_phi(rules.VarianceExact, **PRECISION), "phi", PHIS, 132),
    "Stdev, diagonal, precision": Learner(_phi(rules.Stdev, **PRECISION), "phi", PHIS, 120),
    "Stdev, diagonal, covariance": Learner(_phi(rules.Stdev, **COVARIANCE), "phi", PHIS, 113),
    "second-order perceptron, full": Learner(
        lambda a: {"rule": "sop", "initial_variance": 1 / a, **FULL}, "a", PRIORS, 76
    ),
    "AROW, full": Learner(lambda r: {"rule": rules.AROW(r=r), **FULL}, "r", RS, 61),
    "Variance, full": Learner(_phi(rules.Variance, **FULL), "phi", PHIS, 53.1),
    "Stdev, full": Learner(_phi(rules.Stdev, **FULL), "phi", PHIS, 49.2),
}


def points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One data set: two features that matter, turned by 45 degrees, and noise."""
    random = np.random.default_rng(seed)
    along, across = random.normal(0, LONG, POINTS), random.normal(size=POINTS)
    X = random.normal(0, np.sqrt(NOISE), (POINTS, FEATURES))
    X[:, 0] = (along + across) / np.sqrt(2)
    X[:, 1] = (along - across) / np.sqrt(2)
    return X, np.where(across > 0, 1, -1)


def model(how: Mapping[str, Any]) -> SureClassifier:
    return SureClassifier(
        **how, passes=1, shuffle=False, fit_intercept=False, dtype="float64", n_jobs=1
    )


def mistakes(how: Mapping[str, Any], X: np.ndarray, y: np.ndarray) -> float:
    """Of one pass; not a number if the variances collapse."""
    try:
        return float(model(how).fit(X, y).mistakes_[0])
    except ValueError as error:
        return _lost(error)


def _lost(error: ValueError) -> float:
    if "collapse" not in str(error):
        raise error
    return np.nan


def tuned(learner: Learner, sets: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The parameter with the fewest mistakes, the first of equals; a lost run is all mistakes."""
    grid = list(learner.grid)
    if len(grid) == 1:
        return grid[0]
    found = [[mistakes(learner.make(value), X, y) for X, y in sets] for value in grid]
    best = int(np.argmin(np.nan_to_num(found, nan=POINTS).sum(axis=1)))
    if best in (0, len(grid) - 1):
        print(f"the best of the grid is at its end: {learner.parameter} = {grid[best]:.3g}")
    return grid[best]


def path(how: Mapping[str, Any], X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mistakes so far after every `STEP` points: the same pass, handed over in pieces."""
    clf = model(how)
    out = np.full(POINTS // STEP, np.nan)
    for mark in range(len(out)):
        rows = slice(mark * STEP, (mark + 1) * STEP)
        try:
            clf.partial_fit(X[rows], y[rows], classes=[-1, 1])
        except ValueError as error:
            return np.full_like(out, _lost(error))
        out[mark] = clf.mistakes_[-1]
    return out


def run() -> tuple[list[dict[str, str]], dict[str, np.ndarray]]:
    """The table, and for each learner the paths that were not lost, of shape (runs, marks)."""
    other = [points(seed) for seed in range(RUNS, RUNS + TUNED_ON)]
    sets = [points(seed) for seed in range(RUNS)]
    table, paths = [], {}
    for name, learner in LEARNERS.items():
        value = tuned(learner, other)
        found = np.array([path(learner.make(value), X, y) for X, y in sets])
        paths[name] = found[~np.isnan(found[:, -1])]
        table.append({"learner": name, **_line(learner, value, paths[name][:, -1])})
        print("  ".join(f"{cell:>8}" for cell in table[-1].values()))
    return table, paths


def _line(learner: Learner, value: float, last: np.ndarray) -> dict[str, str]:
    deviation = last.std(ddof=1)
    return {
        "parameter": f"{learner.parameter} = {value:.3g}" if learner.parameter else "",
        "mistakes": f"{last.mean():.1f}",
        "standard error": f"{deviation / np.sqrt(len(last)):.1f}",
        "standard deviation": f"{deviation:.1f}",
        "lost runs": str(RUNS - len(last)),
        "expected": f"{learner.expected:g}",
    }


def cloud() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The first data set, and mean and covariance of the weights that full Stdev has early on."""
    X, y = points(0)
    clf = model({"rule": rules.Stdev(phi=PHI_SHOWN), **FULL})
    clf.fit(X[:SHOWN_AFTER], y[:SHOWN_AFTER])
    return X, y, clf.coef_[0], clf.sigma_


def main() -> None:
    table, paths = run()
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    draw(paths, STEP, cloud(), HERE / "synthetic.png")


if __name__ == "__main__":
    main()
