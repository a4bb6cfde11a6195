"""Errors for lines and records that cannot be parsed."""

from __future__ import annotations

from surelearn._check._messages import Keyword, Message

_SHOWN = 40


class BadInput(ValueError):
    """A record cannot be parsed; the message names the file, the line and what is wrong.

    Attributes
    ----------
    records : str
        The word for records of this source.
    n_before : int or None
        Number of lines or rows before the record in its block; None if unknown.

    Examples
    --------
    >>> import pandas
    >>> from surelearn.read import batches
    >>> next(iter(batches(pandas.DataFrame({"text": ["good"], "label": [None]}))))
    Traceback (most recent call last):
    surelearn._check._lines.BadInput: frame, row 1: ...
    """

    records = "records"
    n_before: int | None = None


class NoRecords(BadInput):
    """A source is empty."""

    def __init__(self, name: str, *, what: str = "record", got: str = "none") -> None:
        super().__init__(f"{name} must have at least one {what}, got {got}.")


def is_utf8(value: str | bytes) -> bool:
    """Whether bytes are UTF-8, or a text can be encoded: one with a lone surrogate cannot."""
    try:
        _ = value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True


def bad_record(
    where: str, reason: str, records: str = "records", *, n_before: int | None = None
) -> BadInput:
    """The error for a record that cannot be parsed; `reason` is a whole sentence."""
    error = BadInput(
        Message(
            "{where}: {reason} With {skip_bad} such {records} are left out.",
            where=where,
            reason=reason,
            skip_bad=Keyword("skip_bad", True),
            records=records,
        )
    )
    error.records, error.n_before = records, n_before
    return error


def unlike(expected: str, got: bytes) -> str:
    """What is wrong with a line; shows the first characters of what was found."""
    text = got[: 4 * _SHOWN].decode("utf-8", "replace")
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 4]} ..."
    return f"expected {expected}, got {text!r}."


def no_labels(where: str) -> BadInput:
    return BadInput(
        Message(
            "{where} must have labels, got none. Name their column by {label}.",
            where=where,
            label=Keyword("label"),
        )
    )


class Unreachable(OSError):
    """A file cannot be read, or not to its end; the message has the words of its filesystem."""
