"""Block-coordinate Frank-Wolfe for the hinge; the core visits the examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn.solvers._progress import Clock, Interrupted, Report, Solution
from surelearn.weights import Diagonal

Array = NDArray[np.float64]

#: The duality gap costs as much as a pass: it is computed when this share of passes is new.
_NEW = 0.25


class Machine(Protocol):
    """The dual variables of a hinge loss in the core, tied to the weights that they move."""

    def visit(self, order: NDArray[np.int64]) -> None:
        """One pass of steps, one for each example, which move the weights."""

    def values(self) -> tuple[float, float]:
        """The hinge loss at the present weights, and the linear term of the dual."""


def frank_wolfe(
    machine: Machine,
    weights: Diagonal,
    *,
    order: Callable[[int], NDArray[np.int64]],
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Report | None = None,
) -> Solution:
    r"""Minimise a hinge loss from the weights at hand, which are also the prior.

    .. math:: primal = \tfrac12 \lVert \mu - \mu_0 \rVert^2_{\Sigma^{-1}} + \sum_i C_i hinge_i(\mu),
        \qquad dual = \sum_i C_i \sum_a \alpha_{ia} \Delta_a
        - \tfrac12 \lVert \mu - \mu_0 \rVert^2_{\Sigma^{-1}} - (\mu - \mu_0)' \Sigma^{-1} \mu_0

    The gap between them bounds the distance to the optimum. Passes end when it is at most ``tol``
    times the primal.

    Parameters
    ----------
    machine : Machine
    weights : Diagonal
        Their means are moved in place. Variances are the metric; without them it is the identity.
    order : function
        Gives the order of examples in a pass, from 1.
    tol, max_iter : float, int
    report : function, optional
        Called with a `Progress` each time the gap has been computed.

    Returns
    -------
    Solution

    Raises
    ------
    Interrupted
        At Ctrl-C, with the present weights.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013, Block-coordinate Frank-Wolfe optimization for
    structural SVMs, algorithm 4. The metric and the prior mean are not in the paper.
    """
    clock, duel = Clock(report), _Duel(machine, weights)
    done, due, converged = 0, 1, False
    try:
        while done < max_iter and not converged:
            done += 1
            machine.visit(order(done))
            if done in (due, max_iter):
                value, gap = duel.values()
                clock.tell(done, value, gap)
                converged = gap <= tol * value
                due = done + max(1, int(_NEW * done))
    except KeyboardInterrupt:
        value, gap = duel.values()
        raise Interrupted(Solution(duel.w, value, done, False, gap)) from None
    return Solution(duel.w, value, done, converged, gap)


class _Duel:
    """Primal and dual of weights that began at their present means."""

    def __init__(self, machine: Machine, weights: Diagonal) -> None:
        self._machine, self._weights = machine, weights
        self._begin = weights.means.copy()

    @property
    def w(self) -> Array:
        """The weights as a flat vector: feature after feature."""
        return np.ascontiguousarray(self._weights.means.T, dtype=np.float64).ravel()

    def values(self) -> tuple[float, float]:
        """The primal, and its gap to the dual."""
        hinge, linear = self._machine.values()
        moved = self._weights.means - self._begin
        pull = moved / self._weights.variances if self._weights.layout.second_order else moved
        quadratic = 0.5 * float(np.vdot(pull, moved))
        primal = quadratic + hinge
        dual = linear - quadratic - float(np.vdot(pull, self._begin))
        return primal, primal - dual
