"""Certified thresholds: each is tested in turn, and the risk is kept in as many draws as stated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import decisions as slow
from surelearn.decide import Certified, Selection, fewest_rows, select, too_few
from surelearn.decide.bounds import mean_upper_bound
from surelearn.decide.selection import split

DRAWS = 400


@st.composite
def samples(draw, binary):
    """Rows that choose and rows that certify, in which sureness ties and helps a bit."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    levels, harm = draw(st.sampled_from([1, 3, 10, 1000])), draw(st.sampled_from([0.0, 0.1, 0.4]))

    def rows(n):
        sureness = random.integers(0, levels, n) / levels
        loss = random.random(n) < harm * (1 - sureness)
        return Selection(sureness, loss * (1.0 if binary else random.integers(1, 5, n) / 4))

    return rows(draw(st.integers(1, 40))), rows(draw(st.integers(1, 120)))


def is_shown(certifying, threshold, risk, delta, binary):
    answered = [
        x for k, x in zip(*map(np.ndarray.tolist, certifying), strict=True) if k >= threshold
    ]
    return slow.passes(answered, risk, delta, binary)


@pytest.mark.parametrize("binary", [True, False])
@given(st.data(), st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from([0.05, 0.2]))
def test_a_threshold_has_passed_and_the_next_looser_one_has_not(binary, data, risk, delta):
    choosing, certifying = data.draw(samples(binary))
    found = select(choosing, certifying, risk=risk, delta=delta, binary=binary)
    tried = [*sorted(set(choosing.sureness.tolist()), reverse=True), -np.inf]
    passed = [is_shown(certifying, t, risk, delta, binary) for t in tried]
    if found is None:
        assert not all(passed)
        return
    place = tried.index(found.threshold)
    assert passed[place]
    assert place == len(tried) - 1 or not passed[place + 1]
    answered = certifying.sureness >= found.threshold
    assert found.coverage == pytest.approx(answered.mean())
    assert found.n == len(answered)
    assert found.bound <= risk
    bound = mean_upper_bound(certifying.loss[answered], delta, binary=binary)
    assert found.bound == pytest.approx(min(risk, bound))


def test_all_right_answers_all():
    rows = Selection(np.linspace(0, 1, 400), np.zeros(400))
    found = select(rows.take(np.arange(100)), rows, risk=0.05, delta=0.1, binary=True)
    assert found == Certified(-np.inf, pytest.approx(0.00574, abs=1e-5), 1.0, 400)


@pytest.mark.parametrize("binary", [True, False])
def test_all_wrong_answers_nothing(binary):
    rows = Selection(np.linspace(0, 1, 400), np.ones(400))
    assert select(rows, rows, risk=0.05, delta=0.1, binary=binary) is None


def test_one_row_and_no_row_show_nothing_small():
    none, one = Selection(np.zeros(0), np.zeros(0)), Selection(np.zeros(1), np.zeros(1))
    for choosing, certifying in [(none, none), (none, one), (one, one)]:
        assert select(choosing, certifying, risk=0.05, delta=0.1, binary=True) is None
    assert select(none, one, risk=0.9, delta=0.1, binary=True).coverage == 1.0


def test_without_rows_that_choose_all_are_answered_or_none():
    none = Selection(np.zeros(0), np.zeros(0))
    for n, answered in ((44, False), (45, True)):
        rows = Selection(np.arange(float(n)), np.zeros(n))
        found = select(none, rows, risk=0.05, delta=0.1, binary=True)
        assert (found is not None) == answered


def test_equal_sureness_answers_all_or_none():
    right, wrong = (Selection(np.ones(100), np.full(100, x)) for x in (0.0, 1.0))
    assert select(right, right, risk=0.05, delta=0.1, binary=True).coverage == 1.0
    assert select(right, wrong, risk=0.05, delta=0.1, binary=True) is None


def test_infinite_sureness_is_the_surest_and_the_least_sure():
    sureness = np.repeat([np.inf, 1.0, -np.inf], 100)
    rows = Selection(sureness, np.repeat([0.0, 0.0, 1.0], 100))
    found = select(rows, rows, risk=0.05, delta=0.1, binary=True)
    assert (found.threshold, found.coverage) == (1.0, pytest.approx(2 / 3))


def test_sure_rows_are_answered_and_others_are_not():
    random = np.random.default_rng(0)
    sureness = random.random(4000)
    rows = Selection(sureness, (random.random(4000) < 1 - sureness).astype(float))
    choosing, certifying = split(4000, fewest_rows(0.2, 0.1), random)
    found = select(rows.take(choosing), rows.take(certifying), risk=0.2, delta=0.1, binary=True)
    assert 0.6 < found.threshold < 0.7  # the risk above t is (1 - t) / 2
    assert found.coverage == pytest.approx(1 - found.threshold, abs=0.03)
    looser = select(rows.take(choosing), rows.take(certifying), risk=0.3, delta=0.1, binary=True)
    assert looser.threshold < found.threshold
    surer = select(rows.take(choosing), rows.take(certifying), risk=0.2, delta=0.01, binary=True)
    assert surer.threshold >= found.threshold


def test_any_rising_scale_of_sureness_answers_the_same_rows():
    random = np.random.default_rng(1)
    sureness = random.random(800)
    loss = (random.random(800) < 0.3 * (1 - sureness)).astype(float)
    first, rest = split(800, 45, random)
    shares = []
    for scaled in (sureness, np.exp(9 * sureness), np.log(sureness)):
        rows = Selection(scaled, loss)
        found = select(rows.take(first), rows.take(rest), risk=0.13, delta=0.1, binary=True)
        shares.append(found.coverage)
    assert shares[0] == shares[1] == shares[2] > 0.1


@given(st.integers(0, 500), st.integers(1, 300), st.integers(0, 99))
def test_a_split_keeps_the_least_and_loses_no_row(n, least, seed):
    choosing, certifying = split(n, least, np.random.default_rng(seed))
    assert sorted([*choosing, *certifying]) == list(range(n))
    assert len(certifying) >= min(n, least)
    assert len(choosing) <= n // 5
    assert len(choosing) == n // 5 or len(certifying) == min(n, least)


def test_a_split_of_many_rows_and_its_seed():
    parts = [split(100_000, 45, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert [len(rows) for rows in parts[0]] == [2000, 98_000]
    np.testing.assert_array_equal(parts[0][1], parts[1][1])
    assert (parts[0][1] != parts[2][1]).any()
    assert (np.diff(parts[0][1]) < 0).any()  # bets need a random order


def test_rows_are_taken_together():
    taken = Selection(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 1.0])).take(np.array([2, 0]))
    assert (taken.sureness.tolist(), taken.loss.tolist()) == ([3.0, 1.0], [1.0, 0.0])


def test_too_few_rows_in_words():
    with pytest.raises(
        ValueError,
        match=r"^risk=0\.001 with delta=0\.1 needs at least 2,302 rows, got 1,200\. Use more of "
        r"them, a larger risk or a larger delta\.$",
    ):
        raise too_few(1200, 2302, risk=0.001, delta=0.1, unit="rows")


def test_no_row_that_certifies_shows_nothing():
    none, one = Selection(np.zeros(0), np.zeros(0)), Selection(np.zeros(1), np.zeros(1))
    assert select(one, none, risk=0.05, delta=0.1, binary=True) is None


@pytest.mark.parametrize("n", [46, 50, 60])
def test_a_few_more_rows_than_the_fewest_show_it_as_well(n):
    least = fewest_rows(0.05, 0.1)
    assert least < n
    for seed in range(20):
        random = np.random.default_rng(seed)
        rows = Selection(random.random(n), np.zeros(n))
        choosing, certifying = split(n, least, random)
        found = select(
            rows.take(choosing), rows.take(certifying), risk=0.05, delta=0.1, binary=True
        )
        assert found is not None


def population(kind, binary, random, size=20_000):
    """Sureness and loss of all records: `even` is hardly above the risk, `rising` passes it."""
    sureness = random.random(size)
    rate = {"even": 0.21 - 0.01 * sureness, "rising": 0.5 * (1 - sureness)}[kind]
    if binary:
        return Selection(sureness, (random.random(size) < rate).astype(float))
    loss = random.binomial(5, rate) / 5
    if kind == "rising":
        loss = random.beta(rate + 0.01, 1.01 - rate)
    return Selection(sureness, loss)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("kind", ["even", "rising"])
def test_the_risk_is_kept_in_as_many_draws_as_stated(kind, binary):
    random, risk, delta, n = np.random.default_rng(11), 0.2, 0.1, 240
    everyone = population(kind, binary, random)
    order = np.argsort(-everyone.sureness)
    ordered = -everyone.sureness[order]
    true = np.cumsum(everyone.loss[order]) / np.arange(1, len(order) + 1)
    above, answered = 0, 0
    for _ in range(DRAWS):
        drawn = everyone.take(random.integers(0, len(order), n))
        choosing, certifying = split(n, fewest_rows(risk, delta), random)
        found = select(
            drawn.take(choosing), drawn.take(certifying), risk=risk, delta=delta, binary=binary
        )
        if found is not None:
            answered += 1
            above += true[np.searchsorted(ordered, -found.threshold, side="right") - 1] > risk
    assert above / DRAWS <= delta + 2 * np.sqrt(delta * (1 - delta) / DRAWS)
    assert kind == "even" or answered > 0.75 * DRAWS
