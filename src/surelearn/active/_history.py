"""The history of a pool, to and from plain JSON values; must not know models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from scipy import sparse

from surelearn import _check
from surelearn.columns.cells import Table
from surelearn.columns.known import Known

#: Kinds of steps: labels given before the first question, an answer, a skip.
KINDS = ("start", "tell", "skip")

#: Optional entries of a history, and their types.
_MORE: dict[str, tuple[Any, str]] = {
    "drawn": (list, "a list"),
    "learnt_before": (int | None, "an int or None"),
    "label_type": (str | None, "a str or None"),
    "columns": (list, "a list"),
}

_NUMBERS = [np.dtype(kind).name for kind in "?bhilqBHILQefd"]


class Answer(NamedTuple):
    """A label that a pool was told.

    Parameters
    ----------
    row : int
    label : label
    predicted : label or None
        The model's prediction before it learnt the label. None for labels of the start, and while
        the model knew fewer than two classes.
    at_random : bool
        Whether the question was drawn at random, by `explore` or the strategy ``"random"``.
    mark : int or None
        CRC-32 of the row. A resumed pool checks it to make sure that `X` has the same rows.

    Examples
    --------
    >>> from surelearn.active import Answer
    >>> Answer(3, "spam", predicted="ham").at_random
    False
    """

    row: int
    label: Any
    predicted: Any = None
    at_random: bool = False
    mark: int | None = None


class HistoryStep(NamedTuple):
    """One call of a pool; `undo` reverts all but the labels of the start."""

    kind: str
    rows: list[int]


class History(NamedTuple):
    """Everything a pool was told; `Pool.history` describes the fields."""

    random_state: int
    learnt_before: int | None  # rows that the model had learnt; None: unknown
    label_type: str | None  # the NumPy dtype, which JSON cannot hold
    drawn: list[int]  # the randomly drawn rows of the last questions
    steps: list[HistoryStep]
    answers: list[Answer]  # of all steps
    columns: list[Known] | None = None  # of a table, as the pool decided them

    def plain(self) -> dict[str, Any]:
        """The history as plain values that JSON can hold."""
        answers = iter(self.answers)
        columns = {} if self.columns is None else {"columns": [x.plain() for x in self.columns]}
        return {
            "random_state": self.random_state,
            "learnt_before": self.learnt_before,
            "label_type": self.label_type,
            "drawn": self.drawn,
            "steps": [_plain_step(step, answers) for step in self.steps],
            **columns,
        }

    @classmethod
    def of(cls, plain: Any) -> History:
        """Read what `plain` gave; raise ValueError or TypeError for anything else."""
        _refuse_strange(plain)
        listed = [_step(i, one) for i, one in enumerate(plain["steps"])]
        return cls(
            plain["random_state"],
            plain.get("learnt_before", 0),
            plain.get("label_type"),
            list(plain.get("drawn", [])),
            [step for step, _ in listed],
            [answer for _, answers in listed for answer in answers],
            _columns(plain.get("columns")),
        )


def _columns(plain: list[Any] | None) -> list[Known] | None:
    """The columns of a table from what `Known.plain` gave."""
    try:
        return None if plain is None else [Known.of(one) for one in plain]
    except (TypeError, KeyError) as error:
        raise ValueError(
            f"history['columns'] must be columns as a pool writes them: {error}."
        ) from error


def _plain_step(step: HistoryStep, answers: Iterator[Answer]) -> dict[str, Any]:
    if step.kind == "skip":
        return {"kind": "skip", "rows": list(step.rows)}
    return {"kind": step.kind, "answers": [next(answers)._asdict() for _ in step.rows]}


def _step(i: int, plain: Mapping[str, Any]) -> tuple[HistoryStep, list[Answer]]:
    """A step and its answers."""
    name = f"history['steps'][{i}]"
    if not isinstance(plain, Mapping):
        raise TypeError(f"{name} must be a dict, got {plain!r}.")
    kind = _check.choice(f"{name}: kind", plain.get("kind"), KINDS)
    part = "rows" if kind == "skip" else "answers"
    if not isinstance(plain.get(part), list):
        raise ValueError(f"{name} must have {part}, a list, got {plain!r}.")
    if kind == "skip":
        return HistoryStep(kind, list(plain["rows"])), []
    answers = []
    for one in plain["answers"]:
        if not isinstance(one, Mapping):
            raise TypeError(f"{name}['answers'] must be dicts, got {one!r}.")
        for key in ("row", "label"):
            if one.get(key) is None:
                raise ValueError(f"{name}['answers'] must have a {key}, got {one!r}.")
        answers.append(Answer(**{key: one[key] for key in Answer._fields if key in one}))
    return HistoryStep(kind, [answer.row for answer in answers]), answers


def mark_of(row: Any) -> int:
    """A checksum of one row, given as a slice of its matrix, frame or list."""
    if isinstance(row, Table):
        (values,) = row.records()  # by name: columns may change places, and empty ones may come
        content: Any = sorted((name, x) for name, x in values.items() if x is not None)
    elif sparse.issparse(row):
        content = [row.indices.tolist(), row.data.tolist()]
    else:
        content = row.to_pylist() if hasattr(row, "to_pylist") else np.asarray(row).tolist()
    return crc32(repr(content).encode("utf-8", "surrogatepass"))


def _refuse_strange(value: Any) -> None:
    """Refuse anything but a history of a pool."""
    if not isinstance(value, Mapping):
        raise TypeError(f"history must be a dict like Pool.history, got {value!r}.")
    needed: dict[str, tuple[Any, str]] = {
        "random_state": (int, "an int"),
        "steps": (list, "a list"),
    }
    given = {key: kind for key, kind in _MORE.items() if key in value}
    for key, (types, what) in (needed | given).items():
        if not isinstance(value.get(key), types):
            raise ValueError(f"history[{key!r}] must be {what}, got {value.get(key)!r}.")
    if value.get("label_type") is not None:
        _check.choice("history['label_type']", value["label_type"], _NUMBERS)
