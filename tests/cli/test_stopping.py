"""Ctrl-C and SIGTERM end a command with the exit code that a shell has for them."""

from __future__ import annotations

import signal
import threading

import pytest
import typer

from surelearn.cli._stopping import stoppable

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stopped(number, cleaned, error=KeyboardInterrupt):
    """Work that a signal interrupts; what it raises then."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        cleaned.append(number)
        raise error from None


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_interrupts_and_is_the_exit_code(number):
    cleaned = []
    with pytest.raises(typer.Exit, match=rf"^{128 + number}$"), stoppable():
        stopped(number, cleaned)
    assert cleaned == [number]


def test_what_an_interrupted_import_raises_is_no_error():
    with pytest.raises(typer.Exit, match=r"^143$"), stoppable():
        stopped(signal.SIGTERM, [], ImportError("half of a module"))


def test_an_interrupt_without_a_signal_is_that_of_ctrl_c():
    with pytest.raises(typer.Exit, match=r"^130$"), stoppable():
        raise KeyboardInterrupt


def test_other_errors_come_out_as_they_are():
    error = ValueError("ours")
    with pytest.raises(ValueError, match="ours") as caught, stoppable():
        raise error
    assert caught.value is error


def test_handlers_are_those_of_before_afterwards():
    before = [signal.getsignal(number) for number in SIGNALS]
    with stoppable():
        inside = [signal.getsignal(number) for number in SIGNALS]
    assert all(one is not other for one, other in zip(before, inside, strict=True))
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_job_in_the_background_keeps_ignoring_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_set_no_handler():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def work():
        with stoppable():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
