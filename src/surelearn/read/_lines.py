"""Files of lines, cut into blocks of whole lines; knows no format."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surelearn import _check
from surelearn._check import BadInput, NoRecords
from surelearn.read._batch import Batch, Place, Source
from surelearn.read._files import File, Stream

#: Bytes of a block: small enough to stay in a cache, large enough that what is done once a block
#: does not count.
BLOCK = 1 << 21

#: A longer line is taken for a file that is not one of lines.
LONGEST = 1 << 26

_START = Place()

#: Bytes before a place that must be the same when reading goes on from it.
_LOOKED = 4096

#: What some editors put before a text.
BOM = b"\xef\xbb\xbf"


#: Looks into whole lines: (lines, name of the file, number of the first line) to a batch.
Reader = Callable[[bytes, str, int], Batch]

#: Gives the whole records of a stream, some at a time. Where a piece ends may depend on where it
#: begins alone.
Split = Callable[[Stream], Iterator[bytes]]


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

    def before(self, n: int) -> Lines:
        """The first n lines of them."""
        data = b"".join(line + b"\n" for line in self.data.split(b"\n", n)[:n])
        at = self.end.at - (len(self.data) - len(data))
        end = Place(self.end.file, at, self.first - 1 + n, _mark(data))
        return replace(self, data=data, end=end)


class LineSource(Source):
    """Files of lines.

    Parameters
    ----------
    files : list of File
    make_reader : function
        Gives what looks into the lines, from the first ones of the source.
    split : function, optional
        Where blocks end. Default: after any line.
    """

    def __init__(
        self,
        files: Sequence[File],
        make_reader: Callable[[Lines], Any],
        split: Split | None = None,
    ) -> None:
        super().__init__(files)
        self.files = list(files)
        self._make_reader = make_reader
        self._split = split or whole_lines
        self._reader: Any = None

    def end_of(self, file: int) -> int | None:
        found = self.files[file]
        return found.size if found.compression is None and found.encoding is None else None

    def blocks(self, start: Place | None = None) -> Iterator[Lines]:
        start = start or Place()
        if self.can_restart and self._reader is None:
            # Also where reading goes on midway: what the first lines say holds for all.
            self._look(self._head())
        for number, file in enumerate(self.files[start.file :], start=start.file):
            place = start if number == start.file else Place(number)
            for block in lines_of(file, place, self._split):
                if self._reader is None:
                    if not block.data.strip():
                        continue  # what decides how to read may still arrive
                    self._look(block)
                yield replace(block, reader=self._reader)

    def _look(self, head: Lines) -> None:
        self._reader = self._make_reader(head)
        self._columns = self._reader.columns

    def _head(self) -> Lines:
        """The first lines that there are."""
        for file in self.files:
            for block in lines_of(file, split=self._split):
                if block.data.strip():
                    return block
        raise NoRecords(self.name, got="an empty file")


def whole_lines(stream: Stream) -> Iterator[bytes]:
    """The whole lines of a stream, some at a time."""
    rest: list[bytes] = []  # of a line that has not ended yet
    size = 0
    wanted = BLOCK
    while part := stream.read(wanted):
        ended = stream.is_patient and len(part) < wanted
        cut = len(part) if ended else part.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, memoryview(part)[:cut]])
            rest, size = [], 0
        rest.append(part[cut:])
        size += len(part) - cut
        wanted = BLOCK - size if size < BLOCK else BLOCK
        if size > LONGEST:
            raise BadInput(
                f"{stream.name} must be made of lines, got one of more than {LONGEST >> 20} MiB."
            )
    if size:
        yield b"".join(rest)


def _mark(data: bytes) -> int:
    """Tells the end of some bytes from that of others."""
    end = data[-_LOOKED:]
    return len(end) << 32 | zlib.crc32(end)


def _go_on(stream: Stream, start: Place) -> None:
    """Pass over what is before a place, which must be what it was."""
    looked = start.mark >> 32
    stream.skip(start.at - looked)
    if looked and _mark(stream.read(looked)) != start.mark:
        raise BadInput(
            f"{stream.name} must be the file that was read before, got one that differs before "
            f"line {start.line + 1}."
        )


def lines_of(file: File, start: Place = _START, split: Split = whole_lines) -> Iterator[Lines]:
    """The lines of a file from a place on.

    Where a block ends depends on where it begins alone, so that reading can go on from the end of
    any block and find the same ones.
    """
    stream = file.open()
    try:
        _go_on(stream, start)
        place, before = start, stream.consumed
        for data in split(stream):
            first = place.line + 1
            n_lines = int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
            n_lines += not data.endswith(b"\n")
            at = place.at + len(data)
            place = Place(start.file, at, place.line + n_lines, _mark(data))
            text = data.removeprefix(BOM) if place.at == len(data) else data
            if place.at == len(data) and file.encoding is None:
                _check.narrow(data, file.name)
            now = stream.consumed
            yield Lines(text, file.name, first, place, now - before)
            before = now
    finally:
        stream.close()
