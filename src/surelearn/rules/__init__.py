"""Rules: margin and variance in, step out; must not know vectors, labels or estimators.

A rule is a value: you can compare it, copy it, call its `step` and list it in a grid search.

>>> from surelearn import rules
>>> rules.AROW(r=1.0).step(0.0, 1.0)
Step(alpha=0.5, gain=1.0)
"""

from surelearn.rules._base import Rule, Step
from surelearn.rules._confident import SCW1, SCW2, Stdev, Variance, VarianceExact
from surelearn.rules._custom import Custom
from surelearn.rules._margin import (
    AROW,
    NHERD,
    PA,
    PA1,
    PA2,
    Perceptron,
    Probit,
    SecondOrderPerceptron,
)
from surelearn.rules._registry import RULES, get, register

__all__ = [
    "AROW",
    "NHERD",
    "PA",
    "PA1",
    "PA2",
    "RULES",
    "SCW1",
    "SCW2",
    "Custom",
    "Perceptron",
    "Probit",
    "Rule",
    "SecondOrderPerceptron",
    "Stdev",
    "Step",
    "Variance",
    "VarianceExact",
    "get",
    "register",
]
