"""The judgement of a search: which rows are kept back, and who wins."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.tuning.final import Verdict, best_of, compared, parts


@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        (2, [1, 1]),
        (15, [2] * 5 + [1] * 5),
        (1_000, [100] * 10),
        (5_000, [500] * 4),
        (20_000, [2_000]),
        (1_000_000, [5_000]),
    ],
)
def test_a_tenth_is_kept_back_until_enough_rows_are_judged(n, sizes):
    kept = parts(n, np.random.RandomState(0))
    assert [len(part) for part in kept] == sizes
    every = np.concatenate(kept)
    assert len(np.unique(every)) == len(every)
    assert set(every.tolist()) <= set(range(n))
    assert n < 20 or kept[0].tolist() != sorted(kept[0])


def verdict(errors, loss=0.5, n=1000, first=0):
    """So many rows wrong, from `first` on; every row has about this loss."""
    missed = np.roll(np.arange(n) < errors, first)
    return Verdict(missed, np.full(n, loss) + 0.01 * np.sin(np.arange(n)))


def test_a_difference_is_paired():
    a, b = np.arange(100) < 30, np.arange(100) < 20
    mean, deviation = compared(a, b)
    assert mean == 0.1
    assert deviation == pytest.approx(np.sqrt(0.1 * 0.9 / 100))
    assert compared(a, a) == (0.0, 0.0)


def test_the_default_wins_unless_another_is_clearly_better():
    default = verdict(100)
    assert best_of({0: default}, 0) == 0
    assert best_of({0: default, 1: verdict(97)}, 0) == 0  # three rows: less than two deviations
    assert best_of({0: default, 1: verdict(90)}, 0) == 1
    assert best_of({0: default, 1: verdict(90, loss=0.6)}, 0) == 0  # worse probabilities
    assert best_of({0: default, 1: verdict(110)}, 0) == 0


def test_few_rows_tell_nothing():
    """Of 21 draws of 100 rows, two of the five changes that 30 rows allowed cost accuracy."""
    assert best_of({0: verdict(50, n=199), 1: verdict(0, loss=0.1, n=199)}, 0) == 0
    assert best_of({0: verdict(50, n=200), 1: verdict(0, loss=0.1, n=200)}, 0) == 1


def test_a_lower_log_loss_is_enough_if_there_are_no_more_errors():
    default = verdict(100)
    noisy = Verdict(default.missed, default.losses - 0.01 + np.sin(np.arange(1000.0)))
    assert best_of({0: default, 1: verdict(100, loss=0.4)}, 0) == 1
    assert best_of({0: default, 1: verdict(101, loss=0.4)}, 0) == 0
    assert best_of({0: default, 1: noisy}, 0) == 0


def test_without_a_default_the_least_error_wins_then_the_least_log_loss():
    assert best_of({0: verdict(100), 1: verdict(80), 2: verdict(90)}, None) == 1
    assert best_of({0: verdict(100), 1: verdict(80), 2: verdict(81, loss=0.4, first=9)}, None) == 2
    assert best_of({0: verdict(100), 1: verdict(80), 2: verdict(90, loss=0.4)}, None) == 1
    assert best_of({0: verdict(80), 1: verdict(80)}, None) == 0
    assert best_of({1: verdict(90), 2: verdict(80)}, 0) == 2  # the default has failed


def test_rules_without_probabilities_are_compared_by_error():
    first_order = Verdict(verdict(80).missed, np.full(1000, np.nan))
    assert best_of({0: first_order, 1: verdict(81)}, None) == 0
    assert best_of({0: verdict(80), 1: first_order}, None) == 0
    assert best_of({0: verdict(100), 1: first_order}, 0) == 1
    assert best_of({0: first_order, 1: verdict(80)}, 0) == 0
