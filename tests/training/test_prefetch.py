"""Work ahead of the reader: in order, errors in their turn, no more than has room."""

from __future__ import annotations

import _thread
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from threading import Event, get_ident

import pytest

from surelearn.training import prefetch as prefetching
from surelearn.training.prefetch import prefetch

HELPS = pytest.mark.parametrize("helps", [False, True])


@HELPS
@pytest.mark.parametrize("threads", [1, 4])
def test_results_come_in_order_and_errors_in_their_turn(threads, helps):
    def work(i):
        time.sleep(0.002 * (i % 3))
        if i == 30:
            raise ValueError("thirty")
        return i

    found = []
    with pytest.raises(ValueError, match="thirty"):
        found.extend(prefetch(range(100), work, threads, helps=helps))
    assert found == list(range(30))


def test_a_caller_that_helps_is_one_of_the_threads():
    """It works where nobody else does, and its own work is as much in order as that of others."""

    def who(i):
        time.sleep(0.005)
        return i, get_ident()

    alone = list(prefetch(range(20), who, 1, helps=True))
    assert alone == [(i, get_ident()) for i in range(20)]
    shared = list(prefetch(range(60), who, 2, helps=True))
    assert [i for i, _ in shared] == list(range(60))
    assert len({thread for _, thread in shared}) == 2
    assert get_ident() in {thread for _, thread in shared}
    others = {thread for _, thread in prefetch(range(60), who, 2)}
    assert get_ident() not in others


def test_an_interrupt_of_a_caller_that_helps_is_raised_at_once():
    """It is no result of the item at hand, and does not wait for the items before it."""
    caller, waits, interrupted, found, found_then = get_ident(), Event(), Event(), [], []

    def work(i):
        if get_ident() != caller:
            waits.set()
            interrupted.wait(30)
        elif waits.is_set():
            found_then.extend(found)
            interrupted.set()
            raise KeyboardInterrupt
        return i

    results = prefetch(range(10_000), work, 2, helps=True)
    with pytest.raises(KeyboardInterrupt):
        deque(map(found.append, results), 0)
    assert found == found_then


@HELPS
def test_no_more_is_drawn_than_has_room(helps):
    drawn = []

    def items():
        for i in range(1000):
            drawn.append(i)
            yield i

    before = _thread._count()
    results = prefetch(items(), lambda i: i, 2, helps=helps)
    next(results)
    time.sleep(0.2)
    assert len(drawn) < 10
    results.close()
    deadline = time.monotonic() + 10
    while _thread._count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _thread._count() == before
    assert len(drawn) < 12


def interrupted_at(number: int, *, helps: bool) -> bool:
    """Raise Ctrl-C at one of the steps of Python code in this thread; was there such a step?"""
    left = number

    def trace(frame, event, arg):
        nonlocal left
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    results = prefetch(range(8), lambda i: i, 2, helps=helps)
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


@HELPS
def test_ctrl_c_at_any_step_ends_it(tmp_path, helps):
    """It left a lock of a future or a semaphore locked, for which a thread then waited for ever."""
    program = Path(__file__).read_text() + (
        f"\n\nnumber = 1\nwhile interrupted_at(number, helps={helps}):\n    number += 1\n"
        "print(number)\n"
    )
    (tmp_path / "steps.py").write_text(program)
    command = [sys.executable, str(tmp_path / "steps.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    assert int(ended.stdout) > 100


@HELPS
@pytest.mark.parametrize("n_left", [0, 1, 2])
def test_without_threads_the_caller_does_the_work(monkeypatch, helps, n_left):
    left, start = iter(range(n_left)), prefetching.start_new_thread

    def start_new_thread(*args):
        if next(left, None) is None:
            raise RuntimeError("can't start new thread")
        return start(*args)

    monkeypatch.setattr(prefetching, "start_new_thread", start_new_thread)
    found = list(prefetch(range(50), lambda i: (i, get_ident()), 3, helps=helps))
    assert [i for i, _ in found] == list(range(50))
    if n_left < 2:  # none but the one that draws
        assert {thread for _, thread in found} == {get_ident()}


@HELPS
def test_a_thread_without_memory_for_its_error_ends_the_wait(monkeypatch, helps):
    caller, real = get_ident(), prefetching._tried

    def tried(*args):
        if get_ident() != caller:
            raise MemoryError
        return real(*args)

    monkeypatch.setattr(prefetching, "_tried", tried)
    with pytest.raises(MemoryError, match="a thread that works ahead must have memory"):
        list(prefetch(range(50), lambda i: time.sleep(0.01), 3, helps=helps))
