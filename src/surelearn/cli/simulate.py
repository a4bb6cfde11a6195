"""`surelearn simulate`: does active learning save labels? Must not know how that is simulated."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import ROWS, Files, Jobs, Json, Quiet, reads
from surelearn.cli._progress import count_bar, warnings_shown

if TYPE_CHECKING:
    from surelearn.active import Simulation, Worth

_WIDTH = 79

Labels = Annotated[int, typer.Option(min=2, help="Labels to ask for, at most the number of rows.")]
Folds = Annotated[int, typer.Option(min=2, help="Folds of the rows; each run is tested on one.")]
Runs = Annotated[
    int | None, typer.Option(min=1, help="Number of runs; one for each fold by default.")
]
Strategies = Annotated[
    str,
    typer.Option(metavar="A,B,...", help="random, margin, acl, entropy, least-confident, novel."),
]
Learners = Annotated[
    str | None,
    typer.Option(
        metavar="RULE,...",
        help="Rules such as 'arow' or 'variance(phi=3)'; by default the paper's PA and CW, and "
        "ours as it comes.",
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Passes over the labels so far; by default those of each learner. PA and CW of the "
        "paper learn each label once.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, help="Write all curves to this csv file."),
]
Picture = Annotated[
    Path | None, typer.Option(dir_okay=False, help="Draw the curves: .png, .svg or .pdf.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 2, help="Random seed for folds and orders.")]


@reads(ROWS, without=("weight",))
def simulate(
    files: Files,
    *,
    reading: dict[str, Any],
    labels: Labels = 500,
    folds: Folds = 10,
    runs: Runs = None,
    strategies: Strategies = "random,margin,acl",
    learners: Learners = None,
    passes: Passes = None,
    output: Output = None,
    picture: Picture = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Simulate active learning on labelled rows: would it save labels?

    The command hides the labels and uncovers one at a time, in random order and as each strategy
    asks. It prints how many labels each strategy needs, and whether asking is worth it.

    \b
    Examples:
      surelearn simulate labelled.jsonl
      surelearn simulate labelled.csv --text body --label topic --picture curves.png
      surelearn simulate numbers.parquet --features age,height --labels 200 --folds 5
      surelearn simulate labelled.jsonl --learners 'probit,arow(r=0.3)' -o curves.csv --json
    """
    if picture is not None:
        _options.check_drawable(picture, "--picture")
    if output is not None:
        _options.check_apart(output, files)
        _options.check_lines(output, "--output")
    from surelearn import _check, active, read

    records = read.batches(files, **reading).first(sys.maxsize)
    if records.y is None:
        raise _check.no_labels(", ".join(files))
    with warnings_shown(), count_bar("Curves", quiet=quiet) as progress:
        found = active.simulate(
            records.X,
            records.y,
            learners=_learners(learners),
            strategies=[name.strip() for name in strategies.split(",")],
            passes=passes,
            n_labels=labels,
            n_folds=folds,
            n_runs=runs,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )
    worth = _worth(found)
    _say(found, worth, records.n_bad, as_json=as_json)
    _leave(found, worth, output=output, picture=picture, quiet=as_json)


def _learners(text: str | None) -> dict[str, Any] | None:
    """One classifier for each rule, keyed by the rule as typed."""
    if text is None:
        return None
    from surelearn import SureClassifier

    # Commas inside brackets separate parameters of one rule.
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text)]
    return {name: SureClassifier(_options.rule(name, "--learners")) for name in names}


def _worth(found: Simulation) -> Worth | None:
    """Whether asking is worth it; None without 'random' and a strategy to compare it with."""
    strategies = {strategy for _, strategy in found.curves}
    return found.worth() if "random" in strategies and len(strategies) > 1 else None


def _say(found: Simulation, worth: Worth | None, n_bad: int, *, as_json: bool) -> None:
    if as_json:
        said = None if worth is None else worth.to_dict()
        _options.print_json({**found.to_dict(), "skipped": n_bad, "worth": said})
        return
    typer.echo(found.table())
    if n_bad:
        typer.echo(f"\nSkipped because they could not be parsed: {n_bad:,} rows.")
    if worth is not None:
        typer.echo(f"\n{textwrap.fill(str(worth), _WIDTH)}")


def _leave(
    found: Simulation,
    worth: Worth | None,
    *,
    output: Path | None,
    picture: Path | None,
    quiet: bool,
) -> None:
    """Write the files and say where they are."""
    written = []
    if output is not None:
        found.to_csv(output)
        written.append(f"The curves are in {output}.")
    if picture is not None:
        from surelearn.plot import LearningCurveDisplay

        title = None if worth is None else worth.headline
        LearningCurveDisplay.from_simulation(found).save(picture, title=title)
        written.append(f"The picture is in {picture}.")
    if written and not quiet:
        typer.echo("\n" + "\n".join(written))
