"""Progress bars and warnings; must not know what the work is."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from surelearn.learners import StreamProgress


@contextmanager
def progress_bar(
    name: str | None = None, *, quiet: bool, judges: bool = True
) -> Iterator[Callable[[StreamProgress], None] | None]:
    """A bar for work that reads a source, as a callback; None outside a terminal.

    The bar shows `name`, or the number of the pass without one. With `judges` it also shows the
    error so far.
    """
    console = _terminal(quiet)
    if console is None:
        yield None
        return
    with _bar(console) as progress:
        yield _Shown(progress, name, judges=judges)


@contextmanager
def count_bar(name: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar for work in many parts, as a callback of (done, total); None outside a terminal."""
    console = _terminal(quiet)
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn(name), BarColumn(bar_width=20), MofNCompleteColumn(), TimeLeft())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def solver_line(*, quiet: bool) -> Iterator[Callable[[object], None] | None]:
    """A line that shows how far a solver is, as a callback; None outside a terminal."""
    console = _terminal(quiet)
    if console is None:
        yield None
        return
    from rich.progress import Progress, TextColumn

    with Progress(TextColumn("{task.description}"), console=console, transient=True) as progress:
        task = progress.add_task("Reading")
        yield lambda now: progress.update(task, description=str(now).capitalize())


@contextmanager
def warnings_shown() -> Iterator[None]:
    """Print each warning at once, as one line: a stream may never end. The same one only once."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said = f"surelearn: {message}"
        if said not in shown:
            shown.add(said)
            # print, not typer.echo: rich moves its bar out of the way of print only.
            print(said, file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _terminal(quiet: bool) -> Console | None:
    """The terminal of standard error; None if it is none, or if nothing shall be shown."""
    # FORCE_COLOR counts as a terminal, as rich has it; without either, rich is not imported.
    if quiet or not (sys.stderr.isatty() or os.environ.get("FORCE_COLOR")):
        return None
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal else None


def _bar(console: Any) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[speed]}"),
        TextColumn("{task.fields[mistakes]}"),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
    )


class _Shown:
    """Shows one task in the bar for each pass."""

    def __init__(self, progress: Progress, name: str | None = None, *, judges: bool = True) -> None:
        self._progress = progress
        self._name = name
        self._judges = judges
        self._task: Any = None
        self._number = 0
        self._begin = 0.0
        self._from = 0, 0

    def __call__(self, now: StreamProgress) -> None:
        if now.number != self._number:
            self._start(now)
        seconds = max(time.monotonic() - self._begin, 1e-3)
        rows, n_bytes = now.rows - self._from[0], now.n_bytes - self._from[1]
        self._progress.update(
            self._task,
            completed=now.n_bytes,
            speed=f"{rows / seconds:,.0f} rows/s {n_bytes / 1e6 / seconds:,.0f} MB/s",
            mistakes=f"{share(now.mistakes, now.rows)} wrong" if self._judges else "",
        )

    def _start(self, now: StreamProgress) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        name = self._name or f"Pass {now.number}/{now.passes}"
        self._task = self._progress.add_task(name, total=now.total, speed="", mistakes="")
        self._number, self._begin = now.number, time.monotonic()
        # Rows of the first report were read before the clock started: they would make the speed
        # too high.
        self._from = now.rows, now.n_bytes


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{100 * part / max(whole, 1):.1f} %"
