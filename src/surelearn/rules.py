"""Room 4, rules: margin and variance in, step out; must not know vectors, labels or estimators.

A rule is a value: it can be compared, copied, stepped by hand and listed in a grid search.

>>> from surelearn import rules
>>> rules.AROW(r=1.0).step(0.0, 1.0)
Step(alpha=0.5, gain=1.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

from surelearn import _check, _core

__all__ = [
    "AROW",
    "NHERD",
    "PA",
    "PA1",
    "PA2",
    "RULES",
    "SCW1",
    "SCW2",
    "Perceptron",
    "Probit",
    "Rule",
    "SecondOrderPerceptron",
    "Stdev",
    "Step",
    "Variance",
    "VarianceExact",
    "get",
]


class Step(NamedTuple):
    """What a rule decides: ``mu += alpha sigma g`` and ``sigma^-1 += gain g g'``."""

    alpha: float
    gain: float


@dataclass(frozen=True)
class Rule:
    """What all rules share. A subclass states its name and its parameters."""

    name: ClassVar[str]

    def step(self, m: float, v: float) -> Step:
        """Step for a margin of mean `m` (positive is right) and variance `v`."""
        return Step(*self.core().step(m, v))

    def core(self) -> _core.Rule:
        """The same rule in the native core."""
        return _core.Rule(self.name, [float(value) for value in self.params().values()])

    def params(self) -> dict[str, float]:
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
        """Variance that the rule takes a label to add to its margin."""
        return 0.0

    @property
    def first_order(self) -> bool:
        """Whether the rule learns means only and needs no variances."""
        return self.core().first_order


@dataclass(frozen=True, init=False)
class _Confident(Rule):
    """Rules that ask for a probability `eta` of the right label, or for its quantile `phi`."""

    phi: float

    def __init__(self, eta: float | None = None, *, phi: float | None = None) -> None:
        object.__setattr__(self, "phi", _phi(eta, phi, self._default_phi))

    _default_phi: ClassVar[float] = 1.0

    @property
    def eta(self) -> float:
        """Wanted probability of the right label, ``normal_cdf(phi)``."""
        return _core.normal_cdf(self.phi)


def _phi(eta: float | None, phi: float | None, default: float) -> float:
    if eta is not None and phi is not None:
        raise TypeError(f"eta or phi must be given, got both: eta={eta!r}, phi={phi!r}.")
    if eta is not None:
        eta = _check.number("eta", eta, "[0.5, 1)", low=0.5, high=1.0)
        return _core.normal_quantile(eta)
    high = math.nextafter(1e6, math.inf)
    return _check.number("phi", default if phi is None else phi, "[0, 1e6]", low=0.0, high=high)


class Variance(_Confident):
    r"""Confidence-weighted learning with a margin of at least `phi` times its variance.

    .. math:: \min_{\mu, \Sigma} D_{KL}(N(\mu, \Sigma) \| N(\mu_i, \Sigma_i))
        \quad\text{s.t.}\quad m \ge \phi\, v

    .. math:: \alpha = \frac{-(1 + 2\phi m) + \sqrt{(1 + 2\phi m)^2 - 8\phi(m - \phi v)}}
        {4\phi v}, \qquad gain = 2 \alpha \phi

    Parameters
    ----------
    eta : float in [0.5, 1), optional
        Wanted probability of the right label. A diagonal covariance does not reach it: there it
        is a knob, and useful values of `phi` lie anywhere in 0.003 .. 30. At 0.5 only a negative
        margin moves anything, so a model that starts at zero never learns.
    phi : float >= 0, optional
        Given in place of `eta`; ``normal_quantile(eta)``. Default 0.3.

    References
    ----------
    Dredze, Crammer & Pereira 2008, Confidence-Weighted Linear Classification, eq. 12 and 16. The
    root is computed by the other half of the quadratic formula, since the printed one cancels.

    Examples
    --------
    >>> Variance(phi=1.0).step(0.0, 1.0)
    Step(alpha=0.5, gain=1.0)
    """

    name = "variance"
    _default_phi = 0.3


class VarianceExact(_Confident):
    r"""The constraint of `Variance`, met by the diagonal covariance itself.

    .. math:: m + \alpha v = \phi \sum_j \frac{a_j}{1 + 2 \alpha \phi a_j},
        \qquad a_j = \sigma_j g_j^2, \qquad gain = 2 \alpha \phi

    It is met under ``projection="precision"``, the form the paper derives.

    Parameters
    ----------
    eta : float in [0.5, 1), optional
        Wanted probability of the right label.
    phi : float >= 0, optional
        Given in place of `eta`. Default 0.1.

    References
    ----------
    Dredze, Crammer & Pereira 2008, sec. 4.1 (Variance-Exact); solved by Newton's method.

    Examples
    --------
    >>> VarianceExact(phi=1.0).step(0.0, 1.0, [1.0])
    Step(alpha=0.5, gain=1.0)
    """

    name = "variance-exact"
    _default_phi = 0.1

    def step(self, m: float, v: float, a: Sequence[float] | None = None) -> Step:
        """Step for margin `m` and variance `v` whose share by feature is `a`, summing to `v`."""
        shares = [v] if a is None else [float(share) for share in a]
        return Step(*self.core().step(m, v, shares))


class Stdev(_Confident):
    r"""Confidence-weighted learning with a margin of at least `phi` standard deviations.

    .. math:: \min_{\mu, \Sigma} D_{KL}(N(\mu, \Sigma) \| N(\mu_i, \Sigma_i))
        \quad\text{s.t.}\quad m \ge \phi \sqrt{v}

    .. math:: \alpha = \max\Big(0, \frac{-m\psi + \sqrt{m^2\phi^4/4 + v\phi^2\xi}}{v\xi}\Big),
        \quad gain = \frac{\alpha\phi}{\sqrt{u}},
        \quad \sqrt{u} = \frac{-\alpha v \phi + \sqrt{\alpha^2 v^2 \phi^2 + 4v}}{2}

    with :math:`\psi = 1 + \phi^2/2`, :math:`\xi = 1 + \phi^2`. The initial variance changes nothing
    but the scale.

    Parameters
    ----------
    eta : float in [0.5, 1), optional
        Wanted probability of the right label.
    phi : float >= 0, optional
        Given in place of `eta`. Default 0.5.

    References
    ----------
    Crammer, Dredze & Pereira 2008, Exact Convex Confidence-Weighted Learning, eq. 12, 14, 22.

    Examples
    --------
    >>> Stdev(eta=0.5).step(-1.0, 2.0)
    Step(alpha=0.5, gain=0.0)
    """

    name = "stdev"
    _default_phi = 0.5


@dataclass(frozen=True, init=False)
class _SoftConfident(_Confident):
    """Stdev with a slack that costs `C`."""

    C: float

    _default_C: ClassVar[float] = 1.0

    def __init__(
        self, eta: float | None = None, C: float | None = None, *, phi: float | None = None
    ) -> None:
        super().__init__(eta, phi=phi)
        object.__setattr__(self, "C", _check.positive("C", self._default_C if C is None else C))


class SCW1(_SoftConfident):
    r"""Soft confidence-weighted learning, slack of linear cost.

    .. math:: \alpha = \min(C, \alpha_{Stdev}), \qquad gain = \alpha \phi / \sqrt{u}

    Parameters
    ----------
    eta : float in [0.5, 1), optional
        Wanted probability of the right label.
    C : float > 0, default 0.1
        Aggressiveness.
    phi : float >= 0, optional
        Given in place of `eta`. Default 1.

    References
    ----------
    Wang, Zhao & Hoi 2012, Exact Soft Confidence-Weighted Learning.
    """

    name = "scw1"
    _default_C = 0.1


class SCW2(_SoftConfident):
    r"""Soft confidence-weighted learning, slack of squared cost.

    .. math:: \alpha = \frac{-m(2n + \phi^2 v) + \gamma}{2(n^2 + n v \phi^2)}, \qquad
        n = v + \frac{1}{2C}, \quad
        \gamma = \phi\sqrt{\phi^2 m^2 v^2 + 4 n v (n + v\phi^2)}

    Parameters
    ----------
    eta : float in [0.5, 1), optional
        Wanted probability of the right label.
    C : float > 0, default 1
        Aggressiveness.
    phi : float >= 0, optional
        Given in place of `eta`. Default 1.

    References
    ----------
    Wang, Zhao & Hoi 2012, Exact Soft Confidence-Weighted Learning.
    """

    name = "scw2"


@dataclass(frozen=True)
class AROW(Rule):
    r"""Adaptive regularisation of weights: squared hinge and variance weighed against each other.

    .. math:: \alpha = \frac{\max(0, 1 - m)}{v + r}, \qquad gain = 1/r

    Parameters
    ----------
    r : float > 0, default 1
        Regulariser: larger moves less.

    References
    ----------
    Crammer, Kulesza & Dredze 2009, Adaptive Regularization of Weight Vectors.

    Examples
    --------
    >>> AROW(r=1.0).step(0.0, 1.0)
    Step(alpha=0.5, gain=1.0)
    """

    name = "arow"
    r: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", _check.positive("r", self.r))


@dataclass(frozen=True)
class Probit(Rule):
    r"""Assumed-density filtering of a label that is the sign of a score with normal noise.

    .. math:: t = \frac{m}{\sqrt{n + v}}, \quad h = \frac{pdf(t)}{cdf(t)}, \quad w = h(h + t),
        \quad \alpha = \frac{h}{\sqrt{n + v}}, \quad gain = \frac{w}{n + v(1 - w)}

    Parameters
    ----------
    noise : float > 0, default 1
        Variance `n` of the noise: larger trusts a label less.

    References
    ----------
    Minka 2001, A Family of Algorithms for Approximate Bayesian Inference; Graepel et al. 2010.
    """

    name = "probit"
    noise: float = 1.0

    @property
    def label_noise(self) -> float:
        """The noise: it is part of the model of a label."""
        return self.noise

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", _check.positive("noise", self.noise))


@dataclass(frozen=True)
class _Aggressive(Rule):
    """Rules with one parameter `C`."""

    C: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", _check.positive("C", self.C))


@dataclass(frozen=True)
class NHERD(_Aggressive):
    r"""Gaussian herding: one linear map moves the whole distribution.

    .. math:: \alpha = \frac{\max(0, 1 - m)}{v + 1/C}, \qquad gain = 2C + C^2 v

    Parameters
    ----------
    C : float > 0, default 0.1
        Aggressiveness.

    References
    ----------
    Crammer & Lee 2010, Learning via Gaussian Herding.
    """

    name = "nherd"
    C: float = 0.1


@dataclass(frozen=True)
class SecondOrderPerceptron(Rule):
    r"""The second-order perceptron: AROW's step at r = 1, on mistakes only.

    .. math:: \alpha = \frac{1 - m}{1 + v}, \quad gain = 1 \quad\text{if } m \le 0

    References
    ----------
    Cesa-Bianchi, Conconi & Gentile 2005, A Second-Order Perceptron Algorithm. Their matrix starts
    at ``1 / initial_variance``.
    """

    name = "sop"


@dataclass(frozen=True)
class Perceptron(Rule):
    r"""The perceptron: add the row on a mistake.

    .. math:: \alpha = 1 \quad\text{if } m \le 0

    References
    ----------
    Rosenblatt 1958, The Perceptron. With ``average=True``: Freund & Schapire 1999.
    """

    name = "perceptron"


@dataclass(frozen=True)
class PA(Rule):
    r"""Passive-aggressive: the smallest move that gives margin 1.

    .. math:: \alpha = \max(0, 1 - m) / |g|^2

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms.
    """

    name = "pa"


@dataclass(frozen=True)
class PA1(_Aggressive):
    r"""Passive-aggressive with a slack of linear cost.

    .. math:: \alpha = \min(C, \max(0, 1 - m) / |g|^2)

    Parameters
    ----------
    C : float > 0, default 1
        Aggressiveness.

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms (PA-I).
    """

    name = "pa1"


@dataclass(frozen=True)
class PA2(_Aggressive):
    r"""Passive-aggressive with a slack of squared cost.

    .. math:: \alpha = \max(0, 1 - m) / (|g|^2 + 1/(2C))

    Parameters
    ----------
    C : float > 0, default 1
        Aggressiveness.

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms (PA-II).
    """

    name = "pa2"


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
