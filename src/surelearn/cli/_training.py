"""What commands that learn share: the run, Ctrl-C, and what is said of it in the end."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._progress import progress_bar, share, warnings_shown

#: What a shell says of a process that Ctrl-C has ended.
_INTERRUPTED = 128 + 2

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
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Threads that read; never changes the result.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 2, help="Decides the order of later passes.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def check_output(output: Path, files: list[str]) -> None:
    """Refuse before the work what could not be written after it."""
    _options.check_folder(output, "--output")
    _options.check_apart(output, files)


def learn(
    model: Any, files: list[str], output: Path, *, quiet: bool, every: str, **more: Any
) -> None:
    """Learn from files; Ctrl-C, or the SIGTERM of a service manager, leaves what was learnt."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with warnings_shown(), progress_bar(quiet=quiet) as progress:
            model.fit_stream(
                files, checkpoint=output, checkpoint_every=_every(every), progress=progress, **more
            )
    except KeyboardInterrupt:
        _say_interrupted(model, output)
        raise typer.Exit(_INTERRUPTED) from None


def _every(text: str) -> int | str:
    return int(text) if text.isdigit() else text


# --------------------------------------------------------------------- what is said


def _say_interrupted(model: Any, output: Path) -> None:
    if not hasattr(model, "stream_"):
        typer.echo("surelearn: interrupted before anything was learnt.", err=True)
        return
    rows = model.stream_.rows
    typer.echo(
        f"surelearn: interrupted after {rows:,} rows of pass {model.stream_.number}. "
        f"{output} has what was learnt; --resume goes on with it.",
        err=True,
    )


def report(model: Any, output: Path, begin: float, what: str = "rows") -> dict[str, Any]:
    """How it went, with the clock of `time.monotonic` at the begin."""
    position = model.stream_
    return {
        "model": str(output),
        "bytes": os.path.getsize(output),
        what: position.rows,
        "skipped": position.n_bad,
        "classes": model.classes_.tolist(),
        "passes": position.number,
        "mistakes": model.mistakes_[-position.number :].tolist(),
        "updates": model.n_updates_,
        "seconds": round(time.monotonic() - begin, 3),
    }


def in_words(
    report: dict[str, Any], files: list[str], what: str = "rows", classes: str = "classes"
) -> str:
    """The report as a few lines."""
    source = "standard input" if files == ["-"] else ", ".join(files)
    passes = "one pass" if report["passes"] == 1 else f"{report['passes']} passes"
    rows = report[what]
    taken = f" ({report['seconds']:.1f} s)" if sys.stdout.isatty() else ""
    lines = [
        f"Learnt {rows:,} {what} of {len(report['classes'])} {classes} from {source} in {passes}"
        f"{taken}.",
        "Wrong before it was learnt: "
        + ", ".join(share(wrong, rows) for wrong in report["mistakes"][-10:])
        + ("." if len(report["mistakes"]) == 1 else " (pass after pass)."),
    ]
    if report["skipped"]:
        lines.append(f"Left out because they could not be read: {report['skipped']:,} {what}.")
    lines.append(f"The model is in {report['model']} ({_options.size(report['bytes'])}).")
    return "\n".join(lines)
