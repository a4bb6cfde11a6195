"""HTML from Python: every text is escaped, and what cannot be seen is shown; no pages here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from surelearn.learners.explain.highlight import COLOURS

#: Characters that a reader cannot see but that change what they see: controls, spaces without
#: width, the marks and overrides of right-to-left text, and bytes of file names that are no UTF-8.
#: Lines may end as on Windows.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u2069\ufeff\ud800-\udfff]|\r(?!\n)"
)
_SPECIAL = {"class_": "class", "for_": "for"}
_VOID = {"input", "link", "meta", "br"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element. Children are escaped unless they are `Html`; None and False are left out.

    Attributes with the value True have no value, those with None or False are left out.

    >>> tag("p", "1 < 2", class_="note", hidden=True)
    '<p class="note" hidden>1 &lt; 2</p>'
    """
    listed = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{listed}>")
    return Html(f"<{name}{listed}>{join(children)}</{name}>")


def join(parts: Iterable[Any]) -> Html:
    """Parts one after the other."""
    there = (part for part in parts if part is not None and part is not False)
    return Html("".join(x if isinstance(x, Html) else escape(str(x)) for x in there))


def shown(text: str) -> Html:
    """A text as text: markup is escaped, and unseen characters become their numbers."""
    parts: list[Any] = []
    at = 0
    for found in _UNSEEN.finditer(text):
        code = f"U+{ord(found.group()):04X}"
        parts += [text[at : found.start()], tag("span", code, class_="unseen")]
        at = found.end()
    return join([*parts, text[at:]])


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = _SPECIAL.get(key, key.replace("_", "-"))
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


#: Keys of the first labels; if there are more, labels are searched.
KEYS = "1234567890"


def key_of(i: int) -> str | None:
    """The key of the i-th label, None beyond the tenth."""
    return KEYS[i] if i < len(KEYS) else None


def hue_of(place: int | None) -> str:
    """The style of the label at this place of the palette; None: of what is no label."""
    return "none" if place is None else f"l{place % len(COLOURS)}"


def label_search(n_labels: int) -> Html | None:
    """A field that finds a label, if there are more than keys."""
    if n_labels <= len(KEYS):
        return None
    return tag("input", type="search", id="find-label", placeholder="Find a label ( / )",
               aria_label="Find a label", autocomplete="off")  # fmt: skip
