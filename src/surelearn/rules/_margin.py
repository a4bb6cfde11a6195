"""Rules with a wanted margin, Probit, and first-order rules; must not know vectors."""

from __future__ import annotations

from dataclasses import dataclass

from surelearn import _check
from surelearn.rules._base import Rule


@dataclass(frozen=True)
class AROW(Rule):
    r"""Adaptive regularisation of weights: a trade-off between squared hinge loss and variance.

    .. math:: \alpha = \frac{\max(0, 1 - m)}{v + r}, \qquad gain = 1/r

    Parameters
    ----------
    r : float > 0, default 1
        Regulariser: a larger value gives smaller steps.

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
    r"""Assumed-density filtering; the label is the sign of a score with Gaussian noise.

    .. math:: t = \frac{m}{\sqrt{n + v}}, \quad h = \frac{pdf(t)}{cdf(t)}, \quad w = h(h + t),
        \quad \alpha = \frac{h}{\sqrt{n + v}}, \quad gain = \frac{w}{n + v(1 - w)}

    Parameters
    ----------
    noise : float > 0, default 1
        Variance `n` of the noise: a larger value trusts a label less.

    References
    ----------
    Minka 2001, A Family of Algorithms for Approximate Bayesian Inference; Graepel et al. 2010.

    Examples
    --------
    >>> right, wrong = Probit().step(2.0, 1.0), Probit().step(-2.0, 1.0)
    >>> round(right.alpha, 3), round(wrong.alpha, 3)  # it learns from right predictions as well
    (0.113, 1.319)
    """

    name = "probit"
    noise: float = 1.0

    @property
    def label_noise(self) -> float:
        """The noise, which is part of the model of a label."""
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
    C : float > 0, default 0.3
        Aggressiveness.

    References
    ----------
    Crammer & Lee 2010, Learning via Gaussian Herding.

    Examples
    --------
    >>> NHERD(C=1.0).step(0.0, 1.0)
    Step(alpha=0.5, gain=3.0)
    """

    name = "nherd"
    C: float = 0.3


@dataclass(frozen=True)
class SecondOrderPerceptron(Rule):
    r"""The second-order perceptron: AROW's step at r = 1, on mistakes only.

    .. math:: \alpha = \frac{1 - m}{1 + v}, \quad gain = 1 \quad\text{if } m \le 0

    References
    ----------
    Cesa-Bianchi, Conconi & Gentile 2005, A Second-Order Perceptron Algorithm. Their matrix starts
    at ``1 / initial_variance``.

    Examples
    --------
    >>> SecondOrderPerceptron().step(0.0, 1.0)
    Step(alpha=0.5, gain=1.0)
    """

    name = "sop"


@dataclass(frozen=True)
class Perceptron(Rule):
    r"""The perceptron: add the row on a mistake.

    .. math:: \alpha = 1 \quad\text{if } m \le 0

    References
    ----------
    Rosenblatt 1958, The Perceptron. With ``average=True``: Freund & Schapire 1999.

    Examples
    --------
    >>> Perceptron().step(-0.5, 1.0), Perceptron().step(0.5, 1.0)
    (Step(alpha=1.0, gain=0.0), Step(alpha=0.0, gain=0.0))
    """

    name = "perceptron"


@dataclass(frozen=True)
class PA(Rule):
    r"""Passive-aggressive: the smallest step that gives margin 1.

    .. math:: \alpha = \max(0, 1 - m) / |g|^2

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms.

    Examples
    --------
    >>> PA().step(-0.5, 2.0)  # 1.5 short of margin 1; |g|^2 = 2
    Step(alpha=0.75, gain=0.0)
    """

    name = "pa"


@dataclass(frozen=True)
class PA1(_Aggressive):
    r"""Passive-aggressive with linear slack.

    .. math:: \alpha = \min(C, \max(0, 1 - m) / |g|^2)

    Parameters
    ----------
    C : float > 0, default 1
        Aggressiveness: the largest `alpha`.

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms (PA-I).

    Examples
    --------
    >>> PA1(C=0.2).step(-0.5, 2.0)
    Step(alpha=0.2, gain=0.0)
    """

    name = "pa1"


@dataclass(frozen=True)
class PA2(_Aggressive):
    r"""Passive-aggressive with squared slack.

    .. math:: \alpha = \max(0, 1 - m) / (|g|^2 + 1/(2C))

    Parameters
    ----------
    C : float > 0, default 1
        Aggressiveness: a larger value is closer to `PA`.

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms (PA-II).

    Examples
    --------
    >>> PA2(C=1.0).step(-0.5, 2.0)
    Step(alpha=0.6, gain=0.0)
    """

    name = "pa2"
