"""Sentences of CoNLL-2000 with parts of speech and chunk tags; must not know taggers."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from experiments import sets

Tags = list[list[str]]


class Part(NamedTuple):
    """Sentences of (word, part of speech), and their tags."""

    X: list[list[tuple[str, ...]]]
    y: Tags


@cache
def part(name: str, n: int | None = None) -> Part:
    """The published training or test part, or its first sentences."""
    found = sets.sentences(f"conll2000/{name}.txt.xz")[:n]
    return Part(
        [[token[:2] for token in tokens] for tokens in found],
        [[token[2] for token in tokens] for tokens in found],
    )
