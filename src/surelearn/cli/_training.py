"""What commands that learn share: the run, Ctrl-C, and what is said of it in the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._progress import progress_bar, share, warnings_shown

if TYPE_CHECKING:
    from surelearn.estimators import StreamProgress
    from surelearn.training.claim import Claim

#: Of many columns so many are told.
_MOST = 10

#: Of many passes so many are told from the begin, and as many from the end.
_ENDS = 5

Output = Annotated[
    Path, typer.Option("--output", "-o", dir_okay=False, help="Where the model is written.")
]
Passes = Annotated[
    int | None,
    typer.Option(min=1, help="Passes over the files: 10, and 1 over standard input."),
]
Rule = Annotated[
    str | None,
    typer.Option(help="How to learn, such as arow, 'arow(r=0.3)' or 'variance(phi=3)'."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the model in --output, if it is there.")
]
CheckpointEvery = Annotated[
    str, typer.Option(metavar="TIME|RECORDS", help="How often the model is written meanwhile.")
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Threads that read; never changes the result.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 2, help="Decides the order of later passes.")]


@contextmanager
def writing(output: Path, files: list[str]) -> Iterator[Claim]:
    """Refuse before the work what could not be written after it, or what another command writes."""
    _options.check_apart(output, files)
    _options.check_model(output, "--output")
    from surelearn.training.claim import claimed

    with claimed(output) as checkpoint:
        yield checkpoint


def learn(
    model: Any, files: list[str], output: Claim, *, quiet: bool, every: str, **more: Any
) -> int:
    """Learn from files; Ctrl-C, or the SIGTERM of a service manager, leaves what was learnt.

    Gives how many rows were learnt, in all passes.
    """
    try:
        with warnings_shown(), progress_bar(quiet=quiet) as shown:
            counted = _Counted(shown)
            model.fit_stream(
                files, checkpoint=output, checkpoint_every=_every(every), progress=counted, **more
            )
        return counted.learnt
    except KeyboardInterrupt:
        _say_interrupted(model, output)
        raise


class _Counted:
    """Notes how many rows were learnt, and passes on what is reported."""

    def __init__(self, shown: Callable[[StreamProgress], None] | None) -> None:
        self.learnt = 0
        self._shown = shown

    def __call__(self, now: StreamProgress) -> None:
        self.learnt = now.learnt
        if self._shown is not None:
            self._shown(now)


def _every(text: str) -> int | str:
    return int(text) if text.isdigit() else text


# --------------------------------------------------------------------- what is said


def _say_interrupted(model: Any, output: Claim) -> None:
    if not hasattr(model, "stream_"):
        typer.echo("surelearn: interrupted before anything was learnt.", err=True)
        return
    rows = model.stream_.rows
    typer.echo(
        f"surelearn: interrupted after {rows:,} rows of pass {model.stream_.number}. "
        f"{os.fspath(output)} has what was learnt; --resume goes on with it.",
        err=True,
    )


def report(
    model: Any, output: Path, learnt: int, begin: float, *, what: str = "rows"
) -> dict[str, Any]:
    """How it went, with the clock of `time.monotonic` at the begin."""
    position = model.stream_
    mistakes = model.mistakes_[-position.number :].tolist()
    return {
        "model": str(output),
        "bytes": os.path.getsize(output),
        what: position.rows,
        "skipped": position.n_bad,
        "classes": model.classes_.tolist(),
        "passes": position.number,
        "mistakes": mistakes if learnt else [],  # those of before are no part of this run
        "learnt": learnt,
        "updates": model.n_updates_,
        "seconds": round(time.monotonic() - begin, 3),
    }


def in_words(
    report: dict[str, Any], files: list[str], what: str = "rows", classes: str = "classes"
) -> str:
    """The report as a few lines."""
    source = "standard input" if files == ["-"] else ", ".join(files)
    lines = _learnt(report, source, what, classes) if report["learnt"] else []
    lines = lines or [f"Nothing was new in {source}: the model is as it was."]
    if report.get("features"):
        lines.append(_columns(report["features"], report.get("ignored", [])))
    if report["skipped"]:
        lines.append(f"Left out because they could not be read: {report['skipped']:,} {what}.")
    lines.append(f"The model is in {report['model']} ({_options.size(report['bytes'])}).")
    return "\n".join(lines)


def _learnt(report: dict[str, Any], source: str, what: str, classes: str) -> list[str]:
    passes = "one pass" if report["passes"] == 1 else f"{report['passes']} passes"
    taken = f" ({report['seconds']:.1f} s)" if sys.stdout.isatty() else ""
    rows = f"{report[what]:,} {what} of {len(report['classes'])} {classes}"
    return [
        f"Learnt {rows} from {source} in {passes}{taken}.",
        f"Progressive validation error: {_errors(report['mistakes'], report[what])}.",
    ]


def _columns(features: list[str], ignored: list[str]) -> str:
    """Which columns were learnt, and which were not."""
    besides = f" Not read: {_named(ignored)}." if ignored else ""
    return f"Features: {_named(features)}.{besides}"


def _named(columns: list[str]) -> str:
    more = len(columns) - _MOST
    named = ", ".join(columns[:_MOST])
    return f"{named} and {more} more" if more > 0 else named


def _errors(mistakes: list[int], rows: int) -> str:
    """The share of mistakes in each pass, or in the first and the last ones of many."""
    shares = [share(wrong, rows) for wrong in mistakes]
    if len(shares) == 1:
        return shares[0]
    if len(shares) <= 2 * _ENDS:
        return f"{', '.join(shares)} (pass after pass)"
    ends = ", ".join([*shares[:_ENDS], "...", *shares[-_ENDS:]])
    return f"{ends} (the first and the last {_ENDS} of {len(shares)} passes)"
