"""`surelearn predict`: one line of JSON for each row; must not know how labels are predicted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from surelearn.cli import _options
from surelearn.cli._decisions import Decisions
from surelearn.cli._options import GROUPS, ROWS, Files, Jobs, Model, Quiet, reads, takes
from surelearn.cli._output import Output, is_shown, opened
from surelearn.cli._progress import progress_bar, warnings_shown

T = TypeVar("T")


@takes("decisions", Decisions)
@reads(ROWS | GROUPS, without=("label", "weight", "label_type", "label_separator"))
def predict(
    model: Model,
    files: Files,
    *,
    reading: dict[str, Any],
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Copy this column to the output; may be repeated."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Print the probabilities of all labels or candidates.")
    ] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Rankers: print the order and the scores of all candidates."),
    ] = False,
    decisions: Decisions,
    output: Output = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Predict the label of every row; print one line of JSON a row.

    A line has the label, its probability and its sureness: the margin between the two best labels,
    in standard deviations. Models of first-order rules give the label only. Kept columns come
    first. A kept column named like a key of the output gets a prefix: 'label' becomes 'kept_label'.

    A model of rows with many labels gives their list and the probability of each of them; the
    sureness is that of the least sure label. --proba prints the probabilities of all labels.

    A ranker gives one line a group: the position of its best candidate, from 0, and the probability
    that it is the best.

    With --risk, --cost or --novel a line also says whether the row is answered, and why not:
    'unsure', 'novel', or 'cost' where no answer is the cheapest; its label is then null. --set adds
    a list of labels. --risk, --novel and --set need
    rows that were kept back, as by train --risk. --risk does not decide by the sureness shown.

    \b
    Examples:
      surelearn predict reviews.sure new.jsonl
      surelearn predict reviews.sure new.csv --keep id --output labels.jsonl
      tail -f log.jsonl | surelearn predict reviews.sure -
      surelearn predict reviews.sure new.jsonl --risk 0.05 --set 0.95
      surelearn predict clicks.sure new.svm --all
    """
    import surelearn
    from surelearn.learners.task import Shown

    _check_keys(keep or [])
    if output is not None:
        _options.check_apart(output, [str(model), *files])
        _options.check_lines(output, "--output")
    loaded = _options.model_in(model, jobs=jobs)
    _options.check_takes(
        loaded, reading, keep=keep, all=everything, cost=decisions.cost, novel=decisions.novel
    )
    if proba:
        _check_proba(loaded, model)
    how: dict[str, Any] = decisions.keywords(loaded, model)
    how |= {"keep": keep} if keep else {}
    n_bad = 0
    with warnings_shown(), prediction_bar(output, quiet=quiet) as progress:
        found: Any = surelearn.predict(loaded, files, progress=progress, **how, **reading)
        batches = begun(found)
        write = loaded.task.lines(loaded, Shown(proba, everything))
        with closing(found), opened(output) as out:  # threads that work ahead end with it
            for batch in batches:
                out.write(write(batch).encode("utf-8", "backslashreplace"))
                n_bad += batch.n_bad
    if n_bad:
        unit = loaded.task.unit
        were = f"{unit} was" if n_bad == 1 else f"{unit}s were"
        typer.echo(f"surelearn: {n_bad:,} bad {were} skipped.", err=True)


def prediction_bar(output: Path | None, *, quiet: bool) -> AbstractContextManager[Any]:
    """A progress bar, unless the predictions go to the same terminal."""
    return progress_bar("Predicting", quiet=quiet or is_shown(output), judges=False)


def begun(batches: Iterator[T]) -> Iterator[T]:
    """The same batches, with the first one computed now.

    An error in it is raised before `opened` empties an old output file.
    """
    first = list(islice(batches, 1))
    return chain(first, batches)


def _check_keys(keep: list[str]) -> None:
    """Refuse kept columns that would share a key."""
    from surelearn.learners.answers.lines import kept_key

    keys = [kept_key(column) for column in keep]
    for key in keys:
        if keys.count(key) > 1:
            named = ", ".join(repr(column) for column in keep if kept_key(column) == key)
            raise typer.BadParameter(
                f"keep must name columns that differ, got {named}, all of which become {key!r}.",
                param_hint="--keep",
            )


def _check_proba(loaded: Any, path: Path) -> None:
    from surelearn.learners.answers.judgement import why_unsure

    if why := why_unsure(loaded):
        raise ValueError(f"--proba needs a model with probabilities, got {path}: {why}.")
