"""A source without some random records, which it keeps; must not know what these are for.

Each record has a random number, and those below the share of its block are withheld. The share is a
fifth, and falls where more than `MOST` records would be kept. The sample are the records below the
share of the last block: a simple random sample, none of which was ever given away. Numbers and
shares follow from the places of blocks alone, so that they are the same in each pass and whatever
the threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.read._batch import Batch, Block, Place, Source

#: The largest share of the records that is withheld, and the most records that are kept.
SHARE, MOST = 0.2, 20_000

#: Part of the key of the random numbers, to tell them from others with the same seed.
_KEY = 39


class _Kept(NamedTuple):
    """Withheld records of one block, and their random numbers."""

    drawn: NDArray[np.float64]
    records: Batch


class Withheld(Source):
    """The records of a source but for some random ones, the same in each pass.

    Records of weight 0 are never withheld.

    Parameters
    ----------
    source : Source
        It is read from its beginning.
    seed : int

    Examples
    --------
    >>> import pandas
    >>> from surelearn.read import batches
    >>> frame = pandas.DataFrame({"text": [f"text {i}" for i in range(9)], "label": [0, 1, 2] * 3})
    >>> source = Withheld(batches(frame), seed=0)
    >>> [len(batch) for batch in source], source.sample().X.to_pylist()
    ([7], ['text 2', 'text 3'])
    """

    def __init__(self, source: Source, seed: int) -> None:
        super().__init__(source.parts)
        self.can_grow, self.may_list = source.can_grow, source.may_list
        self._source, self._seed = source, seed
        self._lock = Lock()
        self._n_lines = 0  # of all blocks so far
        self._of_line: float | None = None  # records a line, in the first block that has any
        self._shares: dict[Place, float] = {}  # by the end of the block
        self._read: set[Place] = set()  # the blocks whose records have been kept
        self._kept: dict[Place, _Kept] = {}
        self._n_kept = 0
        self._last = SHARE

    @property
    def columns(self) -> dict[str, Any]:
        """The columns and settings, as keywords of the reader; known after the first block."""
        return self._source.columns

    @property
    def ignored(self) -> list[str]:
        """Names of the columns that are not read; known after the first block."""
        return self._source.ignored

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the numeric columns; None for texts and for columns without names."""
        return self._source.feature_names

    def end_of(self, file: int) -> int | None:
        """The largest `at` of a place in this file; None if that takes a pass over the file."""
        return self._source.end_of(file)

    def joined(self, parts: Sequence[Batch]) -> Batch:
        """Several batches as one."""
        return self._source.joined(parts)

    def blocks(
        self, start: Place | None = None, ends: Mapping[int, int] | None = None
    ) -> Iterator[Block]:
        """The blocks from a place on, without what is withheld."""
        before = start or Place()
        for block in self._source.blocks(start, ends):
            end = block.end
            n_lines = max(1, end.line - (before.line if before.file == end.file else 0))
            if end not in self._shares:
                self._n_lines += n_lines
                self._last = min(self._last, MOST / max(1.0, self._expected()))
                self._shares[end] = self._last
            before = end
            yield _Rest(block, self, end, n_lines)

    def _expected(self) -> float:
        """How many records there are up to the last block that was drawn."""
        return 0.0 if self._of_line is None else self._of_line * self._n_lines

    def left_out(self, records: Batch, place: Place, n_lines: int) -> NDArray[np.bool_]:
        """Which records of the block that ends at a place are withheld; they are kept."""
        key = [self._seed, place.file, place.at, _KEY]
        drawn = np.random.default_rng(key).random(len(records))
        out = drawn < self._shares[place]
        if records.weight is not None:
            out &= records.weight != 0
        with self._lock:
            if self._of_line is None and len(records):
                self._of_line = len(records) / n_lines
            if out.any() and place not in self._read:  # or this is a later pass
                some = np.flatnonzero(out)
                self._read.add(place)
                self._kept[place] = _Kept(drawn[some], records[some])
                self._n_kept += len(some)
                if self._n_kept > 2 * MOST:
                    self._keep_smallest()
        return out

    def _keep_smallest(self) -> None:
        """Drop all but the `MOST` records of the smallest numbers."""
        drawn = np.concatenate([part.drawn for part in self._kept.values()])
        self._keep_below(float(np.partition(drawn, MOST)[MOST]))

    def _keep_below(self, limit: float) -> None:
        for place, (drawn, records) in list(self._kept.items()):
            some = np.flatnonzero(drawn < limit)
            if not len(some):
                del self._kept[place]
            elif len(some) < len(drawn):
                self._kept[place] = _Kept(drawn[some], records[some])
        self._n_kept = sum(len(part.drawn) for part in self._kept.values())

    def sample(self) -> Batch | None:
        """A simple random sample of the records, in their order; None if there are none."""
        with self._lock:
            self._keep_below(self._last)
            if self._n_kept > MOST:
                self._keep_smallest()
            parts = [self._kept[place].records for place in sorted(self._kept)]
        return self.joined(parts) if parts else None


@dataclass(frozen=True)
class _Rest:
    """A block without the records that are withheld."""

    block: Block
    source: Withheld
    place: Place  # its end, also where only the first records are read
    n_lines: int

    @property
    def end(self) -> Place:
        return self.block.end

    @property
    def n_bytes(self) -> int:
        return self.block.n_bytes

    def parse(self) -> Batch:
        records = self.block.parse()
        out = self.source.left_out(records, self.place, self.n_lines)
        return records[np.flatnonzero(~out)] if out.any() else records

    def before(self, n: int) -> _Rest:
        """A block of the first n lines."""
        return replace(self, block=self.block.before(n))

    def numbers(self, batch: Batch) -> Sequence[int]:
        whole = self.block.parse()
        out = self.source.left_out(whole, self.place, self.n_lines)
        numbers = zip(self.block.numbers(whole), out, strict=True)
        return [number for number, is_out in numbers if not is_out]
