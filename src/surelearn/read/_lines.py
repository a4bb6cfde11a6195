"""Cuts files into blocks of whole lines; must not know any format."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surelearn import _core
from surelearn._check import BadInput, NoRecords
from surelearn.read._batch import Batch, Place, Sentences, Source
from surelearn.read._encoding import not_utf16
from surelearn.read._files import File, Stream

#: Bytes of a block: small enough for the cache, large enough that the cost of a block is spread
#: over many rows.
BLOCK = 1 << 21

#: A file with a longer line is refused: it is no file of lines.
LONGEST = 1 << 26

_START = Place()

#: Bytes before a place that must be unchanged when reading continues from it.
_LOOKED = 4096

#: The byte order mark of UTF-8, which some editors write at the start of a file.
BOM = b"\xef\xbb\xbf"

_BLANK_LINE = re.compile(rb"\n[ \t\r]*+\n")

#: Parses whole lines: (lines, name of the file, number of the first line) to a batch.
Reader = Callable[[bytes, str, int], Batch]

_FILLED_LINE = re.compile(rb"^[^\n]*\S[^\n]*", re.MULTILINE)

#: Cuts a stream into pieces of whole records. The end of a piece may depend only on its start.
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
    #: Start and end of each row; by default of each line that is not blank.
    rows: Callable[[bytes], Iterable[tuple[int, int]]] = lambda data: (
        line.span() for line in _FILLED_LINE.finditer(data)
    )

    def parse(self) -> Batch:
        assert self.reader is not None
        return self.reader(self.data, self.name, self.first)

    def before(self, n: int) -> Lines:
        """A block of the first n lines."""
        data = b"".join(line + b"\n" for line in self.data.split(b"\n", n)[:n])
        at = self.end.at - (len(self.data) - len(data))
        end = Place(self.end.file, at, self.first - 1 + n, _mark(data))
        return replace(self, data=data, end=end)

    def numbers(self, batch: Batch) -> Sequence[int]:
        assert self.reader is not None
        if isinstance(batch, Sentences):
            assert batch.written is not None
            return [self.first + words[0] for words in batch.written.words]
        begins = list(self.rows(self.data))
        if len(begins) != len(batch):  # bad records were skipped
            begins = [(a, b) for a, b in begins if len(self.reader(self.data[a:b], self.name, 1))]
        newline = 10 if b"\n" in self.data else 13  # a csv file of old has carriage returns alone
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == newline)
        before = np.searchsorted(ends, [begin for begin, _ in begins])
        found: list[int] = (self.first + before).tolist()
        return found


class LineSource(Source):
    """Files of lines.

    Parameters
    ----------
    files : list of File
    make_reader : function
        Returns the parser of the lines, given the first lines of the source.
    split : function, optional
        Cuts a file into blocks. By default a block may end after any line.
    """

    can_grow = True

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

    def blocks(
        self, start: Place | None = None, ends: Mapping[int, int] | None = None
    ) -> Iterator[Lines]:
        start = start or Place()
        if self.can_restart and self._reader is None:
            # Also when reading continues midway: the first lines decide the types of all lines.
            self._look(self._head())
        for number, file in enumerate(self.files[start.file :], start=start.file):
            place = start if number == start.file else Place(number)
            for block in lines_of(file, place, self._split, (ends or {}).get(number)):
                if self._reader is None:
                    if not block.data.strip():
                        continue  # blank lines say nothing about the format: wait for more
                    self._look(block)
                yield replace(block, reader=self._reader)

    def _look(self, head: Lines) -> None:
        self._reader = self._make_reader(head)
        self._columns = self._reader.columns

    def _head(self) -> Lines:
        """The first block that is not blank."""
        for file in self.files:
            for block in lines_of(file, split=self._split):
                if block.data.strip():
                    return block
        raise NoRecords(self.name, got="an empty file")


def whole_lines(stream: Stream) -> Iterator[bytes]:
    """Blocks of whole lines of a stream."""
    rest: list[bytes] = []  # pieces of a line that has not ended yet
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
        # Fill up to a whole block counted from its start, so that its end depends on that alone.
        wanted = BLOCK - size if size < BLOCK else BLOCK
        if size > LONGEST:
            raise BadInput(
                f"{stream.name} must be made of lines, got one of more than {LONGEST >> 20} MiB."
            )
    if size:
        yield b"".join(rest)


def whole_records(
    stream: Stream, last_end: Callable[[bytes, int], int], *, made_of: str, parts: int = 1
) -> Iterator[bytes]:
    """Blocks of whole records of several lines.

    Parameters
    ----------
    stream : Stream
    last_end : function
        Returns the end of the last whole record of some bytes; 0 if there is none. It is also told
        how many of the bytes it has seen before, without an end among them.
    made_of : str
        What the file must be made of, for the error if a record is too long.
    parts : int
        The number of blocks that have the usual size together.
    """
    block = max(BLOCK // parts, 1)
    rest = b""
    seen = 0
    wanted = block
    while part := stream.read(wanted):
        ended = stream.is_patient and len(part) < wanted
        rest += part
        cut = len(rest) if ended else last_end(rest, seen)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
        seen = 0 if cut else len(rest)
        # Fill up to a whole block counted from its start, so that its end depends on that alone.
        wanted = block - len(rest) if len(rest) < block else block
        if len(rest) > LONGEST:
            raise BadInput(
                f"{stream.name} must be made of {made_of}, got one of more than "
                f"{LONGEST >> 20} MiB."
            )
    if rest:
        yield rest


def last_blank_line(data: bytes) -> int:
    """The end of the last blank line but a first one; 0 if there is none."""
    plain = data.rfind(b"\n\n") + 2
    if plain > 1:
        return plain
    return max((found.end() for found in _BLANK_LINE.finditer(data)), default=0)


def _mark(data: bytes) -> int:
    """A fingerprint of the last bytes, see `Place.mark`."""
    end = data[-_LOOKED:]
    return len(end) << 32 | zlib.crc32(end)


def _go_on(stream: Stream, start: Place) -> None:
    """Skip what is before a place, and check that it has not changed."""
    looked = start.mark >> 32
    stream.skip(start.at - looked)
    if looked and _mark(stream.read(looked)) != start.mark:
        raise BadInput(
            f"{stream.name} must be the file that was read before, got one that differs before "
            f"line {start.line + 1}."
        )


class _Shorter(Stream):
    """A stream that ends after some bytes, although the file has more."""

    def __init__(self, stream: Stream, size: int) -> None:
        self.name, self.is_patient = stream.name, stream.is_patient
        self._whole, self._left = stream, size

    @property
    def consumed(self) -> int:
        return self._whole.consumed

    def read(self, size: int) -> bytes:
        part = self._whole.read(min(size, self._left))
        self._left -= len(part)
        return part

    def close(self) -> None:
        self._whole.close()


def lines_of(
    file: File, start: Place = _START, split: Split = whole_lines, end: int | None = None
) -> Iterator[Lines]:
    """Blocks of a file from a place on, up to its end or to that `at`.

    The end of a block depends only on its start, so reading can continue from the end of any block
    and gives the same blocks.
    """
    stream = file.open()
    try:
        _go_on(stream, start)
        if end is not None:
            stream = _Shorter(stream, end - start.at)
        place, before = start, stream.consumed
        for data in split(stream):
            first = place.line + 1
            n_lines = _core.count_newlines(data)
            n_lines += not data.endswith(b"\n")
            at = place.at + len(data)
            place = Place(start.file, at, place.line + n_lines, _mark(data))
            text = data.removeprefix(BOM) if place.at == len(data) else data
            if place.at == len(data) and file.encoding is None:
                not_utf16(data, file.name)
            now = stream.consumed
            yield Lines(text, file.name, first, place, now - before)
            before = now
    finally:
        stream.close()
