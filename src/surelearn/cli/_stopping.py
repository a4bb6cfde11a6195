"""Stopping a command by Ctrl-C or SIGTERM; must not know what the command does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds after which a signal is raised again: a destructor may have swallowed the exception.
_AGAIN = 2.0


@contextmanager
def stoppable() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt, as Ctrl-C does.

    The command then exits with the usual codes of a shell: 130 for Ctrl-C and 143 for SIGTERM.
    """
    received: list[int] = []

    def stop(number: int, frame: Any) -> None:
        received.append(number)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        raise KeyboardInterrupt

    def stop_again(_: int, frame: Any) -> None:
        signal.raise_signal(received[-1])  # training may have a handler of its own by now

    before = {number: signal.getsignal(number) for number in _SIGNALS if _is_heard(number)}
    for number in before:
        signal.signal(number, stop)
    if before:
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_again)
    try:
        yield
    except BaseException as error:
        # An interrupted import may raise any exception, so the signal decides, not the type.
        if received or isinstance(error, KeyboardInterrupt):
            raise typer.Exit(128 + (received or [signal.SIGINT])[0]) from None
        raise
    finally:
        if received:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_heard(number: int) -> bool:
    """Whether to catch this signal: only in the main thread, and not if the process ignores it.

    A shell starts background jobs with Ctrl-C ignored; that must stay so.
    """
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(number) not in (signal.SIG_IGN, None)
