"""How a label is told from others: by its key, letters or colour; must not know what for."""

from __future__ import annotations

from surelearn.label.html import Html, tag
from surelearn.learners.explain.highlight import COLOURS

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
