"""The position of training in its source: all that is needed to resume it."""

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
    """Where a model's training is in its source, or where it ended.

    Parameters
    ----------
    files : tuple of str
        The file names of the source. Empty for a merged model, which has no position.
    columns : dict
        Which columns were read and how, as keywords of `read.batches`, `read.sentences` or
        `read.groups`.
    number : int
        The pass, from 1.
    place : Place
        Where the next block of this pass begins.
    begin : Place
        Where passes begin: after the part that was learnt before the source grew.
    block, rows : int
        Number of blocks and rows learnt in this pass.
    n_bad : int
        Records of the first pass that were left out because they could not be parsed.
    seed : int
        Decides the order of rows in all passes but the first.
    passes : int
        Total number of passes.
    ended : bool
        Whether this pass has reached the end of the source.
    kept_until : int
        The pass in which records that are kept back are learnt; 0: none are.

    Examples
    --------
    >>> import pandas
    >>> from surelearn import SureTextClassifier
    >>> rows = pandas.DataFrame({"text": ["good film", "bad film"] * 30, "label": [1, 0] * 30})
    >>> position = SureTextClassifier().fit_stream(rows, passes=2).stream_
    >>> position.number, position.rows, position.ended
    (2, 60, True)
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
    kept_until: int = 0

    def after(self, place: Place, rows: int, n_bad: int) -> StreamPosition:
        """The position after a block; an empty block is not counted."""
        return replace(
            self,
            place=place,
            block=self.block + (rows > 0),
            rows=self.rows + rows,
            n_bad=self.n_bad + (n_bad if self.number == 1 else 0),
        )

    def order(self, n: int) -> NDArray[np.int64] | None:
        """The random order of the n records of the next block; None in the first pass."""
        if self.number == 1:
            return None
        return keyed_order([self.seed, self.number, self.block], n)

    def next_pass(self) -> StreamPosition:
        """The start of the next pass."""
        number = self.number + 1
        return replace(self, number=number, place=self.begin, block=0, rows=0, ended=False)

    def going_on(self, source: Source, passes: int, kept_until: int = 0) -> StreamPosition:
        """The position at which to resume in a source, which may have grown.

        After a single pass, the new part continues that pass. After several passes, the new part
        alone gets as many passes.
        """
        now = replace(self, files=tuple(source.names), passes=passes)
        if self.ended and self.number >= passes > 1:
            now = replace(now, number=1, begin=self.place, block=0, rows=0, kept_until=kept_until)
        else:
            now = replace(now, kept_until=self._still_kept(passes, kept_until))
        return replace(now, ended=False)

    def _still_kept(self, passes: int, kept_until: int) -> int:
        """Until when records are kept back: as planned at first, or until an earlier last pass."""
        if self.kept_until <= 1 and kept_until <= 1:  # a single pass leaves none to be learnt
            return kept_until
        is_over = self.kept_until < self.number
        return self.kept_until if is_over else max(min(self.kept_until, passes), self.number)

    def goes_on_in(self, source: Source, passes: int) -> bool:
        """Whether this is a position in `source`: the same files, perhaps followed by others.

        A frame has no name and cannot grow, so after the last pass any frame is a new source.
        """
        if not source.is_named and self.ended and self.number >= passes:
            return False
        names = [os.path.abspath(name) for name in source.names]
        own = [os.path.abspath(name) for name in self.files]
        return source.can_restart and len(own) > 0 and names[: len(own)] == own

    def check_over(self, source: Source) -> None:
        """Raise if training moves to another source before all passes over this one."""
        from_files = STDIN_NAME not in self.files
        if source.can_restart and from_files and not (self.ended and self.number >= self.passes):
            raise ValueError(
                _check.Message(
                    "source must be {files}, which training has not gone through yet, got {name}. "
                    "Go on with that one, or start anew without {resume}.",
                    files=", ".join(self.files),
                    name=source.name,
                    resume=_check.Keyword("resume"),
                )
            )

    def check_in(self, source: Source) -> None:
        """Raise for a file that ends before this position."""
        end = source.end_of(self.place.file)
        if end is not None and end < self.place.at:
            raise BadInput(
                f"{source.names[self.place.file]} must be the file that was read before, got one "
                f"that ends at {end}, before {self.place.at}."
            )

    def plain(self) -> dict[str, Any]:
        """The position as plain values that JSON can hold."""
        return {**asdict(self), "place": list(self.place), "begin": list(self.begin)}

    @classmethod
    def of(cls, fields: Fields) -> StreamPosition:
        """Read the position from the fields of a model file."""
        columns = fields.inner("columns")
        names = _texts(fields.list("files"))
        return cls(
            files=tuple(names),
            columns=_columns_in(columns),
            place=_place_in("place", fields.list("place")),
            begin=_place_in("begin", fields.list("begin")),
            ended=fields.flag("ended"),
            kept_until=fields.integer("kept_until") if fields.has("kept_until") else 0,
            **{name: fields.integer(name) for name in _NUMBERS},
        )


def keyed_order(key: list[int], n: int) -> NDArray[np.int64]:
    """The random order of n records that belongs to a key."""
    return np.random.default_rng(key).permutation(n).astype(np.int64, copy=False)


#: Reading options of a source that are strings.
_WORDS = ("text", "label", "weight", "format", "delimiter", "quote", "encoding", "label_separator")

#: Those that are either true or false.
_FLAGS = ("zero_based", "cross")

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
    return columns | {name: fields.flag(name) for name in _FLAGS if fields.has(name)}


def _texts(values: Sequence[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("names must be texts, got others.")
    return list(values)
