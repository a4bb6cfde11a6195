"""What batch estimators share: checked solver parameters, and what becomes of a solution."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from surelearn import CRFTagger, SoftmaxClassifier
from surelearn.learners.base import settings_of
from surelearn.learners.batch import BatchEstimator, loss_factors, warn_short
from surelearn.solvers import Interrupted, Solution

PARAMS = {"solver": "lbfgs", "tol": 1e-3, "max_iter": 7, "n_jobs": 2, "verbose": 0}


def test_settings_are_the_keywords_of_solvers():
    settings = settings_of(SoftmaxClassifier(**PARAMS))
    assert settings.limits() == {"tol": 1e-3, "max_iter": 7, "report": None}
    assert settings.n_jobs == 2
    assert settings_of(SoftmaxClassifier(**{**PARAMS, "verbose": 1})).report is not None


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"solver": "newton"}, ValueError, "solver must be one of 'lbfgs', 'sgd', got 'newton'"),
        ({"tol": -0.1}, ValueError, r"tol must be in \[0, 1\), got -0.1"),
        ({"tol": "small"}, TypeError, "tol must be a number, got 'small'"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, negative or at least 1, got 0"),
        ({"verbose": -1}, ValueError, "verbose must be at least 0, got -1"),
    ],
)
def test_wrong_parameters_are_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        settings_of(SoftmaxClassifier(**{**PARAMS, **wrong}))


def test_a_solution_is_taken_and_noted():
    estimator, taken = BatchEstimator(), []
    solution = Solution(np.ones(2), 3.5, 12, True, 0.25)
    estimator._minimise(lambda: solution, taken.append, 100)
    assert taken == [solution]
    assert (estimator.n_iter_, estimator.objective_, estimator.gap_) == (12, 3.5, 0.25)


def test_blas_has_one_thread_while_a_solver_runs():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, seen = threads(), []

    def solve():
        seen.extend(threads())
        return Solution(np.ones(2), 3.5, 12, True, 0.25)

    BatchEstimator()._minimise(solve, lambda _: None, 100)
    assert set(seen) == {1}
    assert threads() == before


def test_ctrl_c_takes_the_best_and_goes_on():
    estimator, taken = BatchEstimator(), []
    best = Solution(np.ones(2), 3.5, 12, False, 0.25)

    def solve():
        raise Interrupted(best)

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        estimator._minimise(solve, taken.append, 100)
    assert taken == [best]
    assert estimator.n_iter_ == 12


@pytest.mark.parametrize(("gap", "named"), [(0.123456, " with a gap of 0.123"), (None, "")])
def test_a_warning_names_objective_gap_and_limit(gap, named):
    short = Solution(np.ones(2), 12.3456789, 5, False, gap)
    message = (
        f"^X must converge within max_iter=5 iterations, got an objective of 12.3457{named}. The "
        "model is kept; raise max_iter or tol.$"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        warn_short("X", short, 5)


def test_a_search_that_is_stuck_is_not_told_to_go_on():
    stuck = Solution(np.ones(2), 12.3456789, 5, False, None)
    message = r"12.3457 after 5, from where .* is kept; scale the features or raise tol\.$"
    with pytest.warns(ConvergenceWarning, match=message):
        warn_short("X", stuck, 1000)


@pytest.mark.parametrize(("name", "value"), [("l1", 0.5), ("warm_start", True)])
def test_stochastic_descent_takes_no_l1_and_no_start(name, value):
    message = f"{name} must be .* with solver='sgd', got {value}. Use solver='lbfgs'"
    for kind in (SoftmaxClassifier, CRFTagger):
        settings_of(kind(solver="sgd"))
        settings_of(kind(**{name: value}))
        with pytest.raises(ValueError, match=message):
            settings_of(kind(solver="sgd", **{name: value}))


def test_losses_are_weighted_by_c():
    assert loss_factors(0.5, None, 3).tolist() == [0.5, 0.5, 0.5]
    assert loss_factors(0.5, np.array([1.0, 4.0]), 2).tolist() == [0.5, 2.0]
