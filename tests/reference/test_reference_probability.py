"""The reference's label probabilities against what is known of them, and against sampling."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from .learner import Learner
from .probability import label_probabilities, label_probabilities_full

pytestmark = pytest.mark.slow  # the judge is judged where there is time


def spread_out(seed, n_classes=5, decades=4):
    rng = np.random.default_rng(seed)
    sd = 10 ** rng.uniform(-decades, 0, n_classes)
    sd[0], sd[1] = 1.0, 10.0**-decades
    return rng.normal(size=n_classes), sd**2


def test_two_labels_have_a_closed_form():
    p = label_probabilities([0.3, -0.2], [2.0, 3.0])
    assert p == pytest.approx(stats.norm.cdf([0.5 / 5**0.5, -0.5 / 5**0.5]), abs=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_they_sum_to_one_when_spreads_differ_much(seed):
    p = label_probabilities(*spread_out(seed))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert (p >= 0).all()


@pytest.mark.parametrize("seed", range(2))
def test_each_is_the_integral_in_many_digits(seed):
    mean, variance = spread_out(seed, n_classes=3)
    got = label_probabilities(mean, variance)
    with mp.workdps(30):
        sd = [mp.sqrt(mpf(v)) for v in variance]
        cuts = sorted(
            mpf(m) + s * c for m, s in zip(mean, sd, strict=True) for c in range(-12, 13, 2)
        )
        for y in range(3):

            def density(t, y=y):
                others = [mp.ncdf(t, mpf(mean[z]), sd[z]) for z in range(3) if z != y]
                return mp.npdf(t, mpf(mean[y]), sd[y]) * mp.fprod(others)

            assert got[y] == pytest.approx(float(mp.quad(density, cuts, maxdegree=6)), abs=1e-12)


def test_labels_without_variance_share_or_bound():
    np.testing.assert_array_equal(label_probabilities([1.0, 2.0, 2.0], np.zeros(3)), [0, 0.5, 0.5])
    p = label_probabilities([0.5, 0.5, 0.0, -3.0], [0.0, 0.0, 4.0, 0.0])
    over = stats.norm.sf(0.25)
    np.testing.assert_allclose(p, [(1 - over) / 2, (1 - over) / 2, over, 0.0], atol=1e-14)
    p = label_probabilities([1e8, 1e8, 0.0], [1e-20, 1e-20, 1.0])
    np.testing.assert_allclose(p, [0.5, 0.5, 0.0], atol=1e-14)


def test_a_certain_label_is_the_limit_of_a_narrow_one():
    mean = [0.2, 0.0, -0.5]
    certain = label_probabilities(mean, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(certain, label_probabilities(mean, [1e-16, 1.0, 2.0]), atol=1e-8)


def test_sampling_agrees_when_scores_are_independent():
    mean, variance = spread_out(3, decades=1)
    p = label_probabilities(mean, variance)
    drawn = label_probabilities_full(mean, np.diag(variance), 200_000, seed=0)
    np.testing.assert_allclose(drawn, p, atol=4 * 0.5 / 200_000**0.5)
    assert drawn.sum() == pytest.approx(1.0)


def test_sampling_knows_dependence_and_ties():
    """Two scores that move together never change places; no covariance at all shares ties."""
    together = np.array([[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(label_probabilities_full([0.1, 0.0], together, 1000, 0), [1, 0])
    np.testing.assert_array_equal(
        label_probabilities_full(np.ones(2), np.zeros((2, 2)), 10, 0), [0.5, 0.5]
    )
    against = np.array([[1.0, -0.9], [-0.9, 1.0]])
    p = label_probabilities_full([0.5, 0.0], against, 200_000, 1)
    assert p[0] == pytest.approx(stats.norm.cdf(0.5 / 3.8**0.5), abs=0.005)


def test_full_learner_gives_the_covariance_of_its_scores():
    rng = np.random.default_rng(0)
    learner = Learner(3, 3, "arow", {"r": 1.0}, covariance="full")
    for x, y in zip(rng.normal(size=(20, 3)), rng.integers(0, 3, 20), strict=True):
        learner.learn(x, y)
    x = rng.normal(size=3)
    mean, covariance = learner.score_moments(x)
    row = np.append(x, 1.0)
    for z in range(3):
        for q in range(3):
            block = learner.sigma[4 * z : 4 * z + 4, 4 * q : 4 * q + 4]
            assert covariance[z, q] == pytest.approx(row @ block @ row, rel=1e-12)
    np.testing.assert_allclose(mean, learner.mu @ row)
    assert abs(covariance[0, 1]) > 1e-6
    np.testing.assert_array_equal(learner.margin(x)[1], np.diag(covariance))
