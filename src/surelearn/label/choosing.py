"""How one of many labels is chosen: by its key or by its letters; must not know what for."""

from __future__ import annotations

from surelearn.label.html import Html, tag

#: Keys of the first labels; if there are more, labels are searched.
KEYS = "1234567890"


def key_of(i: int) -> str | None:
    """The key of the i-th label, None beyond the tenth."""
    return KEYS[i] if i < len(KEYS) else None


def label_search(n_labels: int) -> Html | None:
    """A field that finds a label, if there are more than keys."""
    if n_labels <= len(KEYS):
        return None
    return tag("input", type="search", id="find-label", placeholder="Find a label ( / )",
               aria_label="Find a label", autocomplete="off")  # fmt: skip
