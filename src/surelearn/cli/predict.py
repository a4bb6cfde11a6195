"""`surelearn predict`: a line of JSON for each row; must not know how labels are found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from surelearn.cli import _options
from surelearn.cli._options import ROWS, Files, Model, Quiet, reads
from surelearn.cli._output import Output, is_shown, opened
from surelearn.cli._progress import progress_bar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surelearn import SureClassifier
    from surelearn.prediction import Prediction

T = TypeVar("T")

#: What a line says of a row.
_PREDICTED = ("label", "probability", "sureness", "probabilities")


@reads(ROWS, without=("label", "weight", "label_type"))
def predict(
    model: Model,
    files: Files,
    *,
    reading: dict[str, Any],
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Carry a column along; repeat it for several."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Give the probabilities of all labels.")
    ] = False,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Label every row of a file, one line of JSON each.

    A line has the label, its probability, and the sureness: the margin between the two best labels
    in its standard deviations. Models of first-order rules give the label only. Columns that are
    carried along come first; one that is called as something the line has is kept_label and so on.

    \b
    Examples:
      surelearn predict reviews.sure new.jsonl
      surelearn predict reviews.sure new.csv --keep id --output labels.jsonl
      tail -f log.jsonl | surelearn predict reviews.sure -
    """
    import surelearn

    _check_keys(keep or [])
    if output is not None:
        _options.check_apart(output, [str(model), *files])
        _options.check_lines(output, "--output")
    loaded = _options.classifier_in(model)
    if proba:
        _check_proba(loaded, model)
    lines = _Lines(loaded.classes_, proba)
    n_bad = 0
    with labelling_bar(output, quiet=quiet) as progress:
        found = surelearn.predict(loaded, files, keep=keep or None, progress=progress, **reading)
        batches = begun(found)
        with opened(output) as out:
            for batch in batches:
                out.write("".join(lines.of(batch)).encode("utf-8", "backslashreplace"))
                n_bad += batch.n_bad
    if n_bad:
        rows = "row was" if n_bad == 1 else "rows were"
        typer.echo(f"surelearn: {n_bad:,} bad {rows} left out.", err=True)


def labelling_bar(output: Path | None, *, quiet: bool) -> AbstractContextManager[Any]:
    """What predicting reports to; not where lines appear on the same terminal."""
    return progress_bar("Labelling", quiet=quiet or is_shown(output), judges=False)


def begun(batches: Iterator[T]) -> Iterator[T]:
    """The same, the first one made already: where that fails, no old output has been emptied."""
    first = list(islice(batches, 1))
    return chain(first, batches)


class _Lines:
    """Predictions as lines of JSON, made in bulk: labels are spelled once for all rows."""

    def __init__(self, classes: NDArray[Any], proba: bool) -> None:
        self._spelled = {label: _json(label) for label in classes.tolist()}
        self._proba = proba

    def of(self, batch: Prediction) -> list[str]:
        parts = []
        kept = batch.kept if isinstance(batch.kept, Mapping) else {}
        for name, values in kept.items():
            key = _json(_key(name))
            parts.append([f"{key}: {_json(value)}" for value in values.tolist()])
        parts.append([f'"label": {self._spelled[label]}' for label in batch.label.tolist()])
        for name in ("probability", "sureness"):
            values = getattr(batch, name)
            if values is not None:
                parts.append([f'"{name}": {_number(x)}' for x in values.tolist()])
        if self._proba and batch.probabilities is not None:
            parts.append([self._all(row) for row in batch.probabilities.tolist()])
        return [f"{{{', '.join(row)}}}\n" for row in zip(*parts, strict=True)]

    def _all(self, row: list[float]) -> str:
        pairs = zip(self._spelled.values(), row, strict=True)
        # Keys of JSON are texts, whatever labels are.
        inner = ", ".join(f"{_as_key(label)}: {_number(p)}" for label, p in pairs)
        return f'"probabilities": {{{inner}}}'


def _key(column: str) -> str:
    """What a column that is carried along is called beside what is predicted."""
    return f"kept_{column}" if column in _PREDICTED else column


def _check_keys(keep: list[str]) -> None:
    """Refuse columns that a line would have under one name."""
    keys = [_key(column) for column in keep]
    for key in keys:
        if keys.count(key) > 1:
            named = ", ".join(repr(column) for column in keep if _key(column) == key)
            raise typer.BadParameter(
                f"keep must name columns that differ, got {named}, of which each would be {key!r}.",
                param_hint="--keep",
            )


def _check_proba(loaded: SureClassifier, path: Path) -> None:
    from surelearn.estimators.margins import why_unsure

    if why := why_unsure(loaded):
        raise ValueError(f"--proba needs a model with probabilities, got {path}: {why}.")


def _json(value: Any) -> str:
    """A value as JSON has it; numbers that are not finite are null, what JSON lacks is a text."""
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


def _number(x: float) -> str:
    return f"{x:.6g}" if -1e300 < x < 1e300 else "null"
