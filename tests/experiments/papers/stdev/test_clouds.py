"""The clouds are separable as the paper says, and their test error is that of many points."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.stdev.clouds import (
    CLOUDS,
    FEATURES,
    LONG,
    error_rate,
    is_collapse,
    model,
    points,
)


@pytest.mark.parametrize("cloud", CLOUDS, ids=str)
def test_clouds_have_the_shape_they_say(cloud):
    X, y = points(cloud, 0, 20_000)
    across, along = (X[:, 0] - X[:, 1]) / np.sqrt(2), (X[:, 0] + X[:, 1]) / np.sqrt(2)
    assert np.array_equal(np.sign(across), y)
    assert across.std() == pytest.approx(1, rel=0.03)
    assert along.std() == pytest.approx(cloud.long, rel=0.03)
    assert X[:, 2:].var() == pytest.approx(cloud.noise, rel=0.03)


def test_a_gap_moves_points_away_from_the_axis():
    X, y = points(LONG._replace(gap=2.0), 0)
    plain, same = points(LONG, 0)
    assert np.array_equal(y, same)
    across = (X[:, 0] - X[:, 1]) / np.sqrt(2)
    assert across == pytest.approx((plain[:, 0] - plain[:, 1]) / np.sqrt(2) + 2.0 * y)


@pytest.mark.parametrize("cloud", CLOUDS, ids=str)
def test_the_test_error_is_that_of_many_points(cloud):
    random = np.random.default_rng(0)
    w = np.r_[1.0, -0.8, random.normal(size=FEATURES - 2) / 10]
    X, y = points(cloud, 1, 100_000)
    counted = 100 * np.mean(np.sign(X @ w) != y)
    assert error_rate(cloud, w) == pytest.approx(counted, abs=0.5)
    assert error_rate(cloud, -w) == pytest.approx(100 - counted, abs=0.5)


def test_a_collapse_is_told_from_other_errors():
    from surelearn import rules

    X, y = points(LONG, 0)
    with pytest.raises(ValueError, match="variances") as refused:
        model(rule=rules.Stdev(phi=3.0), projection="precision").fit(X, y)
    assert is_collapse(refused.value)
    assert not is_collapse(ValueError("phi must be in [0, 1e6], got -1."))
