"""Checks of a pool for active learning, and of the history it resumes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from surelearn._check._values import choice

#: Optional entries of a history, and their types.
_MORE: dict[str, tuple[Any, str]] = {
    "drawn": (list, "a list"),
    "learnt_before": (int | None, "an int or None"),
    "label_type": (str | None, "a str or None"),
}
_NUMBERS = [np.dtype(kind).name for kind in "?bhilqBHILQefd"]


def one_label_pool(label_format: str | None) -> None:
    """Refuse a model of many labels per row, whose answers a pool cannot keep."""
    if label_format is not None:
        raise ValueError(
            "model must have one label per row in a Pool, got many. Choose rows with active.query, "
            "and learn them with partial_fit."
        )


def history(value: Any) -> None:
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
        choice("history['label_type']", value["label_type"], _NUMBERS)


def history_step(name: str, step: Any, kinds: Iterable[str]) -> str:
    """The kind of a step; raises if the step lacks its list."""
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
    """Refuse a row that is not the one the answer was for."""
    if mark is not None and mark != found:
        raise ValueError(
            f"row {row} of X must be the row that was answered before, got another. Pass the same "
            "rows in the same order, and new ones after them."
        )


def same_seed(random_state: object, seed: int) -> None:
    if random_state is not None and not (
        isinstance(random_state, Integral) and random_state == seed
    ):
        raise ValueError(f"random_state must be None or {seed} with history, got {random_state!r}.")


def no_start(labels: object) -> None:
    if labels is not None:
        raise ValueError(
            "labels must be None with history, which holds the first labels, got "
            f"{labels!r}. Use tell to add labels."
        )


def not_learnt(n_rows: int | None) -> None:
    """Refuse first labels for a model that may have learnt them already."""
    if n_rows != 0:
        rows = "rows" if n_rows is None else f"{n_rows} rows"
        raise ValueError(
            f"labels must be None for a model that has learnt {rows}, which may be these. Use "
            "history= to resume an earlier pool, or tell to add labels."
        )


def learnt_before(expected: int | None, n_answers: int, got: int | None) -> None:
    """Refuse a model in another state than before the first answer.

    If the model was new then, its state after the last answer is accepted as well.
    """
    if got == expected or (expected == 0 and got in (None, n_answers)):
        return
    wanted = "rows" if expected is None else f"{expected} rows"
    left = f", or {n_answers} as after the last" if expected == 0 else ""
    has = "nothing" if got == 0 else "rows" if got is None else f"{got}"
    raise ValueError(
        f"model must have learnt {wanted}, as before the first answer of history{left}, got one "
        f"that has learnt {has}. Pass the model that the pool was made with."
    )


def linear_batch(model: object, is_linear: bool) -> None:
    """Refuse to choose several rows together by a model whose variances cannot be lowered."""
    if not is_linear:
        raise ValueError(
            f"batch must be False for {type(model).__name__}, got True. Only linear models can "
            "tell what learning a row would change."
        )
