"""The printed mean is the minimum's, the printed covariance is too small for n models."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.variance import equation18


@pytest.fixture
def rows():
    return [row for case in equation18.cases(True).values() for row in case()]


def test_the_mean_holds_and_the_covariance_does_not(rows):
    assert [row["ratio"] for row in rows] == pytest.approx([2, 10, 50], rel=1e-5)
    assert [claim.verdict for claim in equation18.claims(rows)] == ["held", "did not hold"]
    (lines,) = equation18.tables(rows).values()
    assert [line["variance / printed variance"] for line in lines] == [
        "2.0000",
        "10.0000",
        "50.0000",
    ]


def test_claims_flip_with_the_rows(rows):
    other = [{**row, "ratio": 1.0, "mean": 0.1} for row in rows]
    assert [claim.verdict for claim in equation18.claims(other)] == ["did not hold", "held"]


def test_the_divergence_to_itself_is_zero():
    random = np.random.default_rng(0)
    mu, precision = random.normal(size=(1, 5)), random.uniform(1, 2, (1, 5))
    same = np.concatenate([mu[0], -np.log(precision[0])])
    assert equation18.divergence(same, mu, precision) == pytest.approx(0, abs=1e-12)
    assert equation18.divergence(same + 0.1, mu, precision) > 0
