"""Checks of sequences of tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def tag_pairs(
    y_true: Iterable[Any], y_pred: Iterable[Any]
) -> Iterator[tuple[list[str], list[str]]]:
    """Pairs of true and predicted tags, one for each sequence, of equal lengths."""
    true, predicted = list(y_true), list(y_pred)
    if len(true) != len(predicted):
        raise ValueError(
            f"y_pred must have as many sequences as y_true, {len(true)}, got {len(predicted)}."
        )
    for number, pair in enumerate(zip(true, predicted, strict=True)):
        tags, guesses = (
            _tags(name, sequence, number)
            for name, sequence in zip(("y_true", "y_pred"), pair, strict=True)
        )
        if len(tags) != len(guesses):
            raise ValueError(
                f"y_pred must have as many tags as y_true, {len(tags)} in sequence {number}, got "
                f"{len(guesses)}."
            )
        yield tags, guesses


def _tags(name: str, sequence: Any, number: int) -> list[str]:
    if isinstance(sequence, str) or not hasattr(sequence, "__len__"):
        raise TypeError(
            f"{name} must be a list of sequences of tags, got {sequence!r} as sequence {number}."
        )
    tags = list(sequence)
    for tag in tags:
        if not isinstance(tag, str):
            raise TypeError(f"{name} must have texts as tags, got {tag!r} in sequence {number}.")
    return tags


def not_a_chunk_tag(tag: str) -> ValueError:
    return ValueError(
        f"tags must be 'O', or B, I, E or S, a hyphen and a type, such as 'B-NP', got {tag!r}. Use "
        "raw=True for tags that mark no chunks."
    )
