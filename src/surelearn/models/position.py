"""How far training from a source has come: all that is needed to go on with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.files import Fields
from surelearn.read import STDIN_NAME, BadInput, Place, Source


@dataclass(frozen=True)
class StreamPosition:
    """Where in its source a model's training is, or has ended.

    Parameters
    ----------
    files : tuple of str
        The source, by the names of its files. None: what was merged is in no place of any.
    columns : dict
        Which columns were read and how, by the keywords of `read.batches` or `read.sentences`.
    number : int
        The pass, from 1.
    place : Place
        Where the next block of this pass begins.
    begin : Place
        Where passes begin: after what had been gone through before a source grew.
    block, rows : int
        Blocks and rows of this pass that are learnt.
    n_bad : int
        Records of the first pass that were left out because they could not be read.
    seed : int
        Decides the order of rows in all passes but the first.
    passes : int
        How many passes there are to be.
    ended : bool
        Whether this pass has come to the end of the source.
    """

    files: tuple[str, ...]
    columns: dict[str, Any] = field(default_factory=dict)
    number: int = 1
    place: Place = field(default_factory=Place)
    begin: Place = field(default_factory=Place)
    block: int = 0
    rows: int = 0
    n_bad: int = 0
    seed: int = 0
    passes: int = 1
    ended: bool = False

    def after(self, place: Place, rows: int, n_bad: int) -> StreamPosition:
        """One block later; one without rows does not count as one."""
        return replace(
            self,
            place=place,
            block=self.block + (rows > 0),
            rows=self.rows + rows,
            n_bad=self.n_bad + (n_bad if self.number == 1 else 0),
        )

    def order(self, n: int) -> NDArray[np.int64] | None:
        """An order of the n records of the next block: a new one in each pass but the first."""
        if self.number == 1:
            return None
        key = [self.seed, self.number, self.block]
        return np.random.default_rng(key).permutation(n).astype(np.int64, copy=False)

    def next_pass(self) -> StreamPosition:
        """At the begin of the next pass."""
        number = self.number + 1
        return replace(self, number=number, place=self.begin, block=0, rows=0, ended=False)

    def going_on(self, source: Source, passes: int) -> StreamPosition:
        """Where to go on in a source.

        After several passes what has been added since is gone through as often, by itself; after
        one it is as if it had been there.
        """
        now = replace(self, files=tuple(source.names), passes=passes)
        if self.ended and self.number >= passes > 1:
            now = replace(now, number=1, begin=self.place, block=0, rows=0)
        return replace(now, ended=False)

    def goes_on_in(self, source: Source, passes: int) -> bool:
        """Whether this is a place in a source: the same files, perhaps with others after them.

        A frame has no name, and cannot have grown: after all passes it must be another one.
        """
        if not source.is_named and self.ended and self.number >= passes:
            return False
        names = [os.path.abspath(name) for name in source.names]
        own = [os.path.abspath(name) for name in self.files]
        return source.can_restart and len(own) > 0 and names[: len(own)] == own

    def check_over(self, source: Source) -> None:
        """Refuse another source before this one has been gone through."""
        from_files = STDIN_NAME not in self.files
        if source.can_restart and from_files and not (self.ended and self.number >= self.passes):
            raise ValueError(
                _check.Said(
                    "source must be {files}, which training has not gone through yet, got {name}. "
                    "Go on with that one, or start anew without {resume}.",
                    files=", ".join(self.files),
                    name=source.name,
                    resume=_check.Keyword("resume"),
                )
            )

    def check_in(self, source: Source) -> None:
        """Refuse a file that ends before the place."""
        end = source.end_of(self.place.file)
        if end is not None and end < self.place.at:
            raise BadInput(
                f"{source.names[self.place.file]} must be the file that was read before, got one "
                f"that ends at {end}, before {self.place.at}."
            )

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "place": list(self.place), "begin": list(self.begin)}

    @classmethod
    def of(cls, fields: Fields) -> StreamPosition:
        """From a file."""
        columns = fields.inner("columns")
        names = _texts(fields.list("files"))
        return cls(
            files=tuple(names),
            columns=_columns_in(columns),
            place=_place_in("place", fields.list("place")),
            begin=_place_in("begin", fields.list("begin")),
            ended=fields.flag("ended"),
            **{name: fields.integer(name) for name in _NUMBERS},
        )


def put_columns(merged: Any, fitted: Sequence[Any]) -> None:
    """Give a merged estimator what all that have read a source agree on: columns, delimiters."""
    read = [model.stream_.columns for model in fitted if hasattr(model, "stream_")]
    first, *others = read or [{}]
    agreed = {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
    if agreed:
        merged.stream_ = StreamPosition((), agreed, ended=True)


#: What is remembered of how a source was read, and is a text.
_WORDS = ("text", "label", "weight", "format", "delimiter", "quote", "encoding")

_NUMBERS = ("number", "block", "rows", "n_bad", "seed", "passes")


def _place_in(name: str, numbers: list[Any]) -> Place:
    if len(numbers) != len(Place()):
        raise ValueError(f"{name} must have {len(Place())} numbers, got {len(numbers)}.")
    return Place(*(_check.count(name, x, least=0) for x in numbers))


def _columns_in(fields: Fields) -> dict[str, Any]:
    columns: dict[str, Any] = {name: fields.text(name) for name in _WORDS if fields.has(name)}
    for name in ("features", "columns"):
        if fields.has(name):
            columns[name] = _texts(fields.list(name))
    if fields.has("zero_based"):
        columns["zero_based"] = fields.flag("zero_based")
    return columns


def _texts(values: Sequence[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("names must be texts, got others.")
    return list(values)
