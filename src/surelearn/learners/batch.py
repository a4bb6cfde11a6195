"""What batch estimators share: the parameters of solvers, and what becomes of their solution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, rules
from surelearn.files import Fields
from surelearn.learners.base import Estimator, M
from surelearn.learners.checks import random_numbers
from surelearn.solvers import Interrupted, Report, Solution, printed
from surelearn.training.passes import new_order

#: Logistic noise of a label is nearly normal with a variance of 1.7 squared.
NOISE = rules.Probit(noise=2.9)


@dataclass(frozen=True)
class SolverSettings:
    """The checked parameters of a solver."""

    solver: str
    tol: float
    max_iter: int
    threads: int
    report: Report | None

    @classmethod
    def of(cls, params: Mapping[str, Any], solvers: Sequence[str]) -> SolverSettings:
        return cls(
            solver=_check.choice("solver", params["solver"], solvers),
            tol=_check.number("tol", params["tol"], "[0, 1)", low=0.0, high=1.0),
            max_iter=_check.count("max_iter", params["max_iter"]),
            threads=_check.threads("n_jobs", params["n_jobs"]),
            report=printed(_check.verbosity(params["verbose"])),
        )

    def limits(self) -> dict[str, Any]:
        """The keywords that every solver takes."""
        return {"tol": self.tol, "max_iter": self.max_iter, "report": self.report}


def gaussian_weights(params: Mapping[str, Any], precision: float) -> dict[str, Any]:
    """How batch learners of structures keep their weights: a mean and a variance each."""
    dtype = _check.storage(params["dtype"])
    return {
        "dtype": dtype.name,
        "second_order": True,
        "averaged": False,
        "initial_variance": _check.prior(1.0 / precision, dtype),
        "projection": "precision",
    }


@dataclass(frozen=True)
class L2Settings:
    """Settings of a log loss over structures: its penalty is the precision of the prior.

    A mixin before `TaggerSettings` or `ModelSettings`, which know the rest.
    """

    initial_variance: float
    l2: float

    @property
    def precision(self) -> float:
        return self.l2

    def check_fits(self, model: Any) -> None:
        if model.initial_variance != self.initial_variance:
            _check.same("l2", 1.0 / model.initial_variance, self.l2)
        super().check_fits(model)  # type: ignore[misc]

    def merge_key(self) -> dict[str, Any]:
        return {"l2": self.l2, **super().merge_key()}  # type: ignore[misc]


@dataclass(frozen=True)
class HingeSettings:
    """Settings of a hinge loss over structures: C is the variance of the prior. A mixin as well."""

    initial_variance: float
    C: float
    cost: NDArray[np.float64] | None

    @property
    def precision(self) -> float:
        return 1.0 / self.C

    def check_fits(self, model: Any) -> None:
        if model.initial_variance != self.initial_variance:
            _check.same("C", model.initial_variance, self.C)
        super().check_fits(model)  # type: ignore[misc]

    def check_classes(self, classes: NDArray[Any]) -> None:
        _check.cost_fits(self.cost, classes)

    def merge_key(self) -> dict[str, Any]:
        cost = None if self.cost is None else self.cost.tolist()
        return {"C": self.C, "cost": cost, **super().merge_key()}  # type: ignore[misc]


def check_sgd(
    solver: str, *, l1: float = 0.0, warm_start: bool = False, resume: bool = False
) -> None:
    """Refuse what stochastic descent cannot do."""
    if solver == "sgd":
        how = {"where": "with solver='sgd'", "use": "solver='lbfgs'"}
        _check.left_alone("l1", l1, 0.0, **how)
        _check.left_alone("warm_start", warm_start, False, **how)
        _check.left_alone("resume", resume, False, **how)


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
