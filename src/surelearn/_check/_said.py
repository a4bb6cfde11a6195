"""Sentences that name keywords, so that the command can call them by its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Keyword:
    """A keyword of a function that a sentence names, with a value to give it or without.

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


class Said(str):
    """A sentence with keywords in it: as Python spells them, and by `spelled` in any other way.

    Parameters
    ----------
    template : str
        As `str.format` takes it.
    **parts : Keyword, Said or anything else
        What is put in.

    Examples
    --------
    >>> said = Said("Name the column with {text}.", text=Keyword("text", "body"))
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
        """The same, with keywords spelled by a function."""
        return self._template.format(
            **{name: _spelled(part, spell) for name, part in self._parts.items()}
        )


def must(name: str, what: str, value: object) -> Said:
    """The sentence for a parameter of a name that has a wrong value."""
    return Said("{who} must {what}, got {value!r}.", who=Keyword(name), what=what, value=value)


def _spelled(part: Any, spell: Callable[[Keyword], str]) -> Any:
    if isinstance(part, Keyword):
        return spell(part)
    return part.spelled(spell) if isinstance(part, Said) else part
