"""What lines of a file must be."""

from __future__ import annotations

from surelearn._check._said import Keyword, Said

_SHOWN = 40


class BadInput(ValueError):
    """A line of a file cannot be read; the message names the file, the line and what is wrong.

    Attributes
    ----------
    records : str
        What its records are called.
    n_before : int or None
        Lines of its block, or rows of a table, that are before the record; None: nobody knows.
    """

    records = "records"
    n_before: int | None = None


class NoRecords(BadInput):
    """There is nothing to read in a source."""

    def __init__(self, name: str, *, what: str = "record", got: str = "none") -> None:
        super().__init__(f"{name} must have at least one {what}, got {got}.")


def is_utf8(value: str | bytes) -> bool:
    """Whether bytes are a text, or a text can be written: it cannot with a lone surrogate."""
    try:
        _ = value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True


def bad_line(name: str, line: int, reason: str) -> BadInput:
    return BadInput(f"{name}, line {line}: {reason}")


def bad_record(
    where: str, reason: str, records: str = "records", *, n_before: int | None = None
) -> BadInput:
    """A record at a place cannot be read, for a reason that is a whole sentence."""
    error = BadInput(
        Said(
            "{where}: {reason} With {skip_bad} such {records} are left out.",
            where=where,
            reason=reason,
            skip_bad=Keyword("skip_bad", True),
            records=records,
        )
    )
    error.records, error.n_before = records, n_before
    return error


def learnt_before_bad(error: BadInput, n: int, path: str | None) -> str:
    """What is told of the records before a bad one."""
    learnt = f"The {n:,} {error.records} before it were learnt"
    if path is None:
        return f"{learnt}."
    resume = Keyword("resume", True)
    return Said(
        "{learnt}; {path} has them, and {resume} goes on.", learnt=learnt, path=path, resume=resume
    )


def unlike(expected: str, got: bytes) -> str:
    """What is wrong with a line; of what was found no more than can be taken in at a glance."""
    text = got[: 4 * _SHOWN].decode("utf-8", "replace")
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 4]} ..."
    return f"expected {expected}, got {text!r}."
