"""What batch estimators share: the parameters of solvers, and what becomes of their solution."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import rules
from surelearn.files import Fields
from surelearn.learners.base import Estimator, M
from surelearn.learners.checks import random_numbers
from surelearn.solvers import Interrupted, Solution
from surelearn.training.passes import new_order

#: Logistic noise of a label is nearly normal with a variance of 1.7 squared.
NOISE = rules.Probit(noise=2.9)


def loss_factors(C: float, weight: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    """C times the weight of each of n examples: the bounds of their dual variables."""
    return np.full(n, C) if weight is None else C * weight


class BatchEstimator(Estimator[M]):
    """An estimator that minimises a loss over all its examples at once."""

    random_state: Any
    n_iter_: int
    objective_: float
    gap_: float | None

    def _minimise(
        self, solve: Callable[[], Solution], take: Callable[[Solution], None], limit: int
    ) -> None:
        """Solve, and take the solution; at Ctrl-C the best so far."""
        from threadpoolctl import threadpool_limits

        try:
            # Threads of the core are those of `n_jobs`. Sums of BLAS depend on how many threads it
            # has, and wait for them on a busy machine.
            with threadpool_limits(1, user_api="blas"):
                solution = solve()
        except Interrupted as stopped:
            self._note(stopped.solution, take)
            raise
        self._note(solution, take)
        if not solution.converged:
            warn_short(type(self).__name__, solution, limit)

    def _note(self, solution: Solution, take: Callable[[Solution], None]) -> None:
        take(solution)
        self.n_iter_, self.objective_ = solution.n_iter, solution.value
        known = solution.gap is not None and np.isfinite(solution.gap)
        self.gap_ = solution.gap if known else None

    def _orders(self, n: int) -> Callable[[int], NDArray[np.int64]]:
        """A new random order of n examples for each pass."""
        random = random_numbers(self.random_state)
        return lambda _: new_order(random, n)


def solution_out(estimator: BatchEstimator[Any]) -> dict[str, Any]:
    """What a file keeps of the last solution; a merged model has none."""
    found = {name: getattr(estimator, f"{name}_", None) for name in ("n_iter", "objective", "gap")}
    return {name: x for name, x in found.items() if x is not None and np.isfinite(x)}


def put_solution(estimator: BatchEstimator[Any], fields: Fields) -> None:
    """Give an estimator what a file knows of its last solution."""
    if fields.has("n_iter"):
        estimator.n_iter_ = fields.integer("n_iter")
        estimator.objective_ = fields.number("objective") if fields.has("objective") else np.inf
        estimator.gap_ = fields.number("gap") if fields.has("gap") else None


def warn_short(name: str, solution: Solution, max_iter: int) -> None:
    """Warn that a solver stopped before it had converged; the model is kept."""
    from sklearn.exceptions import ConvergenceWarning

    gap = "" if solution.gap is None else f" with a gap of {solution.gap:.3g}"
    where, remedy = "", "raise max_iter or tol"
    if solution.n_iter < max_iter:
        where = f" after {solution.n_iter}, from where no step leads lower"
        remedy = "scale the features or raise tol"
    warnings.warn(
        f"{name} must converge within max_iter={max_iter} iterations, got an objective of "
        f"{solution.value:.6g}{gap}{where}. The model is kept; {remedy}.",
        ConvergenceWarning,
        stacklevel=5,
    )
