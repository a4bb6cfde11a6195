"""Work ahead of the reader: in order, errors in their turn, no more than has room."""

from __future__ import annotations

import threading
import time

import pytest

from surelearn.training.prefetch import prefetch


def test_results_come_in_order_and_errors_in_their_turn():
    def work(i):
        time.sleep(0.002 * (i % 3))
        if i == 30:
            raise ValueError("thirty")
        return i

    found = []
    with pytest.raises(ValueError, match="thirty"):
        found.extend(prefetch(range(100), work, 4))
    assert found == list(range(30))


def test_no_more_is_drawn_than_has_room():
    drawn = []

    def items():
        for i in range(1000):
            drawn.append(i)
            yield i

    results = prefetch(items(), lambda i: i, 2)
    next(results)
    time.sleep(0.2)
    assert len(drawn) < 10
    results.close()
    for thread in threading.enumerate():
        if thread.name.startswith("surelearn"):
            thread.join(timeout=10)
            assert not thread.is_alive()
    assert len(drawn) < 12
