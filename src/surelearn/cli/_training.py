"""What `train` and `tag train` share: options, the run, Ctrl-C and the report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from surelearn.cli import _options
from surelearn.cli._options import Jobs, Json, Quiet
from surelearn.cli._progress import progress_bar, share, warnings_shown

if TYPE_CHECKING:
    from surelearn.learners import StreamProgress
    from surelearn.learners.task import Task
    from surelearn.training.checkpoint import Claim

#: The report names at most this many columns.
_MOST = 10

#: The report lists at most this many passes from the start, and as many from the end.
_ENDS = 5

ModelOutput = Annotated[
    Path, typer.Option("--output", "-o", dir_okay=False, help="Where to write the model.")
]
Passes = Annotated[
    int | None,
    typer.Option(min=1, help="Passes over the data; 10 by default, 1 for standard input."),
]
Rule = Annotated[
    str | None,
    typer.Option(help="Update rule, such as arow, 'arow(r=0.3)' or 'variance(phi=3)'."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue training the model in --output, if it exists.")
]
CheckpointEvery = Annotated[
    str, typer.Option(metavar="TIME|ROWS", help="How often to write the model while training.")
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 2, help="Random seed for the row order of later passes.")
]


class Run(NamedTuple):
    """The options of every training run, in the order of the help."""

    resume: Resume = False
    checkpoint_every: CheckpointEvery = "60s"
    jobs: Jobs = -1
    seed: Seed = 0
    quiet: Quiet = False
    as_json: Json = False


@contextmanager
def writing(output: Path, files: list[str]) -> Iterator[Claim]:
    """Check before the work that the model can be written, and lock its file."""
    _options.check_apart(output, files)
    _options.check_model(output, "--output")
    from surelearn.training.checkpoint import claimed

    with claimed(output) as checkpoint:
        yield checkpoint


def learn(
    model: Any, files: list[str], output: Claim, *, quiet: bool, every: str, **more: Any
) -> int:
    """Train on files and return the number of rows learnt in all passes.

    Ctrl-C, or the SIGTERM of a service manager, saves the model as it is then.
    """
    try:
        with warnings_shown(), progress_bar(quiet=quiet) as shown:
            counted = _Counted(shown)
            interval = int(every) if every.isdigit() else every
            model.fit_stream(
                files, checkpoint=output, checkpoint_every=interval, progress=counted, **more
            )
        return counted.learnt
    except KeyboardInterrupt:
        said = "interrupted before anything was learnt."
        if hasattr(model, "stream_"):
            said = (
                f"interrupted after {model.stream_.rows:,} rows of pass {model.stream_.number}. "
                f"The model so far is in {os.fspath(output)}; --resume continues."
            )
        typer.echo(f"surelearn: {said}", err=True)
        raise


def check_resumed(model: Any, asked: Mapping[str, Any], output: Path) -> None:
    """Refuse a rule other than the one the model in `output` has learnt by."""
    from surelearn import rules

    if "rule" in asked and rules.get(asked["rule"]) != rules.get(model.rule):
        raise typer.BadParameter(
            f"rule must be {rules.get(model.rule)}, which {output} has learnt by, to resume, got "
            f"{rules.get(asked['rule'])}. Train a new model to change it.",
            param_hint="--rule",
        )


class _Counted:
    """Counts the rows learnt and passes each report on."""

    def __init__(self, shown: Callable[[StreamProgress], None] | None) -> None:
        self.learnt = 0
        self._shown = shown

    def __call__(self, now: StreamProgress) -> None:
        self.learnt = now.learnt
        if self._shown is not None:
            self._shown(now)


# --------------------------------------------------------------------- reports


def report(model: Any, output: Path, learnt: int, begin: float) -> dict[str, Any]:
    """The report of a run that began at `begin` of `time.monotonic`, as JSON has it."""
    position = model.stream_
    mistakes = model.mistakes_[-position.number :].tolist()
    return {
        **written(model, output),
        "passes": position.number,
        "mistakes": mistakes if learnt else [],  # a run that learnt nothing shows no older counts
        "learnt": learnt,
        "updates": model.n_updates_,
        "seconds": round(time.monotonic() - begin, 3),
    }


def written(model: Any, output: Path) -> dict[str, Any]:
    """The model's file, and what it was trained on."""
    return {
        "model": str(output),
        "bytes": os.path.getsize(output),
        f"{model.task.unit}s": model.stream_.rows,
        "skipped": model.stream_.n_bad,
        **({"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {}),
    }


def in_words(
    report: dict[str, Any], files: list[str], task: Task, labels: str | None = None
) -> str:
    """The report as a few lines of text."""
    source, what = "standard input" if files == ["-"] else ", ".join(files), f"{task.unit}s"
    lines = (
        _words_on_passes(report, source, task, labels or task.labels) if report["learnt"] else []
    )
    lines = lines or [f"No new {what} in {source}: the model is unchanged."]
    if report.get("features"):
        lines.append(_columns(report["features"], report.get("ignored", [])))
    if report["skipped"]:
        lines.append(f"Skipped because they could not be parsed: {report['skipped']:,} {what}.")
    if report.get("equal"):
        equal = f"{report['equal']:,} {what}"
        lines.append(f"Not learnt because all candidates are equally good: {equal}.")
    lines.append(f"The model is in {report['model']} ({_options.size(report['bytes'])}).")
    return "\n".join(lines)


def _words_on_passes(report: dict[str, Any], source: str, task: Task, labels: str) -> list[str]:
    passes = "one pass" if report["passes"] == 1 else f"{report['passes']} passes"
    taken = f" ({report['seconds']:.1f} s)" if sys.stdout.isatty() else ""
    n = report[f"{task.unit}s"]
    rows = f"{n:,} {task.unit}s"
    if "classes" in report:
        rows += f" of {len(report['classes'])} {labels}"
    return [
        f"Learnt {rows} from {source} in {passes}{taken}.",
        *_errors(report["mistakes"], n - report.get("equal", 0), task.wrong),
    ]


def _columns(features: list[str], ignored: list[str]) -> str:
    """Which columns the model uses, and which it does not."""
    unused = f" Not read: {_list_columns(ignored)}." if ignored else ""
    return f"Features: {_list_columns(features)}.{unused}"


def _list_columns(columns: list[str]) -> str:
    more = len(columns) - _MOST
    named = ", ".join(columns[:_MOST])
    return f"{named} and {more} more" if more > 0 else named


def _errors(mistakes: list[int], rows: int, counted: str) -> list[str]:
    """The error of each pass; only the first has not seen its rows before."""
    first, *later = [share(wrong, rows) for wrong in mistakes]
    said = [f"Progressive validation error: {first}{counted}."]
    if later:
        passes = "pass 2" if len(later) == 1 else f"passes 2 to {len(mistakes)}"
        if len(later) > 2 * _ENDS:
            later[_ENDS:-_ENDS] = ["..."]
        said.append(f"Training error in {passes}: {', '.join(later)}.")
    return said
