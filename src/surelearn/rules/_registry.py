"""Rules by their names: the built-in ones."""

from __future__ import annotations

from surelearn import _check
from surelearn.rules._base import Rule
from surelearn.rules._confident import SCW1, SCW2, Stdev, Variance, VarianceExact
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

#: Every rule by its name, in the order of the core's own list.
RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        Variance,
        VarianceExact,
        Stdev,
        AROW,
        Probit,
        SCW1,
        SCW2,
        NHERD,
        SecondOrderPerceptron,
        Perceptron,
        PA,
        PA1,
        PA2,
    )
}


def get(rule: str | Rule) -> Rule:
    """The rule itself, or the one of that name with its default parameters.

    >>> get("arow")
    AROW(r=1.0)
    """
    if isinstance(rule, Rule) and type(rule) is not Rule:
        return rule
    if isinstance(rule, type) and issubclass(rule, Rule):
        raise TypeError(f"rule must be a value such as {rule.__name__}(), got the class itself.")
    return RULES[_check.choice("rule", rule, RULES)]()
