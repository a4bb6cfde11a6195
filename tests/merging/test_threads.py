"""Sums in parts: every part once and in order, in as many threads as are worth it."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn.merging._threads import in_threads, slices

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
