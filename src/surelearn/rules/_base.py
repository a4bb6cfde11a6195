"""Base class of rules: a frozen value with a name, parameters and a step; must not know vectors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

from surelearn import _check, _core


class Step(NamedTuple):
    """The step of a rule: ``mu += alpha sigma g`` and ``sigma^-1 += gain g g'``.

    >>> from surelearn.rules import PA
    >>> PA().step(0.0, 2.0)
    Step(alpha=0.5, gain=0.0)
    """

    alpha: float
    gain: float


@dataclass(frozen=True)
class Rule:
    """Base class of all rules. A subclass has a name and parameters.

    >>> from surelearn.rules import AROW
    >>> AROW(r=1.0).replace(r=2.0)
    AROW(r=2.0)
    >>> AROW().params(), AROW().first_order
    ({'r': 1.0}, False)
    """

    name: ClassVar[str]

    def step(self, m: float, v: float) -> Step:
        """Step for a margin of mean `m` (positive is right) and variance `v`."""
        return Step(*self.core().step(m, v))

    def core(self) -> _core.Rule:
        """The same rule in the native core."""
        return _core.Rule(self.name, [float(value) for value in self.params().values()])

    def params(self) -> dict[str, Any]:
        """Parameters by name, in the order the core takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replace(self, **changes: Any) -> Self:
        """The same rule with some parameters changed."""
        known = self.params()
        may = [*known, "eta"] if "phi" in known else list(known)
        for name in changes:
            if name not in may:
                raise TypeError(f"{self!r} must be given {_check.listing(may)}, got {name!r}.")
        if "eta" in changes:
            known.pop("phi", None)
        return type(self)(**{**known, **changes})

    @property
    def label_noise(self) -> float:
        """Variance of the label noise in the rule's model of a label."""
        return 0.0

    @property
    def first_order(self) -> bool:
        """Whether the rule learns means only, without variances."""
        return self.core().first_order
