"""Counts over decisions: the same in one batch or in many, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn.decide import Right, compare_areas, risk_coverage
from surelearn.scores import CurveTally, KeptTally, SetTally, share_interval
from surelearn.scores import _decision_tally as module
from surelearn.scores._decision_tally import mean_interval


def promise(label=None):
    return {"label": label, "risk": 0.1, "delta": 0.1, "coverage": 0.5, "bound": 0.09}


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_a_curve_of_batches_is_that_of_all(seed, sizes):
    random, tally = np.random.default_rng(seed), CurveTally()
    sizes = [*sizes, 5]
    batches = [(random.integers(0, 4, n).astype(float), random.random(n)) for n in sizes]
    for batch in batches:
        tally.add(batch)
    found = tally.result(0.3)
    whole = risk_coverage(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))
    np.testing.assert_array_equal(found.curve.risk, whole.risk)
    assert (found.risk, found.rival_area) == (0.3, None)


def test_no_batch_has_no_curve():
    assert CurveTally().result(0.1) is None


def test_a_rival_is_compared_by_the_paired_bootstrap(monkeypatch):
    random = np.random.default_rng(0)
    loss = (random.random(300) < 0.3).astype(float)
    one, other = (random.normal(size=300) - loss, loss), (random.normal(size=300), loss)
    tally = CurveTally()
    tally.add(one, other)
    found = tally.result(None)
    difference, error = compare_areas(one, other, n_draws=1000)
    assert found.area_difference == pytest.approx(difference)
    assert found.area_error == error > 0
    monkeypatch.setattr(module, "_DRAWN", 300 * 200)
    fewer = tally.result(None).area_error
    assert fewer == compare_areas(one, other, n_draws=200)[1]


def test_answers_by_label_are_counted():
    tally = KeptTally([promise("a"), promise("b"), promise("c")], binary=True)
    labels = np.array(["a", "a", "b", "b", "c"])
    answered = np.array([True, True, True, False, False])
    for _ in range(2):
        tally.add(answered, np.array([1.0, 0.0, 0.0, 1.0, 1.0]), labels)
    found = {one.label: one for one in tally.result()}
    assert (found["a"].n, found["a"].n_answered, found["a"].observed) == (10, 4, 0.5)
    assert found["a"].interval == share_interval(2, 4)
    assert (found["b"].n_answered, found["b"].observed) == (2, 0.0)
    assert (found["c"].n_answered, found["c"].observed) == (0, None)
    assert found["c"].interval == (0.0, 1.0)
    assert found["b"].answered == 0.2


def test_losses_that_are_shares_have_an_interval_by_betting():
    random = np.random.default_rng(0)
    loss, answered = random.beta(1, 9, 800), random.random(800) < 0.7
    tally = KeptTally([promise()], binary=False)
    tally.add(answered[:300], loss[:300], None)
    tally.add(answered[300:], loss[300:], None)
    (found,) = tally.result()
    low, high = found.interval
    assert found.observed == pytest.approx(loss[answered].mean())
    assert low < found.observed < high
    assert (low, high) == mean_interval(0.0, int(answered.sum()), loss[answered])


def test_the_interval_of_a_mean_covers_it():
    random, missed = np.random.default_rng(1), 0
    for _ in range(200):
        low, high = mean_interval(0.0, 100, random.choice([0.0, 0.5, 1.0], 100, p=[0.6, 0.3, 0.1]))
        missed += not low <= 0.25 <= high
    assert missed <= 10


def sets_of(n, n_classes, seed):
    random = np.random.default_rng(seed)
    return random.random((n, n_classes)) < 0.6, random.integers(-1, n_classes, n)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_sets_of_rows_by_loops(n, n_classes, seed, block):
    within, places = sets_of(n, n_classes, seed)
    names = np.array([f"c{k}" for k in range(n_classes)])
    tally = SetTally(0.9, names, binary=True)
    for first in range(0, n, block):
        some = slice(first, first + block)
        rows = np.arange(len(places[some]))
        right = Right(rows, places[some], rows, np.ones(len(rows)), len(rows))
        tally.add(within[some], right, rows)
    found = tally.result()
    held = [k >= 0 and bool(within[i, k]) for i, k in enumerate(places)]
    assert found.coverage == pytest.approx(np.mean(held))
    low, high = share_interval(sum(held), n)
    assert found.interval == pytest.approx((low, high), abs=1e-9)
    assert found.size == pytest.approx(within.sum() / n)
    by_class = {row.label: row for row in found.by_class}
    for k in range(n_classes):
        own = [i for i in range(n) if places[i] == k]
        assert (names[k] in by_class) == bool(own)
        if own:
            row = by_class[names[k]]
            assert row.support == len(own)
            assert row.coverage == pytest.approx(np.mean([held[i] for i in own]))
            assert row.size == pytest.approx(np.mean([within[i].sum() for i in own]))


def test_records_of_several_right_labels_lose_shares():
    # The first record has labels 0 and 1, the second 1, the third none.
    right = Right(
        np.array([0, 0, 1]), np.array([0, 1, 1]), np.arange(3), np.array([0.5, 0.5, 1.0]), 3
    )
    within = np.array([[True, False], [False, True], [False, False]])
    tally = SetTally(0.9, np.array(["p", "q"]), binary=False)
    tally.add(within, right, np.arange(3))
    found = tally.result()
    assert found.coverage == pytest.approx(1 - 0.5 / 3)
    assert found.interval[0] < found.coverage <= found.interval[1]
    assert found.by_class.coverage.tolist() == [1.0, 0.5]
    assert found.size == pytest.approx(2 / 3)


def test_of_several_labels_in_one_part_a_set_needs_one():
    right = Right(np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([0, 0, 1]), np.ones(2), 2)
    within = np.array([[False, False, True], [True, False, False]])
    tally = SetTally(0.9, None, binary=True)
    tally.add(within, right, np.arange(2))
    found = tally.result()
    assert (found.coverage, found.by_class, found.n_labels) == (0.5, None, 3)


def test_items_of_a_record_share_its_loss():
    # One sentence of three tokens, of which one set misses.
    right = Right(np.arange(3), np.array([0, 1, 1]), np.arange(3), np.full(3, 1 / 3), 1)
    tally = SetTally(0.9, np.array(["N", "V"]), binary=False)
    tally.add(np.array([[True, False], [True, False], [True, True]]), right, np.zeros(3, int))
    assert tally.result().coverage == pytest.approx(2 / 3)
    assert tally.result().size == pytest.approx(4 / 3)
