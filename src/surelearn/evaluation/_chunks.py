"""Chunks of tagged sequences, counted as the conlleval script does; must not know taggers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surelearn import _check
from surelearn.estimators.table import Table
from surelearn.evaluation._result import Scores

_OUTSIDE = "O"
#: The first letter of a tag: where in its chunk a word is.
_BEGINNINGS, _GOING_ON = ("B", "I"), ("I", "E")
_PLACES = {"B", "I", "E", "S"}


class Chunk(NamedTuple):
    """Words `begin` up to, not with, `end` of a sequence."""

    begin: int
    end: int
    type: str


class ChunkCounts(NamedTuple):
    """How many chunks there are, and what follows from that.

    Parameters
    ----------
    correct, found, support : int
        Chunks that were predicted with the right begin, end and type; that were predicted; that
        there are.
    """

    correct: int = 0
    found: int = 0
    support: int = 0

    @property
    def precision(self) -> float:
        """The share of what was found that is right; 0 where nothing was found."""
        return _share(self.correct, self.found)

    @property
    def recall(self) -> float:
        """The share of what there is that was found; 0 where there is nothing."""
        return _share(self.correct, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        return _share(2 * self.correct, self.found + self.support)


@dataclass(frozen=True, repr=False)
class ChunkScores:
    """How well chunks were found; made by `chunk_scores`. Two of them can be added.

    Attributes
    ----------
    n_sequences, n_tokens, n_right : int
        Sequences, tags, and tags that are right.
    by_type : dict of {str: ChunkCounts}
        Each with ``precision``, ``recall``, ``f1``, ``correct``, ``found`` and ``support``; types
        sorted.
    overall : ChunkCounts
        Over all types.
    n_bad : int
        Sequences left out since they cannot be read.
    precision, recall, f1 : float
        Of all chunks, whatever their type: ``overall``'s.
    accuracy : float
        The share of tags that are right, those outside of chunks too.
    """

    n_sequences: int = 0
    n_tokens: int = 0
    n_right: int = 0
    by_type: Mapping[str, ChunkCounts] = field(default_factory=dict)
    n_bad: int = 0

    @cached_property
    def overall(self) -> ChunkCounts:
        return _sum(self.by_type.values())

    @property
    def precision(self) -> float:
        return self.overall.precision

    @property
    def recall(self) -> float:
        return self.overall.recall

    @property
    def f1(self) -> float:
        return self.overall.f1

    @property
    def accuracy(self) -> float:
        return _share(self.n_right, self.n_tokens)

    def __add__(self, other: ChunkScores) -> ChunkScores:
        """The scores of the sequences of both."""
        types = sorted({*self.by_type, *other.by_type})
        none = ChunkCounts()
        return ChunkScores(
            self.n_sequences + other.n_sequences,
            self.n_tokens + other.n_tokens,
            self.n_right + other.n_right,
            {t: _sum([self.by_type.get(t, none), other.by_type.get(t, none)]) for t in types},
            self.n_bad + other.n_bad,
        )

    def table(self) -> Table:
        """A line for each type: precision, recall, F1, how many there are and were found."""
        names = ("precision", "recall", "f1", "support", "found")
        rows = self.by_type.values()
        return Scores(
            {
                "type": np.array(list(self.by_type), dtype=str),
                **{name: np.array([getattr(row, name) for row in rows]) for name in names},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values that JSON can hold."""
        names = ("n_sequences", "n_bad", "n_tokens", "accuracy", "precision", "recall", "f1")
        return {
            **{name: getattr(self, name) for name in names},
            **self.overall._asdict(),
            "by_type": [row._asdict() for row in self.table()],
        }

    def __str__(self) -> str:
        chunks = self.overall
        left_out = f" ({self.n_bad:,} left out as bad)" if self.n_bad else ""
        lines = [
            f"{self.n_tokens:,} tokens of {self.n_sequences:,} sequences{left_out} with "
            f"{chunks.support:,} chunks; found {chunks.found:,}, right {chunks.correct:,}",
            "",
        ]
        for name in ("accuracy", "precision", "recall", "f1"):
            lines.append(f"{'F1' if name == 'f1' else name:<18} {getattr(self, name):.4f}")
        return "\n".join([*lines, "", str(self.table())] if self.by_type else lines)

    __repr__ = __str__


def chunk_scores(
    y_true: Iterable[Sequence[str]], y_pred: Iterable[Sequence[str]], *, raw: bool = False
) -> ChunkScores:
    """Precision, recall and F1 of chunks, as the script of the CoNLL shared tasks counts them.

    A chunk is right if its begin, its end and its type are. A tag is ``O``, or ``B``, ``I``, ``E``
    or ``S``, a hyphen and a type. A chunk goes on from one word to the next if the first tag is B
    or I, the second I or E, and both have the same type. Whatever else is not ``O`` begins a chunk:
    I-NP after O, after E-NP, after I-VP or as the first tag of a sequence too.

    That one reading fits IOB1, IOB2, IOE1, IOE2 and BIOES (IOBES) alike, so none of them has to be
    named, and `y_true` and `y_pred` may differ in theirs. The script itself does not know ``S``: of
    BIOES it counts words that are a chunk each as one chunk where they touch. Its brackets are not
    read.

    Parameters
    ----------
    y_true, y_pred : list of sequences of str
        Sequences of the same lengths. Empty ones are fine.
    raw : bool, default False
        Whether tags are plain types, such as parts of speech: each word but those tagged ``O`` is a
        chunk of its own. The ``-r`` of the script.

    Returns
    -------
    ChunkScores

    References
    ----------
    Tjong Kim Sang & Buchholz 2000, Introduction to the CoNLL-2000 Shared Task: Chunking, section 4.

    Examples
    --------
    >>> found = chunk_scores([["B-NP", "I-NP", "O", "B-NP"]], [["I-NP", "I-NP", "O", "O"]])
    >>> found.precision, found.recall, found.accuracy
    (1.0, 0.5, 0.5)
    """
    right = n_tokens = n_sequences = 0
    counts: dict[str, list[int]] = {}
    of_sequence = _words if _check.flag("raw", raw) else chunks_of
    for tags, guesses in _check.tag_pairs(y_true, y_pred):
        n_sequences += 1
        n_tokens += len(tags)
        right += sum(map(str.__eq__, tags, guesses))
        there, found = set(of_sequence(tags)), set(of_sequence(guesses))
        for place, some in enumerate((there & found, found, there)):
            for chunk in some:
                counts.setdefault(chunk.type, [0, 0, 0])[place] += 1
    by_type = {name: ChunkCounts(*counts[name]) for name in sorted(counts)}
    return ChunkScores(n_sequences, n_tokens, right, by_type)


def chunks_of(tags: Iterable[str]) -> Iterator[Chunk]:
    """The chunks of a sequence of tags in their order.

    Examples
    --------
    >>> list(chunks_of(["I-NP", "I-NP", "B-NP", "O"]))
    [Chunk(begin=0, end=2, type='NP'), Chunk(begin=2, end=3, type='NP')]
    """
    begin, place_before, type_before = 0, _OUTSIDE, ""
    at = -1
    for at, tag in enumerate(tags):
        place, kind = _parted(tag)
        goes_on = place_before in _BEGINNINGS and place in _GOING_ON and kind == type_before
        if not goes_on:
            if place_before != _OUTSIDE:
                yield Chunk(begin, at, type_before)
            begin = at
        place_before, type_before = place, kind
    if place_before != _OUTSIDE:
        yield Chunk(begin, at + 1, type_before)


def _words(tags: Iterable[str]) -> Iterator[Chunk]:
    """Each word as a chunk, but for those outside."""
    return (Chunk(at, at + 1, tag) for at, tag in enumerate(tags) if tag != _OUTSIDE)


def are_chunk_tags(tags: Iterable[str]) -> bool:
    """Whether tags mark chunks, rather than single words."""
    return all(tag == _OUTSIDE or tag.partition("-")[0] in _PLACES for tag in tags)


def _parted(tag: str) -> tuple[str, str]:
    """The place in a chunk and its type, which may have hyphens or be missing."""
    place, _, kind = tag.partition("-")
    if tag != _OUTSIDE and place not in _PLACES:
        raise _check.not_a_chunk_tag(tag)
    return place, kind


def _sum(counts: Iterable[ChunkCounts]) -> ChunkCounts:
    columns = zip(*counts, strict=True)
    return ChunkCounts(*map(sum, columns))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
