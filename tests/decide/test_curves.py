"""Curves of risk against coverage by loops, and the error of a difference of their areas."""

from __future__ import annotations

from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import decisions as slow
from surelearn.decide import compare_areas, risk_coverage

losses = st.sampled_from([0.0, 0.0, 0.25, 1 / 3, 1.0])
sizes = st.integers(-3, 3).map(float) | st.floats(-5, 5)
records = st.lists(st.tuples(sizes, losses), min_size=1, max_size=40)


def curve(pairs):
    return risk_coverage(*np.array(pairs).T)


@given(records)
def test_the_curve_by_loops(pairs):
    found, (sureness, loss) = curve(pairs), zip(*pairs, strict=True)
    np.testing.assert_allclose(found.risk, slow.risks(sureness, loss), atol=1e-12)
    assert found.area == pytest.approx(slow.area(sureness, loss), abs=1e-12)
    n = len(pairs)
    assert found.coverage.tolist() == [(i + 1) / n for i in range(n)]


@given(records, st.randoms(use_true_random=False))
def test_the_order_of_records_and_the_scale_of_sureness_do_not_matter(pairs, random):
    shuffled = [(2 * k, x) for k, x in pairs]
    random.shuffle(shuffled)
    np.testing.assert_allclose(curve(shuffled).risk, curve(pairs).risk, atol=1e-12)


@given(records)
def test_the_least_possible_risk_is_that_of_a_sureness_that_knows_the_losses(pairs):
    loss = np.array(pairs)[:, 1]
    found = curve(pairs)
    n = len(pairs)
    expected = [np.sort(loss)[:k].mean() for k in range(1, n + 1)]
    np.testing.assert_allclose(found.least, expected, atol=1e-12)
    assert (found.least <= found.risk + 1e-12).all()


@given(records, st.floats(0, 1))
def test_the_coverage_at_a_risk(pairs, risk):
    found = curve(pairs)
    coverage = found.coverage_at(risk)
    assert coverage in (0.0, *found.coverage)
    if coverage:
        assert found.risk[round(coverage * len(pairs)) - 1] <= risk
    assert (found.risk[found.coverage > coverage] > risk).all()
    assert found.coverage_at(found.risk[-1]) == 1.0


def test_all_right_all_wrong_one_record_and_ties():
    sureness = np.arange(5.0)
    assert risk_coverage(sureness, np.zeros(5)).area == 0.0
    assert risk_coverage(sureness, np.ones(5)).risk.tolist() == [1.0] * 5
    assert risk_coverage(sureness, np.ones(5)).coverage_at(0.99) == 0.0
    assert risk_coverage(np.ones(1), np.ones(1)).area == 1.0
    tied = risk_coverage(np.ones(4), np.array([0.0, 0.0, 0.0, 1.0]))
    assert tied.risk.tolist() == [0.25] * 4
    assert tied.coverage_at(0.2) == 0.0
    assert tied.coverage_at(0.25) == 1.0


def test_the_best_and_the_worst_order():
    loss = np.repeat([0.0, 1.0], 50)
    best, worst = (risk_coverage(k, loss).area for k in (-loss - np.arange(100), np.arange(100.0)))
    random = risk_coverage(np.random.default_rng(0).random(100), loss).area
    assert best < random < worst
    assert random == pytest.approx(0.5, abs=0.15)


def test_a_curve_in_words():
    found = risk_coverage(np.array([3.0, 1.0, 2.0, 0.5]), np.array([0.0, 1.0, 0.0, 1.0]))
    assert repr(found) == "RiskCoverage(n=4, risk=0.5000, area=0.2083)"


def test_infinite_sureness_ties():
    found = risk_coverage(np.array([np.inf, np.inf, 0.0, -np.inf]), np.array([1.0, 0.0, 1.0, 1.0]))
    assert found.risk.tolist() == [0.5, 0.5, pytest.approx(2 / 3), 0.75]


def drawn(random, n):
    """Two scores of the same answers; the second has more noise."""
    hard = random.random(n)
    loss = (random.random(n) < hard).astype(float)
    near, far = (-hard + random.normal(0, scale, n) for scale in (0.1, 0.5))
    return (near, loss), (far, loss)


def test_a_score_beside_itself_and_the_sign_of_a_difference():
    one, other = drawn(np.random.default_rng(0), 300)
    assert compare_areas(one, one, n_draws=20) == (0.0, 0.0)
    ahead, behind = compare_areas(one, other, n_draws=50), compare_areas(other, one, n_draws=50)
    assert ahead[0] == -behind[0] < 0
    assert ahead[0] == pytest.approx(slow.area(*one) - slow.area(*other), abs=1e-12)
    assert ahead[1] == pytest.approx(behind[1])
    assert ahead[1] > 0


def test_a_comparison_is_fixed_by_its_seed():
    one, other = drawn(np.random.default_rng(0), 100)
    found = [compare_areas(one, other, n_draws=50, seed=seed)[1] for seed in (3, 3, 4)]
    assert found[0] == found[1]
    assert found[1] != found[2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), losses), min_size=1, max_size=12))
def test_samples_with_ties_have_the_areas_of_their_records(triples):
    one, other, loss = np.array(triples, dtype=float).T
    random, n = np.random.default_rng(5), len(loss)
    drawn = []
    for _ in range(4):
        rows = random.integers(0, n, n)
        areas = [risk_coverage(k[rows], loss[rows]).area for k in (one, other)]
        drawn.append(areas[0] - areas[1])
    found = compare_areas((one, loss), (other, loss), n_draws=4, seed=5)
    assert found[1] == pytest.approx(stdev(drawn), abs=1e-9)


def test_the_bootstrap_error_is_that_of_new_records():
    random = np.random.default_rng(2)
    differences = [compare_areas(*drawn(random, 200), n_draws=2)[0] for _ in range(600)]
    errors = [compare_areas(*drawn(random, 200), n_draws=100)[1] for _ in range(12)]
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.15)


def test_the_bootstrap_draws_the_same_records_for_both_scores():
    one, other = drawn(np.random.default_rng(4), 40)
    random = np.random.default_rng(9)
    differences = []
    for _ in range(5):
        rows = random.integers(0, 40, 40)
        first, second = (slow.area(k[rows], loss[rows]) for k, loss in (one, other))
        differences.append(first - second)
    found = compare_areas(one, other, n_draws=5, seed=9)
    assert found[1] == pytest.approx(stdev(differences), rel=1e-9)
