"""Upper bounds of mean losses against sums and loops, their laws, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from reference import decisions as slow
from surelearn.decide import binomial_upper_bound, fewest_rows, mean_upper_bound
from surelearn.decide.bounds import bets_against, shows

deltas = st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.5])
shares = st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=60)
counts = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_fewest_rows_of_the_manual():
    """Those of the algorithm sheet."""
    assert fewest_rows(0.05, 0.1) == 45
    assert fewest_rows(0.05, 0.05) == 59
    assert fewest_rows(0.001, 0.1) == 2302


@given(st.floats(0.005, 0.99), st.floats(0.001, 0.999))
def test_fewest_rows_by_counting(risk, delta):
    assert fewest_rows(risk, delta) == slow.fewest_rows(risk, delta)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("risk", [0.001, 0.01, 0.05, 0.1, 0.2, 0.5])
def test_fewest_rows_are_enough_and_one_less_is_not(risk, delta):
    n = fewest_rows(risk, delta)
    assert shows(np.zeros(n), risk, delta, binary=True)
    assert not shows(np.zeros(n - 1), risk, delta, binary=True)


def test_fewest_rows_where_the_power_is_exact():
    assert fewest_rows(0.5, 0.25) == 2
    assert fewest_rows(0.1, 0.81) == 2
    assert fewest_rows(0.9, 0.5) == 1


@given(counts, deltas)
def test_the_binomial_bound_is_where_the_tail_is_delta(count, delta):
    errors, n = count
    bound = binomial_upper_bound(errors, n, delta)
    assert bound == pytest.approx(slow.binomial_bound(errors, n, delta), abs=1e-9)
    assert bound >= errors / max(n, 1)


@given(counts.filter(lambda c: c[0] < c[1]), deltas)
def test_laws_of_the_binomial_bound(count, delta):
    errors, n = count
    bound = binomial_upper_bound(errors, n, delta)
    assert bound < binomial_upper_bound(errors + 1, n, delta)
    assert bound > binomial_upper_bound(errors, n + 1, delta)
    assert bound > binomial_upper_bound(errors, n, delta * 1.5)


def test_the_binomial_bound_of_no_rows_and_of_errors_only():
    for n in (0, 1, 20):
        assert binomial_upper_bound(n, n, 0.1) == 1.0
    assert binomial_upper_bound(0, 1, 0.1) == pytest.approx(0.9)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_the_binomial_bound_is_below_the_truth_at_most_as_often_as_it_says(n, delta):
    """Exactly, by the probability of every count, and nearly that often somewhere."""
    bounds = np.array([binomial_upper_bound(k, n, delta) for k in range(n + 1)])
    # Just above a bound is where one more count is below the truth.
    truths = np.clip([*np.linspace(0, 1, 101), *(bounds + 1e-9)], 0, 1)
    below = [binom.pmf(np.flatnonzero(bounds < p), n, p).sum() for p in truths]
    assert max(below) == pytest.approx(delta, rel=1e-6)


@given(shares, st.floats(0.01, 0.99), deltas)
def test_bets_by_a_loop(losses, mean, delta):
    capital = slow.largest_capital(losses, mean, delta)
    if abs(capital * delta - 1) > 1e-9:
        assert bets_against(np.array(losses), mean, delta) == (capital >= 1 / delta)


@given(shares, deltas)
def test_the_bound_of_shares_by_a_loop(losses, delta):
    bound = mean_upper_bound(np.array(losses), delta, binary=False)
    assert bound == pytest.approx(max(slow.betting_bound(losses, delta), np.mean(losses)), abs=1e-8)


@given(shares, deltas, st.integers(0, 59))
def test_laws_of_the_bound_of_shares(losses, delta, place):
    losses = np.array(losses)
    bound = mean_upper_bound(losses, delta, binary=False)
    assert losses.mean() <= bound <= 1.0
    assert mean_upper_bound(losses, delta / 2, binary=False) >= bound - 1e-8
    assert bound == 1.0 or shows(losses, bound, delta, binary=False)
    worst = losses.copy()
    worst[place % len(losses) :] = 1.0
    assert mean_upper_bound(worst, delta, binary=False) >= bound - 1e-8


@given(st.lists(st.sampled_from([0.0, 1.0]), max_size=60), st.floats(0.01, 0.99), deltas)
def test_errors_show_a_risk_by_the_tail(losses, risk, delta):
    tail = slow.binomial_tail(int(sum(losses)), len(losses), risk)
    if abs(tail - delta) > 1e-9:
        assert shows(np.array(losses), risk, delta, binary=True) == (tail <= delta)
    bound = slow.binomial_bound(int(sum(losses)), len(losses), delta)
    assert mean_upper_bound(np.array(losses), delta, binary=True) == pytest.approx(bound, abs=1e-9)


@pytest.mark.parametrize("binary", [True, False])
def test_nothing_is_shown_by_no_rows_or_by_errors_only(binary):
    for losses in (np.zeros(0), np.ones(1), np.ones(50)):
        assert mean_upper_bound(losses, 0.1, binary=binary) == 1.0
        assert not shows(losses, 0.99, 0.1, binary=binary)


def test_all_right_is_shown_by_more_and_more_rows():
    for binary in (True, False):
        bounds = [
            mean_upper_bound(np.zeros(n), 0.1, binary=binary) for n in (1, 5, 20, 100, 1000, 10000)
        ]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] < 0.0015


def test_small_losses_of_one_size_have_a_bound_near_them():
    """Betting learns that the spread is small, which errors cannot know."""
    losses = np.full(2000, 0.3)
    assert 0.3 < mean_upper_bound(losses, 0.1, binary=False) < 0.31
    assert binomial_upper_bound(600, 2000, 0.1) > 0.312


def test_the_bound_is_never_below_the_mean_of_the_losses():
    """Also where bets refute that mean, because all losses come late."""
    losses = np.repeat([0.0, 1.0], 200)
    assert bets_against(losses, 0.4, 0.1)
    assert mean_upper_bound(losses, 0.1, binary=False) == pytest.approx(0.5, abs=1e-8)


DRAWS = 400
LAWS = {
    "skewed": (lambda r, n: r.beta(0.3, 3.0, n), 0.3 / 3.3),
    "fifths": (lambda r, n: r.binomial(5, 0.1, n) / 5, 0.1),
    "errors": (lambda r, n: (r.random(n) < 0.1).astype(float), 0.1),
    "flat": (lambda r, n: r.random(n), 0.5),
    "rare": (lambda r, n: np.where(r.random(n) < 0.04, r.random(n), 0.0), 0.02),
    "high": (lambda r, n: r.beta(6.0, 1.0, n), 6 / 7),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_bound_of_shares_is_above_the_mean_as_often_as_it_says(law):
    draw, mean = LAWS[law]
    random, delta, n = np.random.default_rng(7), 0.1, 150
    bounds = [mean_upper_bound(draw(random, n), delta, binary=False) for _ in range(DRAWS)]
    below = np.mean(np.array(bounds) < mean)
    assert below <= delta + 2 * np.sqrt(delta * (1 - delta) / DRAWS)
    assert np.median(bounds) < mean + 0.12  # a bound of 1 would always hold


def test_peeking_at_every_row_is_paid_for():
    """Bets are judged by their best moment, which only a supermartingale allows."""
    random, delta, mean = np.random.default_rng(3), 0.1, 0.2
    losses = random.binomial(4, mean, (2000, 100)) / 4
    refuted = np.mean([bets_against(row, mean, delta) for row in losses])
    assert 0.02 < refuted <= delta + 2 * np.sqrt(delta * (1 - delta) / len(losses))


def test_the_clopper_pearson_bound_is_a_beta_quantile():
    for errors, n, delta in [(0, 45, 0.1), (3, 100, 0.05), (99, 100, 0.2)]:
        expected = beta.ppf(1 - delta, errors + 1, n - errors)
        assert binomial_upper_bound(errors, n, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("risk", "delta"), [(0.05, 0.1), (0.1, 0.1), (0.01, 0.05), (0.5, 0.3)])
def test_the_fewest_rows_of_shares_just_show_the_risk(risk, delta):
    n = fewest_rows(risk, delta, binary=False)
    assert n >= fewest_rows(risk, delta)
    assert shows(np.zeros(n), risk, delta, binary=False)
    assert not shows(np.zeros(n - 1), risk, delta, binary=False)
