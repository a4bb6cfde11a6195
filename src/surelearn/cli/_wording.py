"""Errors in the words of the command: `--skip-bad` where the library says `skip_bad=True`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from surelearn._check import Keyword, Message


def in_options(said: BaseException | str, group: Any) -> str:
    """The text of an error or a sentence, with keywords spelled as options of these commands."""
    text = said.args[0] if isinstance(said, BaseException) and said.args else said
    if not isinstance(text, Message):
        return str(said)
    options = _options_of(group)
    return text.spelled(lambda keyword: _option(keyword, options))


def _option(keyword: Keyword, options: Mapping[str, str]) -> str:
    if keyword.name not in options:
        return str(keyword)
    option, value = options[keyword.name], keyword.value
    if value is None or value is True:
        return option
    if isinstance(value, type):
        value = value.__name__
    listed = ",".join(value) if isinstance(value, list | tuple) else str(value)
    typed = shlex.quote(listed.replace("\t", "\\t"))
    return f"{option} {typed}"


def _options_of(group: Any) -> dict[str, str]:
    """The options of all commands, keyed by parameter name."""
    found: dict[str, str] = {}
    for command in group.commands.values():
        if hasattr(command, "commands"):
            found |= _options_of(command)
        for parameter in command.params:
            long = [option for option in parameter.opts if option.startswith("--")]
            found |= dict.fromkeys([parameter.name], long[0]) if long else {}
    return found
