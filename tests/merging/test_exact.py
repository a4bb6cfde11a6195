"""Sums of doubles: right, and the same in any order and grouping."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver import grouped
from surelearn.merging._exact import ExactSums, in_threads, slices

finite = st.floats(-(2.0**900), 2.0**900, allow_nan=False)
#: Numbers whose sums in another order differ.
awkward = finite | st.sampled_from([1e300, -1e300, 1.0, 1e-17, 5e-324, 0.1, -0.1, 2.0**40])


def summed(sums):
    total = ExactSums.zeros((1,), sums[0].n_digits)
    for one in sums:
        total.add(one)
    return total


class Added:
    """`ExactSums` with a plus, so that it can be grouped."""

    def __init__(self, sums):
        self.sums = sums

    def __add__(self, other):
        return Added(summed([self.sums, other.sums]))


@given(st.lists(awkward, min_size=1, max_size=12), st.sampled_from([2, 3]), st.data())
def test_sums_are_the_same_in_any_order_and_grouping(numbers, n_digits, data):
    terms = [ExactSums.of(np.array([x]), n_digits) for x in numbers]
    once = summed(terms)
    other = grouped(map(Added, data.draw(st.permutations(terms))), data.draw).sums
    assert other.digits.tolist() == once.digits.tolist()
    assert other.tops.tolist() == once.tops.tolist()


@given(st.lists(awkward, min_size=1, max_size=12), st.sampled_from([2, 3]))
def test_sums_are_right(numbers, n_digits):
    total = summed([ExactSums.of(np.array([x]), n_digits) for x in numbers])
    expected = sum(map(Fraction, numbers))
    lost = len(numbers) * Fraction(max(map(abs, numbers))) / 2 ** (40 * (n_digits - 1))
    got = Fraction(float(total.values()[0]))
    assert abs(got - expected) <= lost + abs(expected) / 2**52 + Fraction(5e-324)


@given(awkward, awkward, st.integers(-1000, 1000))
def test_so_many_times_a_sum_is_added_so_often(x, y, times):
    at_once, one_by_one = (ExactSums.of(np.array([x]), 3) for _ in range(2))
    term = ExactSums.of(np.array([y if times > 0 else -y]), 3)
    at_once.add(ExactSums.of(np.array([y]), 3), times=times)
    for _ in range(abs(times)):
        one_by_one.add(term)
    assert at_once.values() == one_by_one.values()


WORTH = 1 << 14


@given(st.integers(0, 20 * WORTH), st.integers(1, 16))
def test_cuts_hold_every_feature_once_and_are_worth_a_thread(n, threads):
    cuts = slices(n, threads)
    assert 1 <= len(cuts) <= threads
    ends = [0, *(cut.stop for cut in cuts)]
    assert [cut.start for cut in cuts] == ends[:-1]
    assert ends[-1] == n
    if len(cuts) > 1:
        assert min(cut.stop - cut.start for cut in cuts) >= WORTH
    assert len(cuts) == threads or n < threads * WORTH


def test_results_are_in_the_order_of_the_parts():
    both = threading.Barrier(2, timeout=60)

    def work(i):
        both.wait()  # two threads at least, or this would never end
        return i, threading.current_thread().name

    found = in_threads(work, range(6), 2)
    assert [i for i, _ in found] == list(range(6))
    assert all(name.startswith("surelearn-merge") for _, name in found)


@pytest.mark.parametrize(("n_parts", "threads"), [(5, 1), (1, 5)])
def test_one_is_done_by_the_caller(n_parts, threads):
    here = threading.get_ident()
    assert in_threads(lambda _: threading.get_ident(), range(n_parts), threads) == [here] * n_parts


def test_an_error_of_a_part_comes_out():
    with pytest.raises(ZeroDivisionError, match="by zero"):
        in_threads(lambda i: 1 // i, [1, 0, 2], 2)
