"""What commands say about labels; must not know how labels are learnt."""

from __future__ import annotations

from typing import Any

import typer

#: At most this many labels are named.
_MOST = 10

#: Among fewer rows, many different labels are no wonder.
_FEW = 20

#: Number of rows whose labels are looked at before the training.
_LOOKED_AT = 10_000


def in_words(model: Any, *, resumed: bool = False) -> str:
    """The labels of a model, and the rows of each where they are counted."""
    from surelearn.table import word

    classes = [word(str(label)) for label in model.classes_.tolist()]
    counted = model.task.class_rows(model)
    if counted is None:
        return f"Labels: {_list_labels(classes)}."
    what, counts = counted
    when = " in all runs" if resumed else ""
    lines = zip(counts.tolist(), classes, strict=True)
    ordered = sorted(lines, key=lambda line: -line[0])
    return f"{what}{when}: {_list_labels([f'{label} ({n:,})' for n, label in ordered])}."


def warn_alike(model: Any) -> None:
    """Warn about labels of a model that differ only in white space or case."""
    alike: dict[str, list[str]] = {}
    for label in model.classes_.tolist():
        if isinstance(label, str):
            alike.setdefault(" ".join(label.split()).casefold(), []).append(label)
    for labels in [labels for labels in alike.values() if len(labels) > 1][:_MOST]:
        listed = _list_labels(list(map(repr, labels)))
        _say(f"labels {listed} differ only in white space or case, and are classes of their own.")


def warn_own(files: list[str], reading: dict[str, Any]) -> None:
    """Warn before the training if most of the first rows have a label of their own.

    A stream cannot be read twice, and errors are left to the training.
    """
    import numpy as np

    from surelearn.read import batches

    try:
        source = batches(files, **reading)
        labels = source.first(_LOOKED_AT).labels if source.can_restart else None
    except (OSError, ValueError):
        return
    if labels is None or labels.starts is not None:
        return
    n_labels, n_rows = len(np.unique(labels.codes)), labels.n_rows
    if n_rows >= _FEW and n_labels > n_rows / 2:
        rows = f"the first {n_rows:,}" if n_rows == _LOOKED_AT else f"{n_rows:,}"
        _say(f"{rows} rows have {n_labels:,} different labels. Is --label the right column?")


def _say(warning: str) -> None:
    typer.echo(f"surelearn: {warning}", err=True)


def _list_labels(labels: list[str]) -> str:
    more = len(labels) - _MOST
    listed = ", ".join(labels[:_MOST])
    return f"{listed} and {more:,} more" if more > 0 else listed
