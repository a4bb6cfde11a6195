"""Settings of a file, each read by name, type and range; must not know what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from surelearn._check import FormatError

Naturals = list[int]  # an alias, because `list` is a method of Fields


def parsed(text: str | bytes, where: str, what: str) -> Fields:
    """Parse a JSON object; `what` names it in errors."""
    try:
        found = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        raise FormatError(f"{where} must have {what} in JSON, got a damaged one.") from None
    return Fields(found, where)


def _finite(number: str) -> float:
    """A finite number; Python's parser also accepts NaN and infinity."""
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(number)
    return found


class Fields:
    """Settings of a file, each read by name and type.

    >>> Fields({"format": 1}, "m.sure").integer("format")
    1
    """

    def __init__(self, settings: Any, where: str) -> None:
        if not isinstance(settings, dict):
            raise FormatError(f"{where} must be an object, got {type(settings).__name__}.")
        self._settings = settings
        self.where = where

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def _get(self, name: str, kinds: type | tuple[type, ...], what: str) -> Any:
        value = self._settings.get(name)
        wrong = isinstance(value, bool) and kinds is not bool
        if wrong or not isinstance(value, kinds):
            raise FormatError(f"{self.where}: {name} must be {what}, got {str(value)[:60]!r}.")
        return value

    def has(self, name: str) -> bool:
        """Whether there is such a setting."""
        return name in self._settings

    def integer(self, name: str, *, low: int = 0, high: int = 2**62) -> int:
        """A whole number from `low` to `high`."""
        value: int = self._get(name, int, "a whole number")
        if not low <= value <= high:
            raise FormatError(f"{self.where}: {name} must be in [{low}, {high}], got {value}.")
        return value

    def number(self, name: str) -> float:
        """A finite number."""
        value = self._get(name, (int, float), "a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise FormatError(f"{self.where}: {name} must be finite, got {str(value)[:60]}.")
        return number

    def flag(self, name: str) -> bool:
        """True or false."""
        value: bool = self._get(name, bool, "true or false")
        return value

    def text(
        self, name: str, known: Sequence[str] | None = None, *, default: str | None = None
    ) -> str:
        """A text, one of `known` if given; `default` if the setting is missing."""
        if default is not None and not self.has(name):
            return default
        value: str = self._get(name, str, "a text")
        if known is not None and value not in known:
            raise FormatError(f"{self.where}: {name} must be one of {known}, got {value[:60]!r}.")
        return value

    def list(self, name: str) -> list[Any]:
        """A list of anything."""
        value: list[Any] = self._get(name, list, "a list")
        return value

    def naturals(self, name: str, length: int | None = None) -> Naturals:
        """A list of counts, of this `length` if given."""
        values = self.list(name)
        if not all(type(x) is int and 0 <= x < 2**62 for x in values):
            raise FormatError(f"{self.where}: {name} must be whole numbers, not negative.")
        if length is not None and len(values) != length:
            raise FormatError(f"{self.where}: {name} must be {length} numbers, got {len(values)}.")
        return values

    def object(self, name: str) -> dict[str, Any]:
        """An object as a dict."""
        value: dict[str, Any] = self._get(name, dict, "an object")
        return value

    def inner(self, name: str) -> Fields:
        """The settings of an object."""
        return Fields(self.object(name), f"{self.where}: {name}")
