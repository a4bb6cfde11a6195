"""`surelearn predict`: one line of JSON for each row; must not know how labels are predicted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from surelearn.cli import _options, _ranking
from surelearn.cli._options import ROWS, Files, Model, Quiet, json_number, reads
from surelearn.cli._output import Output, is_shown, opened
from surelearn.cli._progress import progress_bar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surelearn import SureClassifier
    from surelearn.prediction import Prediction

T = TypeVar("T")

#: Keys that a line of output may have; a kept column of the same name gets a prefix.
_PREDICTED = ("label", "labels", "probability", "sureness", "probabilities")


@reads(ROWS | _ranking.GROUPS, without=("label", "weight", "label_type", "label_separator"))
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
    output: Output = None,
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

    \b
    Examples:
      surelearn predict reviews.sure new.jsonl
      surelearn predict reviews.sure new.csv --keep id --output labels.jsonl
      tail -f log.jsonl | surelearn predict reviews.sure -
      surelearn predict clicks.sure new.svm --all
    """
    _check_keys(keep or [])
    if output is not None:
        _options.check_apart(output, [str(model), *files])
        _options.check_lines(output, "--output")
    loaded = _options.row_model_in(model)
    if proba:
        _check_proba(loaded, model)
    is_ranker = _options.is_ranker(loaded)
    say = _ranking.answers if is_ranker else _answers
    n_bad = 0
    with prediction_bar(output, quiet=quiet) as progress:
        asked = _ranking.Asked(files, reading, keep, proba, everything)
        batches = begun(say(loaded, asked, progress))
        with opened(output) as out:
            for text, bad in batches:
                out.write(text.encode("utf-8", "backslashreplace"))
                n_bad += bad
    if n_bad:
        unit = "group" if is_ranker else "row"
        were = f"{unit} was" if n_bad == 1 else f"{unit}s were"
        typer.echo(f"surelearn: {n_bad:,} bad {were} skipped.", err=True)


def _answers(
    model: SureClassifier, asked: _ranking.Asked, progress: Any
) -> Iterator[tuple[str, int]]:
    """The lines of each batch, and the number of its bad rows."""
    import surelearn

    _ranking.check_classifier(asked.reading, all=asked.everything)
    lines = _Lines(model.classes_, asked.proba)
    reading = {**asked.reading, "keep": asked.keep or None, "progress": progress}
    for batch in surelearn.predict(model, asked.files, **reading):
        yield "".join(lines.of(batch)), batch.n_bad


def prediction_bar(output: Path | None, *, quiet: bool) -> AbstractContextManager[Any]:
    """A progress bar, unless the predictions go to the same terminal."""
    return progress_bar("Predicting", quiet=quiet or is_shown(output), judges=False)


def begun(batches: Iterator[T]) -> Iterator[T]:
    """The same batches, with the first one computed now.

    An error in it is raised before `opened` empties an old output file.
    """
    first = list(islice(batches, 1))
    return chain(first, batches)


class _Lines:
    """Predictions as lines of JSON; each label is turned into JSON only once."""

    def __init__(self, classes: NDArray[Any], proba: bool) -> None:
        self._spelled = {label: _json(label) for label in classes.tolist()}
        self._places = {label: place for place, label in enumerate(classes.tolist())}
        self._proba = proba

    def of(self, batch: Prediction) -> list[str]:
        parts = []
        kept = batch.kept if isinstance(batch.kept, Mapping) else {}
        for name, values in kept.items():
            key = _json(_key(name))
            parts.append([f"{key}: {_json(value)}" for value in values.tolist()])
        parts.append(self._labels(batch.label))
        for name in ("probability", "sureness"):
            values = getattr(batch, name)
            if values is not None:
                parts.append([f'"{name}": {json_number(x)}' for x in values.tolist()])
        if isinstance(batch.label, list) or self._proba:
            parts += self._probabilities(batch)
        return [f"{{{', '.join(row)}}}\n" for row in zip(*parts, strict=True)]

    def _labels(self, labels: NDArray[Any] | list[tuple[Any, ...]]) -> list[str]:
        if not isinstance(labels, list):
            return [f'"label": {self._spelled[label]}' for label in labels.tolist()]
        spelled = (", ".join(self._spelled[label] for label in own) for own in labels)
        return [f'"labels": [{own}]' for own in spelled]

    def _probabilities(self, batch: Prediction) -> list[list[str]]:
        """The probabilities of all labels, or of those that a row has."""
        if batch.probabilities is None:
            return []
        rows = batch.probabilities.tolist()
        if self._proba or not isinstance(batch.label, list):
            return [[self._of_row(row, self._spelled) for row in rows]]
        return [[self._of_row(p, own) for p, own in zip(rows, batch.label, strict=True)]]

    def _of_row(self, row: list[float], listed: Iterable[Any]) -> str:
        # Keys of JSON are strings, even if the labels are numbers.
        inner = ", ".join(
            f"{_as_key(self._spelled[label])}: {json_number(row[self._places[label]])}"
            for label in listed
        )
        return f'"probabilities": {{{inner}}}'


def _key(column: str) -> str:
    """The key of a kept column, different from the keys of the prediction."""
    return f"kept_{column}" if column in _PREDICTED else column


def _check_keys(keep: list[str]) -> None:
    """Refuse kept columns that would share a key."""
    keys = [_key(column) for column in keep]
    for key in keys:
        if keys.count(key) > 1:
            named = ", ".join(repr(column) for column in keep if _key(column) == key)
            raise typer.BadParameter(
                f"keep must name columns that differ, got {named}, all of which become {key!r}.",
                param_hint="--keep",
            )


def _check_proba(loaded: SureClassifier, path: Path) -> None:
    from surelearn.learners.answers.judgement import why_unsure

    if why := why_unsure(loaded):
        raise ValueError(f"--proba needs a model with probabilities, got {path}: {why}.")


def _json(value: Any) -> str:
    """A value as JSON: infinity and NaN become null, types that JSON lacks become strings."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_key(spelled: str) -> str:
    return spelled if spelled.startswith('"') else f'"{spelled}"'
