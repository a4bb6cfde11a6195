"""Rules by name, built-in and registered; must not know vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surelearn import _check
from surelearn.rules import _confident, _margin
from surelearn.rules._base import Rule
from surelearn.rules._custom import Custom, registered

#: Every built-in rule by name, in the order of the core's list.
RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        _confident.Variance,
        _confident.VarianceExact,
        _confident.Stdev,
        _margin.AROW,
        _margin.Probit,
        _confident.SCW1,
        _confident.SCW2,
        _margin.NHERD,
        _margin.SecondOrderPerceptron,
        _margin.Perceptron,
        _margin.PA,
        _margin.PA1,
        _margin.PA2,
    )
}


#: The rules that the papers call CW: errors list them first, for those who look for that name.
_CW = [rule.name for rule in (_confident.Variance, _confident.VarianceExact, _confident.Stdev)]


def get(rule: str | Rule | Callable[[float, float], Any], *, who: str = "rule") -> Rule:
    """The rule for a rule, a name (with default parameters) or a function; errors call it `who`.

    >>> get("arow")
    AROW(r=1.0)
    """
    if isinstance(rule, Rule) and type(rule) is not Rule:
        return rule
    if isinstance(rule, type) and issubclass(rule, Rule):
        raise TypeError(f"{who} must be a value such as {rule.__name__}(), got the class itself.")
    if callable(rule) and not isinstance(rule, type):
        return Custom(rule)
    known = [*RULES, *registered]
    if not isinstance(rule, str) or rule not in known:
        cw, others = _check.listing(_CW), _check.listing(x for x in known if x not in _CW)
        said = _check.must(who, f"be one of {cw} (the CW rules), {others}", rule)
        raise ValueError(said) if isinstance(rule, str) else TypeError(said)
    return registered[rule] if rule in registered else RULES[rule]()


def register(
    name: str,
    function: Callable[[float, float], Any],
    *,
    compiled: bool | None = None,
    first_order: bool = False,
    replace: bool = False,
) -> Custom:
    """Register a function under a name, for ``rule=name`` and for saving models.

    A file stores only the name, so the function must be registered before the file is loaded.

    Parameters
    ----------
    name : str
        Must not be the name of a built-in rule.
    function : callable (m, v) -> (alpha, gain)
    compiled, first_order
        As in `Custom`.
    replace : bool, default False
        Whether to replace a function registered under this name.

    Returns
    -------
    Custom

    Examples
    --------
    >>> def timid(m, v):
    ...     return (0.1, 0.1) if m < 1.0 else (0.0, 0.0)
    >>> register("timid", timid)
    Custom(timid)
    >>> get("timid").step(0.0, 1.0)
    Step(alpha=0.1, gain=0.1)
    """
    rule = Custom(function, compiled=compiled, first_order=first_order)
    _check.new_name("rule", name, rule, builtin=RULES, registered=registered, replace=replace)
    registered[name] = rule
    return rule
