"""Stochastic (sub-)gradient descent with averaging, over any loss; the core makes the passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surelearn.solvers._objective import Array, Loss, Prior
from surelearn.solvers._progress import Clock, Interrupted, Report, Solution


def stochastic(
    loss: Loss,
    kind: str,
    *,
    l2: float,
    order: Callable[[int], NDArray[np.int64]],
    cost: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    threads: int = 1,
    report: Report | None = None,
) -> Solution:
    r"""Minimise a loss with the penalty ``l2 / 2 |w|^2`` by single examples in random order.

    .. math:: w \leftarrow w - \eta_t (n \nabla loss_i(w) + l_2 w), \qquad
        \bar w = \frac{2}{T (T + 1)} \sum_t t w_t

    The objective of the average is computed after 1, 2, 4, 8, ... passes. Its distance to the
    optimum falls as 1 / passes, so what twice as many passes have gained is about what is left;
    the search ends when that is at most ``tol`` times the objective.

    Parameters
    ----------
    loss : Loss
    kind : {"log", "hinge"}
    l2 : float > 0
    order : function
        Gives the order of examples in a pass, from 1.
    cost : ndarray of shape (n_classes, n_classes), optional
        Costs of the hinge.
    tol, max_iter : float, int
        `max_iter` counts passes.
    threads : int
        For the objective; the passes have one thread.
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
    Shalev-Shwartz, Singer, Srebro & Cotter 2011, Pegasos. Lacoste-Julien, Schmidt & Bach 2012, A
    simpler approach to obtaining an O(1/t) convergence rate (the weights of the average).
    """
    clock, prior = Clock(report), Prior(None, l2)
    w, average, state = np.zeros(loss.n_weights), np.zeros(loss.n_weights), np.zeros(4)

    def value_of(w: Array) -> float:
        if kind == "hinge":
            return loss.hinge_loss(w, cost, threads) + prior.value(w)
        return loss.log_loss(w, np.empty_like(w), threads) + prior.value(w)

    best = Solution(average.copy(), value_of(average), 0, False, None)
    done, due = 0, 1
    try:
        while done < max_iter and not best.converged:
            done += 1
            loss.descend(kind, cost, w, average, state, order(done), l2)
            if done in (due, max_iter):
                value = value_of(average)
                clock.tell(done, value, None)
                settled = done > 1 and abs(best.value - value) <= tol * value
                best = Solution(average.copy(), value, done, settled, None)
                due = 2 * done
    except KeyboardInterrupt:
        raise Interrupted(best) from None
    return best
