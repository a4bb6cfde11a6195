"""Messages that name keywords; the command line replaces them by its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


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
