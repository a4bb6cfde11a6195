"""Work ahead of the reader: in order, errors in their turn, no more than has room."""

from __future__ import annotations

import _thread
import subprocess
import sys
import time
from pathlib import Path

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

    before = _thread._count()
    results = prefetch(items(), lambda i: i, 2)
    next(results)
    time.sleep(0.2)
    assert len(drawn) < 10
    results.close()
    deadline = time.monotonic() + 10
    while _thread._count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _thread._count() == before
    assert len(drawn) < 12


def interrupted_at(number: int) -> bool:
    """Raise Ctrl-C at one of the steps of Python code in this thread; was there such a step?"""
    left = number

    def trace(frame, event, arg):
        nonlocal left
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    results = prefetch(range(8), lambda i: i, 2)
    sys.settrace(trace)
    try:
        found = list(results)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
        results.close()
    assert found == list(range(8))
    return False


def test_ctrl_c_at_any_step_ends_it(tmp_path):
    """It left a lock of a future or a semaphore locked, for which a thread then waited for ever."""
    program = Path(__file__).read_text() + (
        "\n\nnumber = 1\nwhile interrupted_at(number):\n    number += 1\nprint(number)\n"
    )
    (tmp_path / "steps.py").write_text(program)
    command = [sys.executable, str(tmp_path / "steps.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    assert int(ended.stdout) > 100
