"""What a pool of questions can be made of, and can go on from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from surelearn._check._values import choice

#: Entries of a history that need not be there, and what they are.
_MORE: dict[str, tuple[Any, str]] = {
    "drawn": (list, "a list"),
    "learnt_before": (int | None, "an int or None"),
    "label_type": (str | None, "a str or None"),
}
_NUMBERS = [np.dtype(kind).name for kind in "?bhilqBHILQefd"]


def history(value: Any) -> None:
    """Refuse what no pool has given."""
    if not isinstance(value, Mapping):
        raise TypeError(f"history must be a dict as Pool.history is, got {value!r}.")
    needed: dict[str, tuple[Any, str]] = {
        "random_state": (int, "an int"),
        "steps": (list, "a list"),
    }
    given = {key: kind for key, kind in _MORE.items() if key in value}
    for key, (types, what) in (needed | given).items():
        if not isinstance(value.get(key), types):
            raise ValueError(f"history[{key!r}] must be {what}, got {value.get(key)!r}.")
    if value.get("label_type") is not None:
        choice("history['label_type']", value["label_type"], _NUMBERS)


def history_step(name: str, step: Any, kinds: Iterable[str]) -> str:
    """The kind of a step, which has what it needs."""
    if not isinstance(step, Mapping):
        raise TypeError(f"{name} must be a dict, got {step!r}.")
    kind = choice(f"{name}: kind", step.get("kind"), kinds)
    part = "rows" if kind == "skip" else "answers"
    if not isinstance(step.get(part), list):
        raise ValueError(f"{name} must have {part}, a list, got {step!r}.")
    return kind


def history_answer(name: str, answer: Any) -> None:
    if not isinstance(answer, Mapping):
        raise TypeError(f"{name} must be dicts, got {answer!r}.")
    for key in ("row", "label"):
        if answer.get(key) is None:
            raise ValueError(f"{name} must have a {key}, got {answer!r}.")


def same_row(row: int, mark: int | None, found: int) -> None:
    """Refuse a row that is not the one that was answered."""
    if mark is not None and mark != found:
        raise ValueError(
            f"row {row} of X must be what was answered before, got another. Hand in the rows of "
            "before, in their order; new ones go to the end."
        )


def same_seed(random_state: object, seed: int) -> None:
    if random_state is not None and not (
        isinstance(random_state, Integral) and random_state == seed
    ):
        raise ValueError(f"random_state must be None or {seed} with history, got {random_state!r}.")


def no_start(labels: object) -> None:
    if labels is not None:
        raise ValueError(
            "labels must be None with history, which has those of the start, got "
            f"{labels!r}. Use tell for more."
        )


def not_learnt(n_rows: int | None) -> None:
    """Refuse labels of a start where a model may know them already."""
    if n_rows != 0:
        rows = "rows" if n_rows is None else f"{n_rows} rows"
        raise ValueError(
            f"labels must be None for a model that has learnt {rows}, which may be these. Use "
            "history= to go on with an earlier pool, or tell to teach it more."
        )


def learnt_before(expected: int | None, n_answers: int, got: int | None) -> None:
    """Refuse a model that is neither as the pool found it nor, if that was new, as it left it."""
    if got == expected or (expected == 0 and got in (None, n_answers)):
        return
    wanted = "rows" if expected is None else f"{expected} rows"
    left = f", or {n_answers} as after the last" if expected == 0 else ""
    has = "nothing" if got == 0 else "rows" if got is None else f"{got}"
    raise ValueError(
        f"model must have learnt {wanted}, as before the first answer of history{left}, got one "
        f"that has learnt {has}. Hand in the model that the pool was made with."
    )
