"""Which token the core has refused, and why; must not know templates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from surelearn._check import no_surrogates, shown

#: The deepest nesting of dicts in a token.
_DEEPEST = 100

#: Feature values are stored in single precision.
_LARGEST = float(np.finfo(np.float32).max)

_KINDS: dict[str, Any] = {"words": (str, tuple), "strings": list, "dicts": dict}

CALLED = {"words": "a str or a tuple of str", "strings": "a list of str", "dicts": "a dict"}


def kind_of(token: object, i: int, t: int) -> str:
    """The kind of a token; raises for anything else."""
    for kind, types in _KINDS.items():
        if isinstance(token, types):
            return kind
    raise TypeError(
        f"{_who(i, t)} must be a str, a tuple of str, a list of str or a dict, got {shown(token)}."
    )


def refuse(
    X: Sequence[Sequence[Any]], place: tuple[int, int], kind: str, columns: Sequence[str]
) -> NoReturn:
    """Raise the error for a token that the core has refused."""
    i, t = place
    token, who = X[i][t], _who(i, t)
    if kind_of(token, i, t) != kind:
        raise TypeError(f"{who} must be {CALLED[kind]} like those before, got {shown(token)}.")
    if kind == "words":
        _refuse_words(token, who, columns)
    elif kind == "strings":
        _strings(token, who, "")
    else:
        total = _items(token, who, "", 0)
        raise ValueError(f"{who} must have values that sum to less than 3.4e38, got {total}.")
    raise ValueError(f"{who} must not change while it is read, got another.")


def _refuse_words(token: Any, who: str, columns: Sequence[str]) -> None:
    words = (token,) if isinstance(token, str) else token
    if len(words) != len(columns):
        n, names = len(columns), ", ".join(columns)
        has = f"{n} column{'s' if n > 1 else ''} ({names})"
        raise ValueError(f"{who} must have {has}, got {len(words)}.")
    for name, word in zip(columns, words, strict=True):
        if not isinstance(word, str):
            raise TypeError(f"{who}: {name} must be a str, got {shown(word)}.")
        no_surrogates(f"{who}: {name}", word)


def _strings(items: Iterable[Any], who: str, prefix: str) -> None:
    for item in items:
        _name(item, who, prefix)


def _name(key: Any, who: str, prefix: str) -> str:
    if isinstance(key, bytes):
        try:
            key = key.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{who}: a feature must be UTF-8, got {key!r}.") from None
    if not isinstance(key, str):
        inside = f" in {prefix[:-1]!r}" if prefix else ""
        raise TypeError(f"{who}: a feature{inside} must be a str, got {shown(key)}.")
    no_surrogates(f"{who}: feature {prefix + key!r}", key)
    return prefix + key


def _items(token: dict[Any, Any], who: str, prefix: str, depth: int) -> float:
    total = 0.0
    for key, value in token.items():
        name = _name(key, who, prefix)
        if isinstance(value, str | bytes):
            _name(value, who, f"{name}:")
        elif isinstance(value, dict):
            if depth >= _DEEPEST:
                raise ValueError(f"{who}: feature {key!r} must be nested {_DEEPEST} deep at most.")
            total += _items(value, who, f"{name}:", depth + 1)
        elif isinstance(value, list | set):
            _strings(value, who, f"{name}:")
        else:
            total += abs(_value(value, f"{who}: feature {name!r}"))
    return total


def _value(value: Any, who: str) -> float:
    try:
        x = float(value)
    except OverflowError:
        x = math.inf
    except Exception:
        raise TypeError(
            f"{who} must be a number, a str, a dict, or a list or set of str, got {shown(value)}."
        ) from None
    if not math.isfinite(x):
        raise ValueError(f"{who} must be finite, got {shown(value)}.")
    if abs(x) > _LARGEST:
        raise ValueError(f"{who} must be finite in single precision, got {shown(value)}.")
    return x


def _who(i: int, t: int) -> str:
    return f"sequence {i}, token {t}"
