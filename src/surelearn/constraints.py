"""Room 5, constraints: which rivals are learnt from, in which order; must not know rules.

Two classes have one rival. With more, each row gives one constraint for every wrong label: the
right one must be ahead of it. A scheme says from how many of them is learnt, best rivals first, and
how.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from surelearn import _check, _core

__all__ = [
    "SCHEMES",
    "Constraints",
    "Exact",
    "Parallel",
    "Sequential",
    "Single",
    "get",
    "outer_eta",
]


@dataclass(frozen=True)
class Constraints:
    """What all schemes share. A subclass states its name and its parameters."""

    name: ClassVar[str]

    def params(self) -> dict[str, Any]:
        """Parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def core(self) -> _core.Scheme:
        """The same scheme in the native core."""
        return _core.Scheme(self.name)

    def check_rivals(self, n_rivals: int) -> None:
        """Refuse to ask for more rivals than there are."""


@dataclass(frozen=True)
class Single(Constraints):
    """Learn from the best wrong label only.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 5.1 (k = 1).
    """

    name = "single"


@dataclass(frozen=True)
class _Many(Constraints):
    """Schemes that learn from the `k` best wrong labels, ranked at the start of the round."""

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", _check.count("k", self.k))

    def core(self) -> _core.Scheme:
        return _core.Scheme(self.name, self.k or 0)

    def check_rivals(self, n_rivals: int) -> None:
        _check.enough_rivals(repr(self), self.k, n_rivals)


class Sequential(_Many):
    """Learn from the `k` best wrong labels, one after the other.

    Each step starts from the weights that the one before has left. The order is that of the mean
    scores at the start of the round, equals by the order of the classes.

    Parameters
    ----------
    k : int or None, default None
        How many rivals; None: all. `fit` refuses more than there are; `partial_fit` uses those
        there are.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2.

    Examples
    --------
    >>> Sequential(k=5)
    Sequential(k=5)
    """

    name = "sequential"


@dataclass(frozen=True)
class Parallel(_Many):
    r"""Learn from the `k` best wrong labels at once.

    Every step is found from the weights at the start of the round; means and precisions of the
    models that each alone would give are then averaged,

    .. math:: \mu = \sum_j \lambda_j \mu_j, \qquad \Sigma^{-1} = \sum_j \lambda_j \Sigma_j^{-1}

    Parameters
    ----------
    k : int or None, default None
        How many rivals; None: all.
    mixing : sequence of float, optional
        The weights lambda, best rival first, not negative; they are scaled to sum to one. Default
        ``1 / k`` each. With fewer rivals than weights the first ones share the whole.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2.

    Examples
    --------
    >>> Parallel(k=2, mixing=[3, 1])
    Parallel(k=2, mixing=(0.75, 0.25))
    """

    name = "parallel"
    mixing: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mixing is not None:
            object.__setattr__(self, "mixing", _check.mixing(self.mixing, self.k))

    def core(self) -> _core.Scheme:
        mixing = [] if self.mixing is None else list(self.mixing)
        return _core.Scheme(self.name, self.k or len(mixing), mixing)

    def check_rivals(self, n_rivals: int) -> None:
        wanted = self.k if self.mixing is None else len(self.mixing)
        _check.enough_rivals(repr(self), wanted, n_rivals)


class Exact(_Many):
    r"""Meet the constraints of the `k` best wrong labels all at once.

    For `Variance` and `Stdev` it is the KL projection

    .. math:: \min_{\mu, \Sigma} D_{KL}(N(\mu, \Sigma) \| N(\mu_i, \Sigma_i))
        \quad\text{s.t.}\quad \mu \cdot g_r \ge \phi\, g_r^\top \Sigma g_r
        \quad\text{(Stdev: } \phi \sqrt{g_r^\top \Sigma g_r}\text{)}, \quad r = 1..k

    among Gaussians of the model's own kind: with diagonal covariance it is the best diagonal one,
    whatever `projection` says. For `PA`, `PA1` and `PA2` it is k-best PA. Two classes have one
    constraint; with `Variance` that is `VarianceExact`.

    Parameters
    ----------
    k : int or None, default None
        How many rivals; None: all.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2 (Exact) and 6.3 (k-best PA).
    """

    name = "exact"


#: Every scheme by its name.
SCHEMES: dict[str, type[Constraints]] = {
    scheme.name: scheme for scheme in (Single, Sequential, Parallel, Exact)
}


def get(constraints: str | Constraints) -> Constraints:
    """The scheme itself, or the one of that name with its default parameters.

    >>> get("single")
    Single()
    """
    if isinstance(constraints, Constraints) and type(constraints) in SCHEMES.values():
        return constraints
    if isinstance(constraints, type) and issubclass(constraints, Constraints):
        raise TypeError(
            f"constraints must be a value such as {constraints.__name__}(), got the class itself."
        )
    return SCHEMES[_check.choice("constraints", constraints, SCHEMES)]()


def outer_eta(eta: float, n_classes: int) -> float:
    r"""What each single constraint must ask for so that all hold together with probability `eta`.

    .. math:: \eta_{out} = 1 - \frac{1 - \eta_{in}}{K - 1}

    That the right label beats every one of K - 1 rivals with probability `eta` follows if it beats
    each of them with probability `outer_eta(eta, K)` (the union bound).

    Parameters
    ----------
    eta : float in [0.5, 1)
        Wanted probability that the right label wins.
    n_classes : int >= 2

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 4 (inner and outer bound).

    Examples
    --------
    >>> outer_eta(0.9, 3)
    0.95
    """
    eta = _check.number("eta", eta, "[0.5, 1)", low=0.5, high=1.0)
    rivals = _check.count("n_classes", n_classes, least=2) - 1
    # Rounding may not take it to 1, which no rule can ask for.
    return min(1.0 - (1.0 - eta) / rivals, math.nextafter(1.0, 0.0))
