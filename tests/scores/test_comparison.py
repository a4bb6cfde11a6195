"""McNemar's test between two models, against the binomial test and by enumeration."""

from __future__ import annotations

from itertools import product
from math import comb, erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from judged import Oracle, answered, rows
from surelearn import evaluate
from surelearn.evaluation import Comparison, share_interval


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(b, c):
    p = Comparison(3, b, c, 2).p_value
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("b", "c"), list(product(range(6), repeat=2)))
def test_mcnemar_by_enumeration(b, c):
    """Every outcome of b + c fair coins that is at least as far from even."""
    n = b + c
    extreme = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(b - c))
    assert Comparison(0, b, c, 1).p_value == pytest.approx(extreme / 2**n)


def test_mcnemar_of_millions():
    p = Comparison(10**7, 10**6, 10**6 + 5000, 10**6).p_value
    assert p == pytest.approx(erfc(4999 / (2 * 2_005_000) ** 0.5), rel=1e-4)  # nearly normal
    assert str(Comparison(0, 10**6, 0, 0)).endswith(": p < 0.0001.")


@given(answered(), st.randoms(use_true_random=False))
def test_a_comparison_counts_rows(case, random):
    names, y, answers, p = case
    others = answers.copy()
    random.shuffle(others)
    model, rival = Oracle(names, p, answers), Oracle(names, answers=others)
    found = evaluate(model, rows(len(y)), y, rival=rival).comparison
    first, second = np.array(names)[answers] == y, np.array(names)[others] == y
    assert (found.both, found.neither) == ((first & second).sum(), (~first & ~second).sum())
    assert (found.model_only, found.rival_only) == (
        (first & ~second).sum(),
        (~first & second).sum(),
    )
    assert found.n == len(y)
    assert found.accuracy == pytest.approx(first.mean())
    assert found.rival_accuracy == pytest.approx(second.mean())
    apart = first.astype(float) - second
    assert found.difference == pytest.approx(apart.mean())
    assert found.difference_error == pytest.approx(apart.std() / len(y) ** 0.5, abs=1e-12)


def test_a_comparison_in_words():
    found = Comparison(700, 120, 1, 79)
    assert str(found) == (
        "Accuracy: the model 91.1 %, its rival 77.9 %.\n"
        "Only the model is right on 120 rows, only its rival on 1: p < 0.0001."
    )
    assert "Only A is right on 1 row, only B on 0:" in str(Comparison(9, 1, 0, 0, names=("A", "B")))


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.01, 0.999))
def test_it_is_that_of_the_binomial_test(n, share, level):
    count = round(share * n)
    expected = binomtest(count, n).proportion_ci(level, method="exact")
    found = share_interval(count, n, level)
    np.testing.assert_allclose(found, (expected.low, expected.high), rtol=1e-9, atol=1e-12)
    assert 0.0 <= found[0] <= count / n <= found[1] <= 1.0


@pytest.mark.parametrize("n", [1, 5, 60])
def test_it_covers_at_least_as_often_as_it_says(n):
    intervals = np.array([share_interval(count, n) for count in range(n + 1)])
    for p in np.linspace(0.0, 1.0, 201):
        covered = (intervals[:, 0] <= p) & (p <= intervals[:, 1])
        assert binom.pmf(np.flatnonzero(covered), n, p).sum() >= 0.95 - 1e-12


def test_nothing_is_sure_after_few_trials():
    assert share_interval(60, 60) == (pytest.approx(0.025 ** (1 / 60)), 1.0)
    assert share_interval(0, 60) == (0.0, pytest.approx(1 - 0.025 ** (1 / 60)))


def test_counts_that_cannot_be():
    with pytest.raises(ValueError, match=r"count must be .*got 4"):
        share_interval(4, 3)
    with pytest.raises(ValueError, match=r"n must be .*got 0"):
        share_interval(0, 0)
    with pytest.raises(TypeError, match="count must be"):
        share_interval(0.5, 1)
    with pytest.raises(ValueError, match=r"level must be .*got 1\.5"):
        share_interval(1, 2, 1.5)
