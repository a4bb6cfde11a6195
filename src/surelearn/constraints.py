"""Room 5, constraints: which rivals are learnt from, in which order; must not know rules.

Two classes have one rival. With more, each row gives one constraint for every wrong label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from surelearn import _check

__all__ = ["Constraints", "Single", "get"]


@dataclass(frozen=True)
class Constraints:
    """What all schemes share: a name."""

    name: ClassVar[str]


@dataclass(frozen=True)
class Single(Constraints):
    """Learn from the best wrong label only.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 5.1 (k = 1).
    """

    name = "single"


def get(constraints: str | Constraints) -> Constraints:
    """The scheme itself, or the one of that name.

    >>> get("single")
    Single()
    """
    if isinstance(constraints, Constraints) and type(constraints) is not Constraints:
        return constraints
    name = _check.choice("constraints", constraints, ["single", "sequential", "parallel", "exact"])
    if name != "single":
        _check.not_yet("constraints", name, "single")
    return Single()
