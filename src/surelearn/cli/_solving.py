"""Training by a solver: its progress, Ctrl-C and the report; must not know the kind of model."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from surelearn.cli import _options
from surelearn.cli._progress import solver_line, warnings_shown
from surelearn.cli._training import written

if TYPE_CHECKING:
    from surelearn.learners.task import Task
    from surelearn.training.claim import Claim


def solve(model: Any, files: list[str], output: Claim, *, quiet: bool, **reading: Any) -> None:
    """Fit a model to files and write it; Ctrl-C writes the best that was found so far."""
    from surelearn.solvers import Interrupted

    try:
        with warnings_shown(), solver_line(quiet=quiet) as shown:
            model.fit_stream(files, progress=shown, **reading)
    except Interrupted:
        model.save(output)
        typer.echo(
            f"surelearn: interrupted after {_iterations(model.n_iter_)} at an objective of "
            f"{model.objective_:,.6g}. The best model so far is in {os.fspath(output)}.",
            err=True,
        )
        raise
    except KeyboardInterrupt:
        typer.echo("surelearn: interrupted before anything was learnt.", err=True)
        raise
    model.save(output)


def report(model: Any, output: Path, begin: float) -> dict[str, Any]:
    """The report of a run that began at `begin` of `time.monotonic`, as JSON has it."""
    return {
        **written(model, output),
        "iterations": model.n_iter_,
        "objective": model.objective_,
        "gap": model.gap_,
        "seconds": round(time.monotonic() - begin, 3),
    }


def in_words(report: dict[str, Any], files: list[str], task: Task) -> str:
    """The report as a few lines of text."""
    what = f"{task.unit}s"
    source = "standard input" if files == ["-"] else ", ".join(files)
    taken = f" ({report['seconds']:.1f} s)" if sys.stdout.isatty() else ""
    rows = f"{report[what]:,} {what} of {len(report['classes'])} {task.labels}"
    lines = [f"Learnt {rows} from {source} in {_iterations(report['iterations'])}{taken}."]
    gap = report["gap"]
    near = "" if gap is None else f", at most {gap:.2g} above the least"
    lines.append(f"Objective: {report['objective']:,.6g}{near}.")
    if report["skipped"]:
        lines.append(f"Skipped because they could not be parsed: {report['skipped']:,} {what}.")
    lines.append(f"The model is in {report['model']} ({_options.size(report['bytes'])}).")
    return "\n".join(lines)


def _iterations(n: int) -> str:
    return "one iteration" if n == 1 else f"{n:,} iterations"
