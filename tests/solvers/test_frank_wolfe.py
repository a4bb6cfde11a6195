"""Frank-Wolfe against scikit-learn, the gap, and priors that are not the standard one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from losses import TwoClassLoss, TwoClassMachine, orders, two_classes
from surelearn import _core
from surelearn.rows import rows_of
from surelearn.solvers import Interrupted, frank_wolfe
from surelearn.weights import Diagonal, Layout


def weights_like(X, *, second_order=False, prior=1.0):
    layout = Layout(X.shape[1], False, second_order, averaged=False, dtype="float64")
    return Diagonal(layout, 1, prior)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_optimum_is_that_of_scikit_learn(C):
    X, y = two_classes()
    weights = weights_like(X)
    machine = TwoClassMachine(X, y, np.full(len(y), C), weights)
    found = frank_wolfe(machine, weights, order=orders(len(y)), tol=1e-5)
    svm = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=100_000).fit(X, y)
    assert found.converged
    np.testing.assert_allclose(found.w, svm.coef_[0], atol=1e-2)
    np.testing.assert_array_equal(found.w, weights.means[0])
    hinge = TwoClassLoss(X, y).hinge_loss(found.w, None, 1)
    assert found.value == pytest.approx(0.5 * found.w @ found.w + C * hinge)
    assert found.gap <= 1e-5 * found.value


def test_the_gap_bounds_the_distance_to_the_optimum():
    X, y = two_classes()
    values = []
    for max_iter in (1, 3, 1000):
        weights = weights_like(X)
        machine = TwoClassMachine(X, y, np.ones(len(y)), weights)
        told = []
        order = orders(len(y))
        values.append(frank_wolfe(machine, weights, order=order, tol=1e-7, max_iter=max_iter,
                                  report=told.append))  # fmt: skip
        assert told[-1].value == values[-1].value
        assert told[-1].gap == values[-1].gap
        assert machine.visits == values[-1].n_iter
    assert [one.converged for one in values] == [False, False, True]
    assert [one.n_iter for one in values[:2]] == [1, 3]
    for one in values:
        assert one.value - values[-1].value <= one.gap


def test_variances_are_the_metric_and_means_the_prior():
    X, y = two_classes()
    weights = weights_like(X, second_order=True)
    mean, sigma = np.linspace(-1, 1, 5), np.array([1.0, 0.5, 4.0, 0.1, 1e-9])
    weights.core.restore(np.arange(5), np.stack([mean, sigma], 1), 0)
    machine = TwoClassMachine(X, y, np.full(len(y), 0.3), weights)
    found = frank_wolfe(machine, weights, order=orders(len(y)), tol=1e-9)
    assert found.converged
    assert found.w[4] == pytest.approx(mean[4], abs=1e-6)

    def objective(w):
        moved = w - mean
        return 0.5 * moved @ (moved / sigma) + 0.3 * TwoClassLoss(X, y).hinge_loss(w, None, 1)

    assert found.value == pytest.approx(objective(found.w))
    random = np.random.default_rng(0)
    nearby = found.w + 1e-2 * random.normal(size=(500, 5)) * np.sqrt(sigma)
    assert min(map(objective, nearby)) >= found.value - found.gap


def test_ctrl_c_gives_the_present_weights():
    X, y = two_classes()
    weights = weights_like(X)
    machine = TwoClassMachine(X, y, np.ones(len(y)), weights, stop_after=3)
    with pytest.raises(Interrupted, match=r"^$") as stopped:
        frank_wolfe(machine, weights, order=orders(len(y)), tol=1e-12)
    assert not stopped.value.solution.converged
    np.testing.assert_array_equal(stopped.value.solution.w, weights.means[0])


def test_the_lowest_primal_is_kept():
    """The primal goes up and down from pass to pass; what is reported and returned only falls."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), (np.arange(60) % 4).astype(np.int32)

    def machine():
        weights = Diagonal(Layout(3, True, False, averaged=False, dtype="float64"), 4, 1.0)
        return _core.RowFrankWolfe(rows_of(X), y, np.ones(60), None, weights.core), weights

    solver, weights = machine()
    primals, order = [], orders(60)
    for number in range(1, 13):
        solver.visit(order(number))
        primals.append(0.5 * float((weights.means**2).sum()) + solver.values()[0])
    assert max(np.diff(primals)) > 0
    told = []
    solver, weights = machine()
    found = frank_wolfe(solver, weights, order=orders(60), tol=0.0, max_iter=12, report=told.append)
    values = [one.value for one in told]
    assert values == sorted(values, reverse=True)
    assert found.value == values[-1] <= primals[-1]
    gaps = [one.gap for one in told]
    assert gaps == sorted(gaps, reverse=True)
