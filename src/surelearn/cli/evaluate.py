"""`surelearn evaluate`: scores of a model on labelled rows; must not know how they are computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import GROUPS, ROWS, Files, Jobs, Json, Model, Quiet, reads
from surelearn.cli._progress import progress_bar, warnings_shown

if TYPE_CHECKING:
    from surelearn.evaluation import Evaluation


@reads(ROWS | GROUPS, without=("weight",))
def evaluate(
    model: Model,
    files: Files,
    *,
    against: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A second model to compare with on the same rows."),
    ] = None,
    reading: dict[str, Any],
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
    risk: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Also print which share of the rows, surest first, is answered with so many "
            "mistakes; by default the risk that the model has promised.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Draw the confusion matrix: .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Evaluate a model on labelled rows, or compare two models.

    Prints accuracy, scores of each label, log loss, calibration and the confusion matrix. With
    --against it also prints McNemar's test: is one model better by more than chance?

    The area under the risk-coverage curve is small if mistakes are among the least sure answers;
    with --against, its difference has a standard error. For a model that has promised a risk, it
    prints the share of rows that is answered and the risk among them; for one that gives sets of
    labels, their coverage and size.

    For rows with many labels, prints micro and macro F1, the share of rows with exactly the right
    labels, Hamming loss and the scores of the most frequent labels.

    For a ranker, prints NDCG@10, mean average precision, the share of groups whose first candidate
    is right and the mean reciprocal rank, with standard errors.

    \b
    Examples:
      surelearn evaluate reviews.sure test.jsonl
      surelearn evaluate new.sure test.parquet --against old.sure
      surelearn evaluate reviews.sure test.jsonl --risk 0.05
      surelearn evaluate reviews.sure test.jsonl --picture confusion.png
      zcat log.jsonl.gz | surelearn evaluate reviews.sure - --label topic --json
    """
    if picture is not None:
        _options.check_drawable(picture, "--picture")
    import surelearn

    judged = _options.model_in(model, jobs=jobs)
    _options.check_takes(judged, reading, against=against, picture=picture)
    if picture is not None:
        _check_classes(judged)
    rival = None if against is None else _options.model_in(against, jobs=jobs)
    with warnings_shown(), progress_bar("Evaluating", quiet=quiet) as progress:
        found: Any = surelearn.evaluate(
            judged, files, rival=rival, risk=risk, progress=progress, **reading
        )
    if against is not None and found.comparison is not None:
        names = str(model), str(against)
        found = replace(found, comparison=replace(found.comparison, names=names))
    _options.say(found.to_dict(), str(found), as_json=as_json)
    if picture is not None:
        _draw(found, picture, quiet=as_json)


def _check_classes(model: Any) -> None:
    from surelearn.learners.answers.judgement import many_labels

    if many_labels(model):
        raise typer.BadParameter(
            "picture needs a model of one label a row, which has a confusion matrix, got many "
            "labels.",
            param_hint="--picture",
        )


def _draw(found: Evaluation, picture: Path, *, quiet: bool) -> None:
    from surelearn.plot import ConfusionDisplay

    ConfusionDisplay.from_evaluation(found).save(picture)
    if not quiet:
        typer.echo(f"\nThe picture is in {picture}.")
