"""What is tried: every rule with a wide grid of its parameters, both projections, with averages."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from surelearn import SureClassifier, rules

PASSES = (1, 3, 10)
PROJECTIONS = ("precision", "covariance")

#: Parameters of each rule and their values.
GRID: dict[type[rules.Rule], dict[str, list[float]]] = {
    rules.Variance: {"phi": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]},
    rules.VarianceExact: {"phi": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]},
    rules.Stdev: {"phi": [0.03, 0.1, 0.2, 0.5, 1, 2, 4, 8]},
    rules.SCW1: {"phi": [0.1, 0.3, 1, 3, 10], "C": [0.01, 0.03, 0.1, 0.3, 1]},
    rules.SCW2: {"phi": [0.1, 0.3, 1, 3, 10], "C": [0.03, 0.1, 0.3, 1, 3]},
    rules.AROW: {"r": [0.03, 0.1, 0.3, 1, 3, 10, 30, 100]},
    rules.Probit: {"noise": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]},
    rules.NHERD: {"C": [0.01, 0.03, 0.1, 0.3, 1, 3, 10]},
    rules.SecondOrderPerceptron: {},
    rules.Perceptron: {},
    rules.PA: {},
    rules.PA1: {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]},
    rules.PA2: {"C": [0.01, 0.03, 0.1, 0.3, 1, 3, 10]},
}


class Setting(NamedTuple):
    """One model of the grid. First-order rules have no projection: "auto"."""

    rule: rules.Rule
    projection: str
    average: bool

    def model(self) -> SureClassifier:
        return SureClassifier(
            self.rule, projection=self.projection, average=self.average, scale=False
        )


def settings() -> list[Setting]:
    """The whole grid, in a fixed order."""
    every = [make(**values) for make, grid in GRID.items() for values in _values(grid)]
    return [
        Setting(rule, projection, average)
        for rule in every
        for projection in (("auto",) if rule.first_order else PROJECTIONS)
        for average in (False, True)
    ]


def _values(grid: dict[str, list[float]]) -> list[dict[str, float]]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def name_of(rule: rules.Rule) -> str:
    """The rule as one would type it, such as ``AROW(r=1)``."""
    values = ", ".join(f"{name}={value:g}" for name, value in rule.params().items())
    return f"{type(rule).__name__}({values})"


def key_of(setting: Setting) -> str:
    """A name for the setting, to keep what was measured under."""
    how = "average" if setting.average else "last"
    return f"{name_of(setting.rule)} {setting.projection} {how}"


def right_after(setting: Setting, passes: list, judged: tuple, classes: np.ndarray) -> np.ndarray:
    """Which judged rows are right after 1, 3 and 10 passes, as 1 and 0; -1 from a collapse on."""
    X, y = judged
    clf = setting.model()
    right = np.full((len(PASSES), len(y)), -1, dtype=np.int8)
    for number, (X_pass, y_pass) in enumerate(passes, 1):
        try:
            clf.partial_fit(X_pass, y_pass, classes=classes)
        except ValueError as error:
            if "collapse" not in str(error):
                raise
            break
        if number in PASSES:
            right[PASSES.index(number)] = clf.predict(X) == y
    return right
