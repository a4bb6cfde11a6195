"""Conformal p-values against counting, and how often records of known classes look new."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import decisions as slow
from surelearn.decide import Novelty, novelty_of

values = st.sampled_from([-math.inf, -1.0, 0.0, 0.0, 0.5, 2.0, math.inf]) | st.floats(-3, 3)


@given(st.lists(values, max_size=40), st.lists(values, max_size=10))
def test_p_values_by_counting(known, new):
    found = Novelty.of(np.array(known)).p_value(np.array(new))
    assert found.tolist() == [float(slow.p_value(known, value)) for value in new]


@given(st.lists(values, max_size=40), st.lists(values, min_size=2, max_size=10))
def test_the_newer_the_smaller(known, new):
    found = Novelty.of(np.array(known)).p_value(np.sort(new))
    assert (np.diff(found) <= 0).all()
    assert ((found > 0) & (found <= 1)).all()


def test_order_does_not_matter_and_the_values_given_stay():
    known = np.array([3.0, 1.0, 2.0])
    assert Novelty.of(known).values.tolist() == [1.0, 2.0, 3.0]
    assert known.tolist() == [3.0, 1.0, 2.0]


def test_no_record_one_record_and_ties():
    assert Novelty.of(np.zeros(0)).p_value(np.array([5.0])).tolist() == [1.0]
    assert Novelty.of(np.zeros(1)).p_value(np.array([1.0, 0.0, -1.0])).tolist() == [0.5, 1.0, 1.0]
    assert Novelty.of(np.ones(9)).p_value(np.array([1.0, 1.5])).tolist() == [1.0, 0.1]


@pytest.mark.parametrize(("level", "n"), [(0.01, 99), (0.05, 19), (0.1, 9), (0.3, 3), (1.0, 0)])
def test_the_fewest_records_of_a_level(level, n):
    assert Novelty.fewest(level) == n


@given(st.floats(0.002, 1.0) | st.integers(1, 500).map(lambda k: 1 / k))
def test_the_fewest_records_reach_a_level_and_one_less_does_not(level):
    n = Novelty.fewest(level)
    assert Novelty.of(np.zeros(n)).p_value(np.ones(1))[0] <= level * (1 + 1e-9)
    assert n == 0 or Novelty.of(np.zeros(n - 1)).p_value(np.ones(1))[0] > level


@pytest.mark.parametrize("kind", ["spread", "ties"])
@pytest.mark.parametrize("n", [9, 19, 60])
def test_known_records_look_new_at_most_as_often_as_stated(n, kind):
    """On average over draws of the kept-back records; exactly as often at levels k / (n + 1)."""
    random, draws = np.random.default_rng(12), 4000
    drawn = random.random((draws, n + 1))
    if kind == "ties":
        drawn = np.floor(5 * drawn)
    p = np.array([Novelty.of(row[:-1]).p_value(row[-1:])[0] for row in drawn])
    for level in (0.05, 0.1, 0.2, 0.5, 0.9):
        error = 2.5 * math.sqrt(level * (1 - level) / draws)
        assert np.mean(p <= level) <= level + error
        if kind == "spread":
            reached = math.floor(level * (n + 1) + 1e-9) / (n + 1)
            assert np.mean(p <= level) >= reached - error


def test_novelty_by_its_definition():
    mean, variance = np.array([2.0, 0.5, -1.0, 3.0]), np.array([4.0, 0.25, 9.0, 0.0])
    np.testing.assert_allclose(novelty_of(mean, variance, "deviations"), [-1.0, -1.0, 1.0, 0.0])
    np.testing.assert_allclose(novelty_of(mean, variance, "precision"), [-0.5, -2.0, 1.0, 0.0])


def test_novelty_in_deviations_ignores_the_scale_of_rows():
    mean, variance = np.array([2.0, 0.5]), np.array([4.0, 0.25])
    for scale in (1e-3, 7.0):
        np.testing.assert_allclose(
            novelty_of(scale * mean, scale**2 * variance, "deviations"),
            novelty_of(mean, variance, "deviations"),
        )


@given(
    st.lists(st.integers(0, 6), max_size=30), st.lists(st.integers(-1, 7)), st.floats(0.01, 0.99)
)
def test_records_beyond_a_level_are_those_of_p_values(known, new, level):
    own = Novelty.of(np.array(known, dtype=float))
    values = np.array([*new, -np.inf, np.inf, np.nan], dtype=float)
    for at in (level, *((1 + k) / (len(known) + 1) for k in range(len(known)))):
        assert own.beyond(values, at).tolist() == (own.p_value(values) <= at).tolist()
