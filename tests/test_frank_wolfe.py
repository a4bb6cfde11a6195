"""Frank-Wolfe of the core against the quadratic program of a convex solver."""

from __future__ import annotations

import numpy as np
import pytest

from native_losses import chain_rows, some_chains, some_rows, tags
from reference.losses import of_chains, of_rows
from reference.svm import Prior, by_solver, hard_margin, objective
from surelearn import _core
from surelearn.rows import rows_of
from surelearn.weights import Diagonal, Layout

KINDS = ["two classes", "four classes", "chains"]


def weights_at(n_rows, n_columns, prior=None):
    """First-order weights at zero, or those of a Gaussian."""
    layout = Layout(n_rows, False, prior is not None, False, "float64")
    weights = Diagonal(layout, n_columns, 1.0)
    if prior is None:
        return weights
    cells = np.hstack([part.reshape(n_rows, n_columns) for part in prior])
    state = {**weights.state(), "features": np.arange(n_rows), "cells": cells}
    return Diagonal.from_state(state)


class Problem:
    """Listed outputs, and a machine of the core over the same examples."""

    def __init__(self, kind, C, *, cost=None, prior=None, n=12):
        self.C, self.prior = C, prior
        if kind == "chains":
            self._chains(some_chains(n // 2, 3), cost)
        else:
            self._rows(some_rows(n, {"two classes": 2, "four classes": 4}[kind]), kind, cost)

    def _rows(self, rows, kind, cost):
        X, y, weight = rows
        n_classes, columns = (2, 1) if kind == "two classes" else (4, 4)
        self.weights = weights_at(X.shape[1], columns, self.prior)
        self.examples = of_rows(
            X.toarray(), y, n_classes, weight=weight, intercept=False, cost=cost
        )
        self.machine = _core.RowFrankWolfe(
            rows_of(X), y.astype(np.int32), self.C * weight, cost, self.weights.core
        )

    def _chains(self, chains, cost):
        self.examples = of_chains(chains, 3, cost=cost)
        n_rows = self.examples[0].psi.shape[1] // 3
        self.weights = weights_at(n_rows, 3, self.prior)
        bound = self.C * np.array([chain.weight for chain in chains])
        self.machine = _core.SequenceFrankWolfe(
            *chain_rows(chains), tags(chains), bound, cost, self.weights.core
        )

    @property
    def w(self):
        return np.asarray(self.weights.means).T.ravel()

    def visit(self, passes, seed=0):
        random = np.random.default_rng(seed)
        for _ in range(passes):
            self.machine.visit(random.permutation(len(self.examples)))
        return self

    def bounds(self):
        """Primal and dual value."""
        hinge, linear = self.machine.values()
        prior = Prior.plain(len(self.w)) if self.prior is None else self.prior
        quadratic = prior.penalty(self.w)
        shift = np.sum((self.w - prior.mean) * prior.mean / prior.variance)
        return quadratic + hinge, linear - quadratic - shift


def some_prior(kind):
    n = {"two classes": 12, "four classes": 48, "chains": (2 + 6 + 3) * 3}[kind]
    random = np.random.default_rng(4)
    return Prior(random.normal(size=n), random.uniform(0.2, 2.0, size=n))


def some_cost(kind):
    n = {"two classes": 2, "four classes": 4, "chains": 3}[kind]
    return np.random.default_rng(5).uniform(0.5, 3.0, size=(n, n)) * (1.0 - np.eye(n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("with_cost", [False, True])
@pytest.mark.parametrize("with_prior", [False, True])
def test_the_gap_closes_at_the_solution_of_the_convex_solver(kind, C, with_cost, with_prior):
    cost = some_cost(kind) if with_cost else None
    prior = some_prior(kind) if with_prior else None
    problem = Problem(kind, C, cost=cost, prior=prior).visit(2000)
    best = by_solver(problem.examples, C, prior)
    primal, dual = problem.bounds()
    assert primal == pytest.approx(objective(problem.examples, C, problem.w, prior), rel=1e-10)
    assert dual <= best.primal * (1 + 1e-8)
    assert best.primal <= primal * (1 + 1e-8)
    assert primal - dual < 1e-3 * best.primal
    np.testing.assert_allclose(problem.w, best.w, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_no_visit_lowers_the_dual_value(kind):
    problem = Problem(kind, 0.5)
    values = [problem.visit(1, seed).bounds()[1] for seed in range(12)]
    assert values == sorted(values)


@pytest.mark.parametrize("kind", KINDS)
def test_no_visit_is_a_gap_of_all_costs(kind):
    problem = Problem(kind, 0.5)
    primal, dual = problem.bounds()
    dearest = sum(0.5 * e.weight * e.delta.max() for e in problem.examples)
    assert (primal, dual) == (pytest.approx(dearest), 0.0)


def test_the_margin_is_hard_as_c_grows():
    problem = Problem("four classes", 100.0, n=6).visit(400)
    hard = hard_margin(problem.examples)
    assert objective(problem.examples, 100.0, problem.w) == pytest.approx(hard @ hard / 2, rel=1e-2)
    np.testing.assert_allclose(problem.w, hard, atol=1e-2)
