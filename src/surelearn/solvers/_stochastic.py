"""Stochastic (sub-)gradient descent with averaging, over any loss; the core makes the passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surelearn.solvers._objective import Array, Clock, Interrupted, Loss, Prior, Report, Solution

#: How many examples the first step size is tried on, and how far apart trials are.
_TRIED = 1000
_APART = 4.0


def stochastic(
    loss: Loss,
    kind: str,
    prior: Prior,
    *,
    order: Callable[[int], NDArray[np.int64]],
    cost: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    threads: int = 1,
    report: Report | None = None,
) -> Solution:
    r"""Minimise a loss with a penalty by steps from single examples, in random order.

    .. math:: w \leftarrow w - \eta_t (\nabla loss_i(w) + \tfrac{l_2}{n} w), \qquad
        \eta_t = \frac{1}{1 / \eta_0 + t \, l_2 / n}, \qquad
        \bar w = \frac{2}{T (T + 1)} \sum_t t \, w_t

    The first step size is the best of several on a thousand examples. The objective of the average
    is computed after 1, 2, 4, 8, ... passes. Its distance to the optimum falls as 1 / passes, so
    what twice as many passes have gained is about what is left; the search ends when that is at
    most ``tol`` times the objective.

    Parameters
    ----------
    loss : Loss
    kind : {"log", "hinge"}
    prior : Prior
        Of mean zero. Its largest precision is :math:`l_2`; the loss knows which weights are not
        penalised, and the prior must have the precision 0 for them.
    order : function
        Gives the order of examples in a pass, from 1.
    cost : ndarray of shape (n_classes, n_classes), optional
        Costs of the hinge.
    tol, max_iter : float, int
        `max_iter` counts passes.
    threads : int
        For the objective; a pass has one thread.
    report : function, optional
        Called with a `Progress` each time the objective has been computed.

    Returns
    -------
    Solution
        The average; its gap is unknown.

    Raises
    ------
    Interrupted
        At Ctrl-C, with the average of the last objective.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter 2011, Pegasos. Bottou 2012, Stochastic gradient descent
    tricks (the step sizes). Lacoste-Julien, Schmidt & Bach 2012, A simpler approach to obtaining an
    O(1/t) convergence rate (the weights of the average).
    """
    descent, clock = _Descent(loss, kind, prior, cost=cost, threads=threads), Clock(report)
    best = Solution(np.zeros(loss.n_weights), descent.value(), 0, False, None)
    done, due = 0, 1
    try:
        descent.choose_step(order(0))
        while done < max_iter and not best.converged:
            done += 1
            descent.run(order(done))
            if done in (due, max_iter):
                value = descent.value()
                clock.tell(done, value, None)
                settled = done > 1 and abs(best.value - value) <= tol * value
                best = Solution(descent.average.copy(), value, done, settled, None)
                due = 2 * done
    except KeyboardInterrupt:
        raise Interrupted(best) from None
    return best


class _Descent:
    """Weights, their average, and the state of a descent."""

    def __init__(
        self, loss: Loss, kind: str, prior: Prior, *, cost: Array | None, threads: int
    ) -> None:
        self._loss, self._kind, self._prior = loss, kind, prior
        self._cost, self._threads = cost, threads
        self._l2 = float(np.max(prior.precision))
        self._begin(0.0)

    def _begin(self, first_step: float) -> None:
        self._w, self.average = np.zeros(self._loss.n_weights), np.zeros(self._loss.n_weights)
        self._state = np.array([0.0, first_step])

    def choose_step(self, order: NDArray[np.int64]) -> None:
        """Take the first step size that leads lowest; before the first pass."""
        sample, largest = order[:_TRIED], 0.5 * len(order) / self._l2
        step = min(1.0, largest)
        value = self._tried(step, sample)
        for factor in (1 / _APART, _APART):
            other = self._tried(step * factor, sample)
            while other < value and step * factor <= largest:
                step, value = step * factor, other
                other = self._tried(step * factor, sample)
        self._begin(step)

    def _tried(self, step: float, order: NDArray[np.int64]) -> float:
        self._begin(step)
        self.run(order)
        value = self.value()
        return value if np.isfinite(value) else np.inf

    def run(self, order: NDArray[np.int64]) -> None:
        """One pass over these examples."""
        self._loss.descend(
            self._kind, self._cost, self._w, self.average, self._state, order, self._l2
        )

    def value(self) -> float:
        """The objective of the average."""
        w, penalty = self.average, self._prior.value(self.average)
        if self._kind == "hinge":
            return self._loss.hinge_loss(w, self._cost, self._threads) + penalty
        return self._loss.log_loss(w, np.empty_like(w), self._threads) + penalty
