"""Rules with a wanted probability of the right label: the CW family; must not know vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from surelearn import _check, _core
from surelearn.rules._base import Rule, Step


@dataclass(frozen=True, init=False)
class _Confident(Rule):
    """Rules with a wanted probability `eta` of the right label, or its quantile `phi`."""

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
        Wanted probability of the right label. A diagonal covariance does not reach it; there it is
        a parameter to tune, and useful values of `phi` range from 0.003 to 30. At 0.5 only a
        negative margin causes an update, so a model that starts at zero never learns.
    phi : float >= 0, optional
        Instead of `eta`: ``normal_quantile(eta)``. The default is 3.

    References
    ----------
    Dredze, Crammer & Pereira 2008, Confidence-Weighted Linear Classification, eq. 12 and 16. The
    root is computed by the other form of the quadratic formula, since the printed one cancels.

    Examples
    --------
    >>> Variance(phi=1.0).step(0.0, 1.0)
    Step(alpha=0.5, gain=1.0)
    """

    name = "variance"
    _default_phi = 3.0


class VarianceExact(_Confident):
    r"""The constraint of `Variance`, solved exactly for a diagonal covariance.

    .. math:: m + \alpha v = \phi \sum_j \frac{a_j}{1 + 2 \alpha \phi a_j},
        \qquad a_j = \sigma_j g_j^2, \qquad gain = 2 \alpha \phi

    It holds with ``projection="precision"``, the form that the paper derives.

    Parameters
    ----------
    eta, phi : as of `Variance`, by default ``phi=0.3``

    References
    ----------
    Dredze, Crammer & Pereira 2008, sec. 4.1 (Variance-Exact); solved by Newton's method.

    Examples
    --------
    >>> VarianceExact(phi=1.0).step(0.0, 1.0, [1.0])
    Step(alpha=0.5, gain=1.0)
    """

    name = "variance-exact"
    _default_phi = 0.3

    def step(self, m: float, v: float, a: Sequence[float] | None = None) -> Step:
        """Step for margin `m` and variance `v`; `a` has the share of each feature in `v`."""
        shares = [v] if a is None else [float(share) for share in a]
        return Step(*self.core().step(m, v, shares))


class Stdev(_Confident):
    r"""Confidence-weighted learning with a margin of at least `phi` standard deviations.

    .. math:: \min_{\mu, \Sigma} D_{KL}(N(\mu, \Sigma) \| N(\mu_i, \Sigma_i))
        \quad\text{s.t.}\quad m \ge \phi \sqrt{v}

    .. math:: \alpha = \max\Big(0, \frac{-m\psi + \sqrt{m^2\phi^4/4 + v\phi^2\xi}}{v\xi}\Big),
        \quad gain = \frac{\alpha\phi}{\sqrt{u}},
        \quad \sqrt{u} = \frac{-\alpha v \phi + \sqrt{\alpha^2 v^2 \phi^2 + 4v}}{2}

    with :math:`\psi = 1 + \phi^2/2`, :math:`\xi = 1 + \phi^2`. The initial variance changes only
    the scale.

    Parameters
    ----------
    eta, phi : as of `Variance`, by default ``phi=0.5``

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
    """`Stdev` with a slack of cost `C`."""

    C: float

    _default_C: ClassVar[float] = 1.0

    def __init__(
        self, eta: float | None = None, C: float | None = None, *, phi: float | None = None
    ) -> None:
        super().__init__(eta, phi=phi)
        object.__setattr__(self, "C", _check.positive("C", self._default_C if C is None else C))


class SCW1(_SoftConfident):
    r"""Soft confidence-weighted learning with linear slack.

    .. math:: \alpha = \min(C, \alpha_{Stdev}), \qquad gain = \alpha \phi / \sqrt{u}

    Parameters
    ----------
    eta, phi : as of `Variance`, by default ``phi=1``
    C : float > 0, default 1
        Aggressiveness: the cost of the slack.

    References
    ----------
    Wang, Zhao & Hoi 2012, Exact Soft Confidence-Weighted Learning.

    Examples
    --------
    >>> SCW1(phi=1.0, C=0.1).step(0.0, 1.0).alpha  # at most C
    0.1
    """

    name = "scw1"


class SCW2(_SoftConfident):
    r"""Soft confidence-weighted learning with squared slack.

    .. math:: \alpha = \frac{-m(2n + \phi^2 v) + \gamma}{2(n^2 + n v \phi^2)}, \qquad
        n = v + \frac{1}{2C}, \quad
        \gamma = \phi\sqrt{\phi^2 m^2 v^2 + 4 n v (n + v\phi^2)}

    Parameters
    ----------
    eta, C, phi : as of `SCW1`, by default ``C=0.3, phi=3``

    References
    ----------
    Wang, Zhao & Hoi 2012, Exact Soft Confidence-Weighted Learning.

    Examples
    --------
    >>> alpha, gain = SCW2(phi=1.0, C=1.0).step(0.0, 1.0)
    >>> round(alpha, 3), round(gain, 3)
    (0.516, 0.667)
    """

    name = "scw2"
    _default_phi = 3.0
    _default_C = 0.3
