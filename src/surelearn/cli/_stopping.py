"""What ends a command from outside, Ctrl-C and SIGTERM; must not know what the command does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[None]:
    """While it lasts SIGTERM raises what Ctrl-C does, and either ends the command with the exit
    code that a shell has for it: 130 and 143."""
    received: list[int] = []

    def stop(number: int, frame: Any) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _SIGNALS if _is_heard(number)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    except BaseException as error:
        # An import that was interrupted may raise anything.
        if received or isinstance(error, KeyboardInterrupt):
            raise typer.Exit(128 + (received or [signal.SIGINT])[0]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_heard(number: int) -> bool:
    """Whether a signal can be caught here: a job in the background ignores Ctrl-C."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(number) not in (signal.SIG_IGN, None)
