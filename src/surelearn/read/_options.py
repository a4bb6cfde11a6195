"""Checks of the options of readers: columns, delimiters, encodings, formats."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from surelearn import _check

#: The formats that a keyword applies to, in words and by name.
_FOR = {
    "delimiter": ("csv and tsv", ("csv", "tsv")),
    "quote": ("csv and tsv", ("csv", "tsv")),
    "label_separator": ("csv, tsv and svmlight", ("csv", "tsv", "svmlight")),
    "weight": ("formats with columns", ("csv", "tsv", "jsonl", "parquet", "arrow")),
    "cross": ("vw", ("vw",)),
    "zero_based": ("svmlight", ("svmlight",)),
    "encoding": ("lines of text", ("csv", "tsv", "jsonl", "svmlight", "vw")),
}


def as_names(names: Any) -> Any:
    """The names with whole numbers as texts: columns of a frame without names are numbered."""
    if not isinstance(names, list | tuple):
        return names
    return [
        str(name) if isinstance(name, Integral) and not isinstance(name, bool) else name
        for name in names
    ]


def column(who: str, value: Any) -> str | None:
    """The name of a column, or None."""
    (name,) = as_names([value])
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{who} must be the name of a column, got {value!r}.")
    return name


def feature_names(value: Any) -> tuple[str, ...] | None:
    """The names of numeric columns; ``"*"`` means all."""
    if value is None:
        return None
    listed = [value] if isinstance(value, str) and value == "*" else as_names(value)
    if isinstance(listed, str) or not all(isinstance(name, str) for name in listed):
        raise TypeError(_check.must("features", "be a list of names of columns", value))
    if not listed:
        raise ValueError(_check.must("features", "name at least one column", value))
    return tuple(listed)


def label_type(value: Any) -> type | None:
    if value not in (None, str, int):
        raise ValueError(_check.must("label_type", "be str or int", value))
    label_type: type | None = value
    return label_type


def distinct(name: str, value: Any, *, but: str | None = None) -> tuple[str, ...]:
    """A list of distinct names; only `but` may occur more than once."""
    is_list = isinstance(value, Iterable) and not isinstance(value, str)
    found = tuple(value) if is_list else ()
    if not is_list or not all(isinstance(each, str) for each in found):
        raise TypeError(f"{name} must be a list of names, got {value!r}.")
    named = [each for each in found if each != but]
    if len(set(named)) < len(named):
        raise ValueError(f"{name} must be different names, got {list(found)!r}.")
    return found


def only_for(kind: str, **given: str | bool | None) -> None:
    """Refuse keywords that do not apply to a format."""
    for name, value in given.items():
        what, kinds = _FOR[name]
        if value is not None and kind not in kinds:
            raise ValueError(
                _check.Message(
                    "{name} is for {what}, got {kind}.",
                    name=_check.Keyword(name),
                    what=what,
                    kind=kind,
                )
            )


def delimiter(value: object) -> str:
    return _one_letter("delimiter", value, "one ASCII character that ends no line")


def label_separator(value: object) -> str | None:
    """What separates the labels of a record; None if a record has one label."""
    if value is None:
        return None
    return _one_letter("label_separator", value, "one ASCII character that ends no line")


def quote(value: object, between: str) -> str:
    """The quote character; empty for none."""
    if value == "":
        return ""
    mark = _one_letter("quote", value, "one ASCII character, or '' for none")
    if mark == between:
        raise ValueError(f"delimiter and quote must differ, got {mark!r} for both.")
    return mark


def _one_letter(name: str, value: object, what: str) -> str:
    letter = _check.one_text(name, value)
    if len(letter) != 1 or not letter.isascii() or letter in "\r\n\0":
        raise ValueError(_check.must(name, f"be {what}", letter))
    return letter


def encoding(value: object) -> str | None:
    """The name of a text encoding; None for UTF-8."""
    if value is None:
        return None
    name = _check.one_text("encoding", value)
    try:
        found = codecs.lookup(name)
        "".encode(name)  # raises for codecs that do not encode text, such as "hex"
    except (LookupError, TypeError, ValueError):
        known = "be one that Python knows, such as 'latin-1' or 'utf-16'"
        raise ValueError(_check.must("encoding", known, name)) from None
    return None if found.name.replace("_", "-") in ("utf-8", "utf-8-sig") else name
