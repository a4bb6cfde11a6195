"""L-BFGS for the log loss, with L2 and L1; the core computes values and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surelearn import _check
from surelearn.solvers._objective import (
    Array,
    Clock,
    Interrupted,
    Loss,
    Prior,
    Report,
    Solution,
    curvature,
)

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

#: A relative decrease of the objective below this share of `tol`, so often in a row, ends the
#: search: large values of features make plateaus. The test of scipy looks at one decrease, and is
#: absolute where the objective is below 1.
_STALLED, _IN_A_ROW = 1e-3, 5


def lbfgs(
    loss: Loss,
    prior: Prior,
    *,
    l1: float | Array = 0.0,
    start: Array | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    threads: int = 1,
    report: Report | None = None,
) -> Solution:
    r"""Minimise the log loss by scipy's L-BFGS-B.

    With L1 the weights are split into two non-negative halves, :math:`w = u - v`, so that the
    objective is smooth. The search ends when the objective is certainly within ``tol`` of the
    optimum, relative to its value:

    .. math:: f(w) - f^* \le \tfrac12 \sum_j r_j^2 / \lambda_j, \qquad r = \text{the shortest
        subgradient}

    since f is strongly convex. Where some weights have no penalty, this holds at the point where
    these are optimal given the others; the search ends near such a point, after a step of Newton's
    method for them. It also ends when the objective no longer falls.

    Parameters
    ----------
    loss : Loss
    prior : Prior
    l1 : float or ndarray of shape (n_weights,)
    start : ndarray of shape (n_weights,), optional
        Default: the mean of the prior.
    tol, max_iter : float, int
    threads : int
        Changes no bit of the result.
    report : function, optional
        Called with a `Progress` after each iteration.

    Returns
    -------
    Solution
        The best point that was met.

    Raises
    ------
    Interrupted
        At Ctrl-C, with the best point so far.

    References
    ----------
    Byrd, Lu, Nocedal & Zhu 1995, A limited memory algorithm for bound constrained optimization.
    """
    from scipy.optimize import Bounds, minimize  # slow to import

    begin = prior.start(loss.n_weights) if start is None else start
    steepness = curvature(loss, begin, threads)
    search = _Search(loss, prior, l1, steepness, tol=tol, threads=threads, clock=Clock(report))
    try:
        found = minimize(
            search.evaluate,
            search.point(begin),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, np.inf) if search.split else None,
            callback=search.after,
            options={"maxiter": max_iter, "maxfun": 2**31, "ftol": 0.0, "gtol": 0.0},
        )
    except KeyboardInterrupt:
        if search.best is None:
            raise
        raise Interrupted(search.solution(converged=False)) from None
    ended = found.status == 0 or search.stalled or search.certain
    return search.solution(converged=ended or search.is_certain())


class _Search:
    """The objective as scipy calls it, and the best point so far."""

    def __init__(
        self, loss: Loss, prior: Prior, l1: float | Array, steepness: Array, *, tol: float,
        threads: int, clock: Clock,
    ) -> None:  # fmt: skip
        self.loss, self.prior, self.l1 = loss, prior, l1
        self.split = bool(np.any(l1))
        self.tol, self.threads, self.clock = tol, threads, clock
        self.best: Array | None = None
        self.value, self.gap, self.n_iter = np.inf, np.inf, 0
        precision = np.broadcast_to(np.asarray(prior.precision, np.float64), steepness.shape)
        self._scale = _scale(precision, steepness)
        self._free = np.flatnonzero(precision == 0)
        self._inverse = np.divide(1.0, precision, out=np.zeros_like(steepness), where=precision > 0)
        self._floor, self._due, self.certain = -np.inf, np.inf, False
        self._before, self._slow = np.inf, 0
        self._least = 0.0

    def point(self, w: Array) -> Array:
        """Weights as a point of the search."""
        z = w * self._scale
        return np.concatenate([np.maximum(z, 0), np.maximum(-z, 0)]) if self.split else z

    def evaluate(self, z: Array) -> tuple[float, Array]:
        """Value and gradient at a point of the search."""
        if not self.split:
            value, gradient = self._smooth(z / self._scale)
            return value, gradient / self._scale
        u, v = np.split(z, 2) / self._scale
        value, gradient = self._smooth(u - v)
        halves = (self.l1 + gradient) / self._scale, (self.l1 - gradient) / self._scale
        return value + float(np.sum(self.l1 * (u + v))), np.concatenate(halves)

    def _smooth(self, w: Array) -> tuple[float, Array]:
        """Value and gradient without L1; remembers the best point."""
        gradient = np.empty_like(w)
        smooth = self.loss.log_loss(w, gradient, self.threads) + self.prior.add_to(gradient, w)
        value = smooth + float(np.sum(self.l1 * np.abs(w))) if self.split else smooth
        if self.best is None:
            _check.finite_loss(np.array([value]))
            self._least = float(np.finfo(np.float64).eps) * abs(value)
        if value < self.value:
            self.best, self.value, self._slope = w, value, self._shortest(w, gradient)
            if not len(self._free):
                self._raise_floor()
            self.gap = min(self._bound(), self.value - self._floor)
        return smooth, gradient

    def _shortest(self, w: Array, gradient: Array) -> Array:
        """The shortest subgradient."""
        if not self.split:
            return gradient
        pushed = gradient + self.l1 * np.sign(w)
        pulled = np.sign(gradient) * np.maximum(np.abs(gradient) - self.l1, 0.0)
        return np.where(w != 0, pushed, pulled)

    def _bound(self) -> float:
        """How much lower the optimum can be, if weights without penalty are optimal."""
        return 0.5 * float(np.dot(self._slope * self._slope, self._inverse))

    def _raise_floor(self) -> None:
        """Remember the highest value that the optimum is known to have at least."""
        self._floor = max(self._floor, self.value - self._bound())

    def after(self, intermediate_result: OptimizeResult) -> None:
        """Report an iteration, and stop if it is the last one needed; scipy asks for this name."""
        self.n_iter += 1
        self.certain = self.gap <= self._due and self.is_certain()
        self.clock.tell(self.n_iter, self.value, self.gap)
        value = float(intermediate_result.fun)
        fell = self._before - value > _STALLED * self._enough()
        self._before, self._slow = value, 0 if fell else self._slow + 1
        if self.certain or self.stalled:
            raise StopIteration

    @property
    def stalled(self) -> bool:
        """Whether the objective no longer falls."""
        return self._slow >= _IN_A_ROW

    def is_certain(self) -> bool:
        """Whether the best point is close enough to the optimum, also by its free weights."""
        if self.gap > self._enough():
            return False
        self._due = 0.5 * self.gap  # the next try costs two evaluations: not in each iteration
        self._free_weights()
        return self.gap <= self._enough()

    def _enough(self) -> float:
        """How near the optimum is near enough; an objective that is mere rounding counts as 0."""
        return self.tol * max(abs(self.value), self._least)

    def _free_weights(self) -> None:
        """Go to where weights without penalty are nearly optimal, if that is lower."""
        if not len(self._free) or self.best is None:
            return
        firm = curvature(self.loss, self.best, self.threads)[self._free]
        step = np.divide(self._slope[self._free], firm, out=np.zeros_like(firm), where=firm > 0)
        w = self.best.copy()
        w[self._free] -= step
        self._smooth(w)
        self._raise_floor()

    def solution(self, *, converged: bool) -> Solution:
        assert self.best is not None
        return Solution(self.best, self.value, self.n_iter, converged, self.gap)


def _scale(precision: Array, steepness: Array) -> Array:
    """What weights are multiplied by for the search, so that all directions are about as steep.

    The root of precision and curvature would be right if the curvature stayed as it is at the
    start. It falls by orders of magnitude on the way to the optimum, most where it is largest, so
    its geometric mean with the precision counts.
    """
    least = np.min(precision, where=precision > 0, initial=np.inf)
    known = np.where(precision > 0, precision, least if np.isfinite(least) else 1.0)
    firm = precision + np.sqrt(known * steepness)
    return np.sqrt(np.where(firm > 0, firm, 1.0))
