"""Block-coordinate Frank-Wolfe for the hinge; the core visits the examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn.solvers._objective import Clock, Interrupted, Report, Solution
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
        The weights with the lowest primal of those that were measured.

    Raises
    ------
    Interrupted
        At Ctrl-C, with the best weights so far.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013, Block-coordinate Frank-Wolfe optimization for
    structural SVMs, algorithm 4. The metric and the prior mean are not in the paper.
    """
    clock, sides = Clock(report), _PrimalDual(machine, weights)
    done, due = 0, 1
    try:
        while done < max_iter and not sides.are_within(tol):
            done += 1
            machine.visit(order(done))
            if done in (due, max_iter):
                sides.measure()
                clock.tell(done, sides.value, sides.gap)
                due = done + max(1, int(_NEW * done))
    except KeyboardInterrupt:
        sides.measure()
        raise Interrupted(sides.solution(done, converged=False)) from None
    return sides.solution(done, converged=sides.are_within(tol))


class _PrimalDual:
    """Primal and dual of weights that began at their present means.

    The dual only rises, but the primal goes up and down: the lowest so far counts.
    """

    def __init__(self, machine: Machine, weights: Diagonal) -> None:
        self._machine, self._weights = machine, weights
        self._begin = weights.means.copy()
        self._w, self.value, self._bound = self._begin, np.inf, -np.inf

    @property
    def gap(self) -> float:
        """How much lower the optimum can be."""
        return self.value - self._bound

    def are_within(self, tol: float) -> bool:
        """Whether the gap is at most this share of the primal."""
        return bool(np.isfinite(self.value)) and self.gap <= tol * self.value

    def measure(self) -> None:
        """Compute both for the present weights, and keep these if they are the best so far."""
        hinge, linear = self._machine.values()
        means = self._weights.means
        moved = means - self._begin
        pull = moved / self._weights.variances if self._weights.layout.second_order else moved
        quadratic = 0.5 * float(np.vdot(pull, moved))
        dual = linear - quadratic - float(np.vdot(pull, self._begin))
        self._bound = max(self._bound, dual)
        if quadratic + hinge < self.value:
            self._w, self.value = means.copy(), quadratic + hinge

    def solution(self, n_iter: int, *, converged: bool) -> Solution:
        """The best weights, as a flat vector: feature after feature."""
        w = np.ascontiguousarray(self._w.T, dtype=np.float64).ravel()
        return Solution(w, self.value, n_iter, converged, self.gap)
