"""Names of tags that mark spans of several tokens (IOB2); must not know the page."""

from __future__ import annotations

from collections.abc import Sequence

OUTSIDE = "O"


def span_tags(types: Sequence[str]) -> list[str]:
    """Tags of spans of these types: outside, begin and inside.

    >>> span_tags(["PER"])
    ['O', 'B-PER', 'I-PER']
    """
    return [OUTSIDE, *(f"{place}-{kind}" for kind in types for place in "BI")]


def has_spans(tags: Sequence[str]) -> bool:
    """Whether tags mark spans of several tokens."""
    return any(name.startswith("B-") for name in tags)


def choices(tags: Sequence[str]) -> list[str]:
    """What can be chosen for tokens: the types of spans and none, or the tags themselves."""
    if not has_spans(tags):
        return list(tags)
    kinds = dict.fromkeys(name.partition("-")[2] for name in tags if "-" in name)
    return [*kinds, OUTSIDE]
