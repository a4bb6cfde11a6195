"""Files of lines, cut into blocks of whole lines; knows no format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surelearn._check import BadInput
from surelearn.read._batch import Batch, Place, Source
from surelearn.read._files import File, Stream

#: Bytes of a block: small enough to stay in a cache, large enough that what is done once a block
#: does not count.
BLOCK = 1 << 20

#: A longer line is taken for a file that is not one of lines.
LONGEST = 1 << 28

_START = Place()

_BOM = b"\xef\xbb\xbf"


#: Looks into whole lines: (lines, name of the file, number of the first line) to a batch.
Reader = Callable[[bytes, str, int], Batch]

#: Where the last whole record of some bytes ends; 0: there is none.
Cut = Callable[[bytes], int]


def after_last_newline(data: bytes) -> int:
    """The cut of formats in which a record is a line."""
    return data.rfind(b"\n") + 1


@dataclass(frozen=True)
class Lines:
    """Whole lines of one file."""

    data: bytes
    name: str
    first: int
    end: Place
    n_bytes: int
    reader: Reader | None = None

    def parse(self) -> Batch:
        assert self.reader is not None
        return self.reader(self.data, self.name, self.first)


class LineSource(Source):
    """Files of lines.

    Parameters
    ----------
    files : list of File
    make_reader : function
        Gives what looks into the lines, from the first ones of the source.
    """

    def __init__(self, files: Sequence[File], make_reader: Callable[[Lines], Any]) -> None:
        super().__init__(files)
        self._make_reader = make_reader
        self._reader: Any = None

    def blocks(self, start: Place | None = None) -> Iterator[Lines]:
        start = start or Place()
        if self.can_restart and self._reader is None:
            # Also where reading goes on midway: what the first lines say holds for all.
            self._reader = self._make_reader(self._head())
        for number, file in enumerate(self.files[start.file :], start=start.file):
            place = start if number == start.file else Place(number)
            for block in lines_of(file, place):
                if self._reader is None:
                    self._reader = self._make_reader(block)
                yield replace(block, reader=self._reader)

    def _head(self) -> Lines:
        """The first lines that there are."""
        for file in self.files:
            for block in lines_of(file):
                if block.data.strip():
                    return block
        raise BadInput(f"{self.name} must have at least one record, got an empty file.")


def lines_of(file: File, start: Place = _START, cut: Cut = after_last_newline) -> Iterator[Lines]:
    """The lines of a file from a place on.

    Where a block ends depends on where it begins alone, so that reading can go on from the end of
    any block and find the same ones.
    """
    stream = file.open()
    try:
        stream.skip(start.at)
        place, before = start, stream.consumed
        for data in _whole_lines(stream, cut):
            first = place.line + 1
            place = Place(start.file, place.at + len(data), place.line + n_lines(data))
            text = data.removeprefix(_BOM) if place.at == len(data) else data
            now = stream.consumed
            yield Lines(text, file.name, first, place, now - before)
            before = now
    finally:
        stream.close()


def n_lines(data: bytes) -> int:
    """Lines that are begun in some bytes."""
    ends = int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
    return ends + (data[-1:] not in (b"", b"\n"))


def _whole_lines(stream: Stream, cut: Cut) -> Iterator[bytes]:
    held, ended = b"", False  # held begins where the next block does
    size = BLOCK  # doubled as long as no line ends in it
    while held or not ended:
        if len(held) < size and not ended:
            part = stream.read(size - len(held))
            ended = not part
            held += part
        end = cut(held[:size])
        if not end and ended and len(held) <= size:
            end = len(held)
        if end:
            yield held[:end]
            held, size = held[end:], BLOCK
        elif len(held) >= size:
            size *= 2
        if size > LONGEST:
            raise BadInput(
                f"{stream.name} must be made of lines, got one of more than {LONGEST >> 20} MiB."
            )
