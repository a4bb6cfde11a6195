"""Scores of chunks in tagged sequences, counted like conlleval; must not know taggers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surelearn import _check
from surelearn.scores._decisions import DecisionScores
from surelearn.scores._result import Scores
from surelearn.table import Table

_OUTSIDE = "O"
#: The first letter of a tag is the position of a token in its chunk. A chunk continues from one of
#: the first tuple to one of the second.
_BEGINNINGS, _GOING_ON = ("B", "I"), ("I", "E")
_PLACES = {"B", "I", "E", "S"}


class Chunk(NamedTuple):
    """The tokens of a sequence from `begin` up to `end`, without `end`."""

    begin: int
    end: int
    type: str


class ChunkCounts(NamedTuple):
    """Counts of chunks, and the scores that follow from them.

    Parameters
    ----------
    correct, found, support : int
        Number of chunks predicted with the right start, end and type; of predicted chunks; of true
        chunks.

    Examples
    --------
    >>> counts = ChunkCounts(correct=8, found=10, support=16)
    >>> counts.precision, counts.recall
    (0.8, 0.5)
    """

    correct: int = 0
    found: int = 0
    support: int = 0

    @property
    def precision(self) -> float:
        """The share of predicted chunks that are right; 0 if none was predicted."""
        return _share(self.correct, self.found)

    @property
    def recall(self) -> float:
        """The share of true chunks that were predicted; 0 if there are none."""
        return _share(self.correct, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.correct, self.found + self.support)


@dataclass(frozen=True, repr=False)
class ChunkScores:
    """Scores of chunks, as returned by `chunk_scores`. Two of them can be added.

    Attributes
    ----------
    n_sequences, n_tokens, n_right : int
        Number of sequences, of tags, and of right tags.
    by_type : dict of {str: ChunkCounts}
        Sorted by type, each with ``precision``, ``recall``, ``f1``, ``correct``, ``found`` and
        ``support``.
    overall : ChunkCounts
        The same over all types.
    n_bad : int
        Number of sequences skipped because they could not be parsed.
    decisions : DecisionScores or None
        Risk against coverage, by sentence, and the promises and sets of the tagger, if it has any
        or if a risk was asked for. A sum of scores has none.
    precision, recall, f1 : float
        Those of ``overall``.
    accuracy : float
        The share of right tags, inside and outside of chunks.

    Examples
    --------
    >>> scores = chunk_scores([["B-NP", "I-NP"]], [["B-NP", "I-NP"]])
    >>> (scores + scores).by_type
    {'NP': ChunkCounts(correct=2, found=2, support=2)}
    """

    n_sequences: int = 0
    n_tokens: int = 0
    n_right: int = 0
    by_type: Mapping[str, ChunkCounts] = field(default_factory=dict)
    n_bad: int = 0
    decisions: DecisionScores | None = None

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
        """The scores over the sequences of both."""
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
        """A table of precision, recall, F1, support and predicted chunks, one line a type."""
        names = ("precision", "recall", "f1", "support", "found")
        rows = self.by_type.values()
        return Scores(
            {
                "type": np.array(list(self.by_type), dtype=str),
                **{name: np.array([getattr(row, name) for row in rows]) for name in names},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values that JSON can hold."""
        names = ("n_sequences", "n_bad", "n_tokens", "accuracy", "precision", "recall", "f1")
        return {
            **{name: getattr(self, name) for name in names},
            **self.overall._asdict(),
            "by_type": [row._asdict() for row in self.table()],
            **({} if self.decisions is None else self.decisions.to_dict()),
        }

    def __str__(self) -> str:
        chunks = self.overall
        skipped = f" ({self.n_bad:,} skipped as bad)" if self.n_bad else ""
        lines = [
            f"{self.n_tokens:,} tokens of {self.n_sequences:,} sequences{skipped} with "
            f"{chunks.support:,} chunks; found {chunks.found:,}, right {chunks.correct:,}",
            "",
        ]
        for name in ("accuracy", "precision", "recall", "f1"):
            lines.append(f"{'F1' if name == 'f1' else name:<18} {getattr(self, name):.4f}")
        text = "\n".join([*lines, "", str(self.table())] if self.by_type else lines)
        more = "" if self.decisions is None else f"\n\nDecisions by sentence:\n{self.decisions}"
        return text + more

    __repr__ = __str__


def chunk_scores(
    y_true: Iterable[Sequence[str]], y_pred: Iterable[Sequence[str]], *, raw: bool = False
) -> ChunkScores:
    """Precision, recall and F1 of chunks, counted like the script of the CoNLL shared tasks.

    A chunk is right if its start, its end and its type are right. A tag is ``O``, or one of ``B``,
    ``I``, ``E`` and ``S`` followed by a hyphen and a type. A chunk continues from one token to the
    next if the first tag is B or I, the second is I or E, and both have the same type. Any other
    tag but ``O`` begins a chunk; so does I-NP after O, after E-NP, after I-VP or as the first tag.

    These rules fit IOB1, IOB2, IOE1, IOE2 and BIOES (IOBES), so the scheme need not be named, and
    `y_true` and `y_pred` may use different ones. There are two differences from the script: it does
    not know ``S``, and counts adjacent single-token chunks of BIOES as one chunk; and its bracket
    tags are not supported here.

    Parameters
    ----------
    y_true, y_pred : list of sequences of str
        Sequences of the same lengths, which may be empty.
    raw : bool, default False
        Whether tags are plain types, such as parts of speech. Then each token not tagged ``O`` is
        a chunk. This is the option ``-r`` of the script.

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
    for tags, guesses in _pairs(y_true, y_pred):
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
    """The chunks of a sequence of tags, in order.

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
    """Each token as a chunk, except those tagged O."""
    return (Chunk(at, at + 1, tag) for at, tag in enumerate(tags) if tag != _OUTSIDE)


def are_chunk_tags(tags: Iterable[str]) -> bool:
    """Whether tags mark chunks, rather than single tokens."""
    return all(tag == _OUTSIDE or tag.partition("-")[0] in _PLACES for tag in tags)


def _parted(tag: str) -> tuple[str, str]:
    """The position in a chunk, and the type, which may contain hyphens or be missing."""
    place, _, kind = tag.partition("-")
    if tag != _OUTSIDE and place not in _PLACES:
        raise ValueError(
            f"tags must be 'O', or B, I, E or S, a hyphen and a type, such as 'B-NP', got {tag!r}. "
            "Use raw=True for tags that mark no chunks."
        )
    return place, kind


def _sum(counts: Iterable[ChunkCounts]) -> ChunkCounts:
    columns = zip(*counts, strict=True)
    return ChunkCounts(*map(sum, columns))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _pairs(y_true: Iterable[Any], y_pred: Iterable[Any]) -> Iterator[tuple[list[str], list[str]]]:
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
