"""The bound is the least there is, mistakes are under it, and claims turn with the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from experiments.papers.stdev import theorem4
from experiments.papers.stdev.clouds import FULL, LONG, model, points


def test_the_least_length_is_that_of_another_solver():
    random = np.random.default_rng(0)
    root = random.normal(size=(4, 4))
    sigma = root @ root.T + np.eye(4)
    G = random.normal(size=(12, 4)) + np.array([2.0, 0, 0, 0])
    G *= np.sign(G[:, :1])
    h = random.uniform(0.5, 2.0, 12)
    P = np.linalg.inv(sigma)
    other = minimize(
        lambda mu: mu @ P @ mu, np.r_[100.0, 0, 0, 0], jac=lambda mu: 2 * P @ mu, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda mu: G @ mu - h, "jac": lambda mu: G},
        options={"ftol": 1e-12, "maxiter": 1000},
    )  # fmt: skip
    assert other.success
    assert theorem4.least(sigma, G, h) == pytest.approx(other.fun, rel=1e-6)


@pytest.fixture(scope="module")
def rows():
    return [
        row
        for phi in (0.3, 1.65)
        for row in theorem4._run(LONG._replace(gap=1.0), phi, 2)
    ]  # fmt: skip


def test_the_recorded_run_is_that_of_the_rule(rows):
    from surelearn import rules

    clf = model(rule=rules.Stdev(phi=1.65), **FULL).fit(*points(LONG._replace(gap=1.0), 0))
    assert rows[1]["mistakes"][0] == clf.mistakes_[0]


def test_mistakes_are_under_the_bounds(rows):
    assert [claim.verdict for claim in theorem4.claims(rows)] == ["held"] * 4
    for row in rows:
        sides = [np.array(row[side]) for side in ("mistakes", "sharper", "bound")]
        assert np.all(sides[0] <= sides[1])
        assert np.all(sides[1] <= sides[2])


def test_one_run_over_the_bound_speaks_against_the_claims(rows):
    worse = [dict(row) for row in rows]
    worse[0]["mistakes"] = [1.0, 1e9]
    worse[1]["sum"] = [1e9, 1.0]
    worse[1]["missed"] = [0.1, 0.0]
    found = [claim.verdict for claim in theorem4.claims(worse)]
    assert found == ["did not hold"] * 4


def test_the_sum_without_its_factor_is_no_bound(rows):
    (lines,) = theorem4.tables(rows).values()
    assert lines[0]["runs with more mistakes than that"] == 2


def test_the_picture_is_drawn(rows, tmp_path):
    theorem4.draw(rows, tmp_path)
    assert (tmp_path / "theorem4.png").stat().st_size > 10_000


def test_quick_cases_are_all_parameters():
    assert len(theorem4.cases(True)) == len(theorem4.SEPARABLE) * len(theorem4.PHIS)
