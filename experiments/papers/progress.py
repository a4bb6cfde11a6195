"""Progress and warnings on the terminal; must not know what the work is."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

#: Moves to the start of the line and clears it.
_CLEAR = "\r\x1b[K"
_WIDTH = 20


@contextmanager
def counted(name: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar for work in many parts, as a callback of (done, total); None outside a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    begin = time.monotonic()

    def show(done: int, total: int) -> None:
        left = (time.monotonic() - begin) / done * (total - done)
        bar = "#" * (_WIDTH * done // total)
        _write(f"{name} {bar:-<{_WIDTH}} {done}/{total} {timedelta(seconds=round(left))}")

    _write(f"{name} {'-' * _WIDTH}")
    try:
        yield show
    finally:
        _write("")


def _write(text: str) -> None:
    print(_CLEAR + text, end="", file=sys.stderr, flush=True)


@contextmanager
def warnings_shown() -> Iterator[None]:
    """Print each warning at once, as one line: a run takes hours. The same one only once."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said = f"papers: {message}"
        if said not in shown:
            shown.add(said)
            print((_CLEAR if sys.stderr.isatty() else "") + said, file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
