"""McNemar's test between two models, against the binomial test and by enumeration."""

from __future__ import annotations

from itertools import product
from math import comb, erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from judged import Oracle, answered, rows
from surelearn import evaluate
from surelearn.evaluation import Comparison


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
