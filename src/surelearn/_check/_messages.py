"""Wording: messages that name keywords, which the command spells as options, and errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

_SHOWN = 40


@dataclass(frozen=True)
class Keyword:
    """A keyword in a message, with or without a suggested value.

    Examples
    --------
    >>> print(Keyword("text", "body"), Keyword("label_type", str), Keyword("n_features"))
    text='body' label_type=str n_features
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        value = self.value.__name__ if isinstance(self.value, type) else repr(self.value)
        return f"{self.name}={value}"


class Message(str):
    """A message with keywords: the str spells them as in Python, `spelled` in any other way.

    Parameters
    ----------
    template : str
        A template for `str.format`.
    **parts : Keyword, Message or anything else
        The values of its fields.

    Examples
    --------
    >>> said = Message("Name the column with {text}.", text=Keyword("text", "body"))
    >>> print(said)
    Name the column with text='body'.
    >>> said.spelled(lambda keyword: f"--{keyword.name} {keyword.value}")
    'Name the column with --text body.'
    """

    _template: str
    _parts: dict[str, Any]

    def __new__(cls, template: str, **parts: Any) -> Self:
        said = super().__new__(cls, template.format(**parts))
        said._template, said._parts = template, parts
        return said

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self._template,), self._parts

    def spelled(self, spell: Callable[[Keyword], str]) -> str:
        """The same message, with keywords spelled by a function."""
        return self._template.format(
            **{name: _spelled(part, spell) for name, part in self._parts.items()}
        )


def must(name: str, what: str, value: object) -> Message:
    """The message for a parameter with a wrong value."""
    return Message("{who} must {what}, got {value!r}.", who=Keyword(name), what=what, value=value)


def _spelled(part: Any, spell: Callable[[Keyword], str]) -> Any:
    if isinstance(part, Keyword):
        return spell(part)
    return part.spelled(spell) if isinstance(part, Message) else part


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
    surelearn._check._messages.BadInput: frame, row 1: ...
    """

    records = "records"
    n_before: int | None = None


class NoRecords(BadInput):
    """A source is empty."""

    def __init__(self, name: str, *, what: str = "record", got: str = "none") -> None:
        super().__init__(f"{name} must have at least one {what}, got {got}.")


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


class FormatError(ValueError):
    """A file is damaged, foreign or newer than this version of surelearn.

    >>> from tempfile import NamedTemporaryFile
    >>> from surelearn import load
    >>> with NamedTemporaryFile() as file:
    ...     load(file.name)
    Traceback (most recent call last):
    surelearn._check._messages.FormatError: ...
    """


#: What pip installs: a clone, as no package index has a release yet. `install` names it in errors,
#: and a test finds the pages that say otherwise.
PACKAGE = "."


def install(extra: str) -> str:
    """The command that installs the packages of an extra."""
    return f"In a clone of surelearn, run: pip install '{PACKAGE}[{extra}]'"


def missing(who: str, error: ImportError, extra: str) -> ImportError:
    """The error for a missing package that `who` needs and `extra` installs."""
    package = str(error.name).partition(".")[0]
    return ImportError(f"{who} needs {package}, got none. {install(extra)}")


def need(who: str, package: str, extra: str) -> None:
    """Raise unless a package is installed."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise missing(who, error, extra) from error
