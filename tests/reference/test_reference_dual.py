"""The dual reference equals the primal one with a linear kernel, and its removals are exact."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from . import rules
from .dual import Dual
from .learner import Learner
from .test_reference import PARAMS, SECOND_ORDER

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(40, 5))
Y = np.sign(X[:, 0] + 0.7 * RANDOM.normal(size=40)).astype(int)
ORDER = np.concatenate([RANDOM.permutation(40) for _ in range(2)])
NEW = RANDOM.normal(size=(10, 5))


def steps(name):
    shares = (lambda v: (np.array([v]),)) if name == "variance-exact" else (lambda _: ())
    return lambda m, v: rules.REGISTRY[name](m, v, *shares(v), **PARAMS[name])


def trained(name, **options):
    dual = Dual(1.5, second_order=name in SECOND_ORDER, **options)
    gram = X @ X.T + 1.0
    for i in ORDER:
        dual.learn(steps(name), gram[i], gram[i, i], number=i, y=Y[i])
    return dual


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMS)
def test_a_linear_kernel_is_the_primal_learner(name):
    covariance = "full" if name in SECOND_ORDER else "diagonal"
    primal = Learner(5, 2, name, PARAMS[name], initial_variance=1.5, covariance=covariance)
    for i in ORDER:
        primal.learn(X[i], int(Y[i] > 0))
    dual = trained(name)
    assert dual.updates == primal.updates
    for x in NEW:
        mean, variance = dual.moments(X @ x + 1.0, x @ x + 1.0)
        means, variances = primal.margin(x)
        assert mean == pytest.approx(means[0], rel=1e-9)
        if name in SECOND_ORDER:
            assert variance == pytest.approx(variances[0], rel=1e-9)


def test_a_removal_divides_the_factor_of_a_point_out():
    """In the primal: precision and linear part lose exactly one multiple of the point."""
    dual = trained("arow")
    rows = np.column_stack([X, np.ones(40)])

    def natural():
        support = rows[dual.points]
        sigma = 1.5 * np.eye(6) + support.T @ dual.pi @ support
        precision = np.linalg.inv(sigma)
        return precision, precision @ (support.T @ dual.nu)

    precision, linear = natural()
    dual.remove(7)
    x = rows[dual.removed[-1]]
    lost, shift = precision - natural()[0], linear - natural()[1]
    gain = np.trace(lost) / (x @ x)
    assert gain > 0
    np.testing.assert_allclose(lost, gain * np.outer(x, x), atol=1e-9)
    np.testing.assert_allclose(shift, (shift @ x) / (x @ x) * x, atol=1e-9)


@pytest.mark.parametrize("name", ["arow", "stdev", "probit"])
def test_the_removed_point_is_the_one_that_the_others_are_surest_of(name):
    """By its definition: each point is taken out of a copy, which then judges it."""
    dual, gram = trained(name), X @ X.T + 1.0
    sure = []
    for place, number in enumerate(dual.points):
        others = copy.deepcopy(dual)
        others.remove(place)
        mean, variance = others.moments(gram[number], gram[number, number])
        agrees = mean * Y[number] > 0
        sure.append((1.0 if agrees else 0.5) * abs(mean) / np.sqrt(variance))
    assert dual.dispensable() == np.argmax(sure)


def test_a_budget_bounds_the_support():
    dual = trained("arow", budget=6)
    assert len(dual.points) == 6
    assert len(dual.removed) > 6
