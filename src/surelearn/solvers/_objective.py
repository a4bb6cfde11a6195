"""What solvers minimise, and what they report and return; must not know how they solve."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check

Array = NDArray[np.float64]


class Loss(Protocol):
    """A loss over examples, as the core computes it; weights are a flat vector of doubles."""

    @property
    def n_weights(self) -> int:
        """Length of the vector of weights."""

    def log_loss(self, w: Array, gradient: Array, threads: int) -> float:
        """The sum of log losses; writes its gradient."""

    def curvature(self, w: Array, out: Array, threads: int) -> None:
        """Write the diagonal of the Hessian of the log loss."""

    def hinge_loss(self, w: Array, cost: Array | None, threads: int) -> float:
        """The sum of generalised hinge losses."""

    def descend(  # noqa: PLR0917 (as the core has it)
        self, kind: str, cost: Array | None, w: Array, average: Array, state: Array,
        order: NDArray[np.int64], l2: float,
    ) -> None:  # fmt: skip
        """One stochastic pass, which changes `w`, `average` and `state`."""


@dataclass(frozen=True)
class Prior:
    """A Gaussian prior of the weights with diagonal covariance.

    Parameters
    ----------
    mean : ndarray of shape (n_weights,) or None
        None: zeros.
    precision : float or ndarray of shape (n_weights,)
        0 for a weight that is not penalised.
    """

    mean: Array | None
    precision: Array | float

    def moved(self, w: Array) -> Array:
        """The distance of weights from the mean."""
        return w if self.mean is None else w - self.mean

    def value(self, w: Array) -> float:
        """The penalty of weights: half their squared distance in the metric of the precision."""
        moved = self.moved(w)
        return 0.5 * float(np.dot(self.precision * moved, moved))

    def add_to(self, gradient: Array, w: Array) -> float:
        """Add the gradient of the penalty, and return its value."""
        moved = self.moved(w)
        pull = self.precision * moved
        gradient += pull
        return 0.5 * float(np.dot(pull, moved))

    def start(self, n_weights: int) -> Array:
        """A new vector at the mean."""
        return np.zeros(n_weights) if self.mean is None else self.mean.copy()


def curvature(loss: Loss, w: Array, threads: int) -> Array:
    """The diagonal of the Hessian of the log loss; raises if that overflows."""
    out = np.empty(loss.n_weights)
    loss.curvature(w, out, threads)
    return _check.finite_loss(out)


def laplace(loss: Loss, prior: Prior, w: Array, threads: int = 1) -> Array:
    r"""Variances of the weights by Laplace's approximation with a diagonal Hessian.

    .. math:: \sigma_j = \frac{1}{\lambda_j + \partial^2 loss / \partial w_j^2}

    Parameters
    ----------
    loss : Loss
    prior : Prior
    w : ndarray of shape (n_weights,)
        The optimum.
    threads : int

    Returns
    -------
    ndarray of shape (n_weights,)

    References
    ----------
    MacKay 1992, The evidence framework applied to classification networks.
    """
    return 1.0 / (prior.precision + curvature(loss, w, threads))


class Progress(NamedTuple):
    """How far a solver is."""

    iteration: int
    value: float  # of the objective
    gap: float | None  # upper bound of the distance to the optimum, if there is one
    seconds: float

    def __str__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.3g}"
        return f"iteration {self.iteration}: objective {self.value:,.6g}{gap}, {self.seconds:.1f} s"


#: A callback for the progress of a solver.
Report = Callable[[Progress], None]


class Solution(NamedTuple):
    """The weights that a solver found.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
    value : float
        The objective at `w`.
    n_iter : int
    converged : bool
    gap : float or None
        How much lower the optimum can be; None: unknown.
    """

    w: NDArray[np.float64]
    value: float
    n_iter: int
    converged: bool
    gap: float | None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has stopped a solver; `solution` is the best so far."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution


class Clock:
    """Adds the time since its making to what a solver reports."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._begin = time.perf_counter()

    def tell(self, iteration: int, value: float, gap: float | None) -> None:
        if self._report is not None:
            seconds = time.perf_counter() - self._begin
            self._report(Progress(iteration, value, gap, seconds))


def printed(verbose: int) -> Report | None:
    """A callback that prints one line per call; None unless `verbose`."""
    return partial(print, flush=True) if verbose else None
