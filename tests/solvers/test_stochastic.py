"""Stochastic descent reaches the optima of the exact solvers."""

from __future__ import annotations

import numpy as np
import pytest

from losses import TwoClassLoss, TwoClassMachine, orders, two_classes
from surelearn.solvers import Interrupted, Prior, frank_wolfe, lbfgs, stochastic
from surelearn.weights import Diagonal, Layout


def test_the_log_loss_is_that_of_lbfgs():
    X, y = two_classes()
    found = stochastic(TwoClassLoss(X, y), "log", Prior(None, 2.0), order=orders(len(y)), tol=1e-4)
    best = lbfgs(TwoClassLoss(X, y), Prior(None, 2.0), tol=1e-8)
    assert found.converged
    assert best.value <= found.value <= best.value * (1 + 1e-3)


def test_the_hinge_is_that_of_frank_wolfe():
    X, y = two_classes()
    found = stochastic(
        TwoClassLoss(X, y), "hinge", Prior(None, 2.0), order=orders(len(y)), tol=1e-4
    )
    weights = Diagonal(Layout(5, False, False, False, "float64"), 1, 1.0)
    machine = TwoClassMachine(X, y, np.full(len(y), 0.5), weights)
    best = frank_wolfe(machine, weights, order=orders(len(y)), tol=1e-6)
    assert found.converged
    assert 2 * best.value * (1 - 1e-6) <= found.value <= 2 * best.value * (1 + 1e-3)


def test_passes_are_doubled_between_reports_and_end_at_max_iter():
    X, y = two_classes()
    told = []
    found = stochastic(TwoClassLoss(X, y), "log", Prior(None, 2.0), order=orders(len(y)), tol=0.0,
                       max_iter=11, report=told.append)  # fmt: skip
    assert [one.iteration for one in told] == [1, 2, 4, 8, 11]
    assert {one.gap for one in told} == {None}
    assert not found.converged
    assert (found.n_iter, found.value, found.gap) == (11, told[-1].value, None)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_first_step_fits_the_scale_of_features(scale):
    X, y = two_classes()
    prior = Prior(None, 2.0 * scale**2)
    found = stochastic(TwoClassLoss(scale * X, y), "log", prior, order=orders(len(y)), tol=1e-3)
    best = lbfgs(TwoClassLoss(scale * X, y), prior, tol=1e-8)
    assert found.value <= best.value * (1 + 3e-3)


def test_ctrl_c_gives_the_average_of_the_last_report():
    X, y = two_classes()
    loss, told = TwoClassLoss(X, y), []

    def report(progress):
        told.append(progress)
        if progress.iteration == 4:
            loss.stop_after = loss.calls + 2

    with pytest.raises(Interrupted, match=r"^$") as stopped:
        stochastic(loss, "log", Prior(None, 2.0), order=orders(len(y)), tol=0.0, report=report)
    assert stopped.value.solution.value == told[-1].value
    assert stopped.value.solution.n_iter == 4
    assert not stopped.value.solution.converged
