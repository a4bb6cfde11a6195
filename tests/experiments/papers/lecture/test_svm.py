"""Solvers of the SVM are compared by the same objective."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.lecture import svm
from surelearn import MulticlassSVM


def made(objective=100.5, margin=1.0):
    problem = {"problem": svm.DIGITS, "gap": None, "passes": 3}
    return [
        {**problem, "solver": svm.FRANK_WOLFE, "objective": 100.0, "gap": 0.05},
        {**problem, "solver": svm.SUBGRADIENT, "objective": objective},
        {**problem, "solver": svm.LIBLINEAR, "objective": 99.98},
        {"problem": svm.HARD, "C": 1.0, "margin": 0.4},
        {"problem": svm.HARD, "C": 100.0, "margin": margin},
    ]


def test_claims_follow_the_rows():
    near, hard = svm.claims(made())
    assert (near.verdict, hard.verdict) == ("held", "held")
    assert near.ours == "+0.50 % above Frank-Wolfe"
    assert near.note == "LIBLINEAR: -0.02 %."
    assert [claim.verdict for claim in svm.claims(made(102.0, 0.9))] == ["did not hold"] * 2
    objectives, margins = svm.tables(made()).values()
    assert [line["duality gap"] for line in objectives] == ["0.0500", "", ""]
    assert [line["C"] for line in margins] == ["1", "100"]


def test_the_objective_is_that_of_the_solver():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 4)), random.integers(3, size=60)
    model = MulticlassSVM(C=0.5, fit_intercept=False, tol=1e-6, random_state=0).fit(X, y)
    assert svm.objective(model.coef_, X, y, 0.5) == pytest.approx(model.objective_, rel=1e-4)


def test_the_margin_becomes_hard_as_c_grows():
    margins = [row["margin"] for row in svm._hard()]
    assert margins == sorted(margins)
    assert margins[-1] == pytest.approx(1.0, abs=1e-2)
