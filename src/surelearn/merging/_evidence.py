"""Ways to merge: their names, and the one that has a parameter; must not know sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

from surelearn import _check

#: Ways to merge by name.
HOWS = ("evidence", "bayes", "weighted", "kl", "uniform")


@dataclass(frozen=True)
class Evidence:
    r"""Merge the moves of models by the evidence that each has gathered.

    .. math:: \mu = \mu_0 + \frac{\lambda_0 D + \tau X}{\lambda_0 + \tau G}, \qquad
        \lambda = \lambda_0 + G \frac{\lambda_0 + \tau G / m}{\lambda_0 + \tau G}

    of every weight, with :math:`(\mu_0, \lambda_0)` the mean and precision that all m models that
    moved it started from, and the sums over them :math:`D = \sum (\mu_i - \mu_0)`,
    :math:`G = \sum (\lambda_i - \lambda_0)`,
    :math:`X = \sum (\lambda_i - \lambda_0) (\mu_i - \mu_0)`. ``docs/theory/merging.md`` derives it.

    Parameters
    ----------
    tau : float > 0, default 16
        How much more the evidence counts than the variances say. 1: what the models have learnt is
        added up, as by ``"bayes"``. Infinity: the mean of their moves, weighed by the evidence,
        with the precision of an average model.

    Examples
    --------
    >>> from surelearn.merging import Evidence
    >>> Evidence()
    Evidence(tau=16.0)
    """

    tau: float = 16.0

    def __post_init__(self) -> None:
        if not (isinstance(self.tau, float) and self.tau == math.inf):
            object.__setattr__(self, "tau", _check.number("tau", self.tau, "(0, inf]", low=0.0))


#: How models are merged: `Evidence`, or one of the other names.
Way = str | Evidence


def repeated(how: str, times: int) -> Way:
    """The way for parts that are merged so often, each time from what was merged before.

    What is added up too often would feed itself from one time to the next: moves are averaged.
    """
    return Evidence(math.inf) if how == "evidence" and times > 1 else how


def counts_start_once(how: Way) -> bool:
    """Whether a model that has learnt nothing adds nothing."""
    return how == "bayes" or isinstance(how, Evidence)


def way_of(how: object) -> Way:
    """A way by its name, or as it is."""
    if isinstance(how, Evidence):
        return how
    name = _check.choice("how", how, HOWS)
    return Evidence() if name == "evidence" else name
