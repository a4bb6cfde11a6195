"""Constraints: which rivals a row is learnt from, in which order; must not know rules.

With two classes there is one rival. With more, each row gives one constraint for every wrong label:
the score of the right label must exceed that of the wrong one. A scheme decides how many of these
constraints are used, best rivals first, and how.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    """Base class of all schemes. A subclass has a name and parameters.

    >>> Sequential(k=2).name, Sequential(k=2).params()
    ('sequential', {'k': 2})
    """

    name: ClassVar[str]

    def params(self) -> dict[str, Any]:
        """Parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def core(self) -> _core.Scheme:
        """The same scheme in the native core."""
        return _core.Scheme(self.name)

    def check_rivals(self, n_rivals: int) -> None:
        """Raise if the scheme needs more rivals than there are."""


@dataclass(frozen=True)
class Single(Constraints):
    """Learn from the best wrong label only.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 5.1 (k = 1).

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> SureClassifier(constraints=Single()).fit([[0.0], [1.0], [2.0]], [0, 1, 2]).predict([[0.0]])
    array([0])
    """

    name = "single"


@dataclass(frozen=True)
class _Many(Constraints):
    """Schemes that learn from the `k` best wrong labels, ranked before the first step."""

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", _check.count("k", self.k))

    def core(self) -> _core.Scheme:
        """The same scheme in the native core."""
        return _core.Scheme(self.name, self.k or 0)

    def check_rivals(self, n_rivals: int) -> None:
        """Raise if there are fewer rivals than `k`."""
        _enough_rivals(repr(self), self.k, n_rivals)


class Sequential(_Many):
    """Learn from the `k` best wrong labels, one after the other.

    Each step starts from the weights after the previous one. The order is that of the mean scores
    before the first step; ties follow the order of the classes.

    Parameters
    ----------
    k : int or None, default None
        Number of rivals; None means all. `fit` raises if there are fewer; `partial_fit` uses those
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

    Every step is computed from the weights before the first step. The means and precisions of the
    models that each step alone would give are then averaged,

    .. math:: \mu = \sum_j \lambda_j \mu_j, \qquad \Sigma^{-1} = \sum_j \lambda_j \Sigma_j^{-1}

    Parameters
    ----------
    k : int or None, default None
        Number of rivals; None means all.
    mixing : sequence of float, optional
        The weights lambda, best rival first, not negative; they are scaled to sum to one. The
        default is ``1 / k`` each. With fewer rivals than weights, the first weights are rescaled.

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
            object.__setattr__(self, "mixing", _mixing(self.mixing, self.k))

    def core(self) -> _core.Scheme:
        """The same scheme in the native core."""
        mixing = [] if self.mixing is None else list(self.mixing)
        return _core.Scheme(self.name, self.k or len(mixing), mixing)

    def check_rivals(self, n_rivals: int) -> None:
        """Raise if there are fewer rivals than `k` or than weights in `mixing`."""
        wanted = self.k if self.mixing is None else len(self.mixing)
        _enough_rivals(repr(self), wanted, n_rivals)


class Exact(_Many):
    r"""Satisfy the constraints of the `k` best wrong labels all at once.

    For `Variance` and `Stdev` this is the KL projection

    .. math:: \min_{\mu, \Sigma} D_{KL}(N(\mu, \Sigma) \| N(\mu_i, \Sigma_i))
        \quad\text{s.t.}\quad \mu \cdot g_r \ge \phi\, g_r^\top \Sigma g_r
        \quad\text{(Stdev: } \phi \sqrt{g_r^\top \Sigma g_r}\text{)}, \quad r = 1..k

    among Gaussians with the covariance of the model: with a diagonal one it is the best diagonal
    Gaussian, and `projection` has no effect. For `PA`, `PA1` and `PA2` it is k-best PA. Two classes
    have one constraint; with `Variance` this is `VarianceExact`.

    Parameters
    ----------
    k : int or None, default None
        Number of rivals; None means all.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2 (Exact) and 6.3 (k-best PA).

    Examples
    --------
    >>> Exact(k=5)
    Exact(k=5)
    """

    name = "exact"


#: Every scheme by name.
SCHEMES: dict[str, type[Constraints]] = {
    scheme.name: scheme for scheme in (Single, Sequential, Parallel, Exact)
}


def get(constraints: str | Constraints) -> Constraints:
    """The scheme for a scheme or a name (with default parameters).

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
    r"""The `eta` of each single constraint for which all hold together with probability `eta`.

    .. math:: \eta_{out} = 1 - \frac{1 - \eta_{in}}{K - 1}

    By the union bound, the right label beats all K - 1 rivals with probability `eta` if it beats
    each of them with probability `outer_eta(eta, K)`.

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
    # Rounding must not give 1, which no rule accepts.
    return min(1.0 - (1.0 - eta) / rivals, math.nextafter(1.0, 0.0))


def _mixing(value: object, k: int | None) -> tuple[float, ...]:
    """Weights of the parallel scheme, scaled to sum to one."""
    try:
        if isinstance(value, str | Mapping):
            raise TypeError
        given = [float(x) for x in value]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"mixing must be a list of numbers, got {value!r}.") from None
    if not given or not all(0 <= x < math.inf for x in given) or not 0 < sum(given) < math.inf:
        raise ValueError(f"mixing must hold finite numbers >= 0, not all 0, got {value!r}.")
    if k is not None and len(given) != k:
        raise ValueError(f"mixing must have k={k} entries, got {len(given)}.")
    return tuple(x / sum(given) for x in given)


def _enough_rivals(scheme: str, k: int | None, n_rivals: int) -> None:
    if k is not None and k > n_rivals:
        raise ValueError(
            f"{scheme} needs at least {k + 1} classes for {k} rivals, got {n_rivals + 1}. "
            "Use a smaller k, or None for all rivals."
        )
