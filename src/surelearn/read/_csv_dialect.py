"""Delimiters, quotes and newlines of csv; must not know what the columns mean."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from surelearn import _check
from surelearn.read import _lines
from surelearn.read._files import Stream

#: A pattern that never matches.
_NEVER = rb"(?!)"


class CsvDialect:
    """Splits csv into rows and columns.

    Parameters
    ----------
    delimiter : str
        Separates two columns.
    quote : str
        Encloses a column that has delimiters or newlines in it. Empty for a file without quotes.
    """

    def __init__(self, delimiter: str, quote: str = '"') -> None:
        self.delimiter, self.quote = delimiter, quote
        self._mark = quote.encode()
        mark, q = re.escape(delimiter.encode()), re.escape(self._mark)
        # Inside quotes, a doubled quote is a quote. All repeats are possessive: without
        # backtracking, matching takes linear time.
        inside = rb"[^%b]*+(?:%b%b[^%b]*+)*+" % (q, q, q, q)
        # The lookbehind: a quote counts only at the start of a column.
        within = rb"%b(?<![^%b\r\n]%b)%b%b?+" % (q, mark, q, inside, q)
        self._quoted = re.compile(within if quote else _NEVER)
        self._end = re.compile(rb"\r\n|\r|\n")
        column = rb"%b(%b)%b?+" % (q, inside, q) if quote else rb"(%b)" % _NEVER
        self._field = re.compile(rb"(?:\A|%b)(?:%b)?+([^%b]*+)" % (mark, column, mark))

    def split(self, stream: Stream) -> Iterator[bytes]:
        """Blocks of whole rows of a stream."""
        held, ended = b"", False  # held: bytes that were read and not yet yielded
        size = _lines.BLOCK  # doubled while no row ends in it
        while held or not ended:
            if len(held) < size and not ended:
                part = stream.read(size - len(held))
                held += part
                ended = not part or (stream.is_patient and len(held) < size)
            end = len(held) if ended and len(held) <= size else self.cut(held[:size])
            if end:
                yield held[:end]
                held, size = held[end:], _lines.BLOCK
            elif len(held) >= size:
                size *= 2
            if size > _lines.LONGEST:
                raise _check.BadInput(
                    _check.Message(
                        "{name} must be made of rows, got one of more than {most} MiB. Look for an "
                        "unclosed quote, or use {quote}.",
                        name=stream.name,
                        most=_lines.LONGEST >> 20,
                        quote=_check.Keyword("quote", ""),
                    )
                )

    def cut(self, data: bytes) -> int:
        """The end of the last whole row."""
        end = data.rfind(b"\n")
        if self._mark and self._mark in data:
            spans = self._spans(data)
            while end >= 0 and (span := _around(spans, end)) is not None:
                end = data.rfind(b"\n", 0, span[0])
        return end + 1

    def rows(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Start and end of each row that is not empty, without its newline."""
        spans = self._spans(data)
        begin = 0
        for match in self._end.finditer(data):
            if _around(spans, match.start()) is None:
                if match.start() > begin:
                    yield begin, match.start()
                begin = match.end()
        if begin < len(data):
            yield begin, len(data)

    def fields(self, row: bytes) -> list[bytes]:
        """The columns of a row."""
        found = (match.groups() for match in self._field.finditer(row))
        twice, once = 2 * self._mark, self._mark
        return [(inside or b"").replace(twice, once) + plain for inside, plain in found]

    def _spans(self, data: bytes) -> list[tuple[int, int]]:
        """Start and end of each quoted part."""
        return [match.span() for match in self._quoted.finditer(data)]


def _around(spans: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    """The span that contains a position, if any."""
    i = bisect_right(spans, (at, at)) - 1
    return spans[i] if i >= 0 and at < spans[i][1] else None
