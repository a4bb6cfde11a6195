"""csv and tsv: finds the columns and cuts files into blocks of whole rows.

A row is a line, unless a newline is inside quotes. Quotes count only at the start of a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from surelearn import _check
from surelearn._check import BadInput, Keyword, Message, NoRecords
from surelearn.read._batch import Place, Source
from surelearn.read._columns import Columns, ColumnSpec, shown, there
from surelearn.read._csv_rows import (
    NUMBER,
    CsvDialect,
    CsvRows,
    Header,
    kind_of_column,
    kind_of_labels,
)
from surelearn.read._encoding import not_utf8
from surelearn.read._files import File
from surelearn.read._lines import Lines, lines_of

#: Common delimiters.
_DELIMITERS = (";", "\t", "|", ",")


class CsvSource(Source):
    """csv or tsv files, each with a header.

    Parameters
    ----------
    files : list of File
    wanted : ColumnSpec
    dialect : CsvDialect
    skip_bad : bool
    """

    can_grow = True
    _columns: Columns | None = None

    def __init__(
        self, files: Sequence[File], wanted: ColumnSpec, *, dialect: CsvDialect, skip_bad: bool
    ) -> None:
        super().__init__(files)
        self.may_list = wanted.separator is not None
        self.files = list(files)
        self._wanted = wanted
        self._dialect = dialect
        self._skip_bad = skip_bad

    def blocks(
        self, start: Place | None = None, ends: Mapping[int, int] | None = None
    ) -> Iterator[Lines]:
        start = start or Place()
        if self.can_restart and self._columns is None:
            # Also when reading continues midway: the first rows decide the types of all rows.
            blocks = (block for file in self.files for block in self._rows_of(file, Place()))
            if (first := next(blocks, None)) is None:
                raise NoRecords(self.name)
            self._columns = self._look(*first)
        for number, file in enumerate(self.files[start.file :], start=start.file):
            place = start if number == start.file else Place(number)
            for header, block in self._rows_of(file, place, (ends or {}).get(number)):
                if self._columns is None:
                    self._columns = self._look(header, block)
                there(self._columns.all_names, header.names, file.name)
                reader = CsvRows(
                    header,
                    self._columns,
                    self._dialect,
                    separator=self._wanted.separator,
                    skip_bad=self._skip_bad,
                )
                yield replace(block, reader=reader, rows=self._dialect.rows)
        if self._columns is None:
            raise NoRecords(self.name)

    def _rows_of(
        self, file: File, place: Place, end: int | None = None
    ) -> Iterator[tuple[Header, Lines]]:
        """Blocks of rows without the header, each with the header."""
        header: Header | None = None
        if place.at:  # midway in the file: the header is at its start
            header, _ = next(self._rows_of(file, Place(place.file)), (Header([], None), None))
        for block in lines_of(file, place, self._dialect.split, end):
            if header is None:
                header, block = self._split_header(block, file.encoding)
            if header is not None and block.data.strip(b"\r\n"):
                yield header, block

    def _split_header(self, block: Lines, encoding: str | None) -> tuple[Header | None, Lines]:
        """The header, which is the first row of a block, and the block without it."""
        for begin, end in self._dialect.rows(block.data):
            fields = self._dialect.fields(block.data[begin:end])
            for name in fields:
                if not _check.is_utf8(name):
                    line = block.first + block.data.count(b"\n", 0, begin)
                    where, wrong = (
                        f"{block.name}, line {line}",
                        not_utf8(name, encoding, shown(name)),
                    )
                    raise BadInput(Message("{where}: {wrong}", where=where, wrong=wrong))
            names = [name.decode() for name in fields]
            if len(names) == 1 and names[0] not in self._wanted.given:
                _refuse_delimiter(block.name, names[0], self._dialect.delimiter)
            # The newline after the header stays in the block, as an empty first line.
            first = block.first + block.data.count(b"\n", 0, end)
            return Header(names, encoding), replace(block, data=block.data[end:], first=first)
        return None, block

    def _look(self, header: Header, block: Lines) -> Columns:
        """Choose the columns and the kind of labels, from the first rows."""
        names = header.names
        split = [self._dialect.fields(block.data[a:b]) for a, b in self._dialect.rows(block.data)]
        rows = [row for row in split if len(row) == len(names) and not header.is_again(row)]
        values = dict(zip(names, zip(*rows, strict=True), strict=False))
        odd = {
            name: next((value for value in column if not NUMBER.fullmatch(value)), None)
            for name, column in values.items()
        }
        texts = {name: x.decode(errors="replace") for name, x in odd.items() if x is not None}
        numbers = [name for name in values if name not in texts]
        columns = self._wanted.among(names, block.name, numbers=numbers, texts=texts)
        kinds = {name: kind_of_column(values.get(name, ())) for name in columns.keep}
        separator = self._wanted.separator
        columns = replace(columns, keep=kinds, many=separator is not None)
        if columns.label is None or self._wanted.label_type is str:
            return columns
        if self._wanted.label_type is int:
            return replace(columns, kind="a whole number")
        labels: Iterable[bytes] = values.get(columns.label, ())
        if separator is not None:
            labels = (part.strip() for cell in labels for part in cell.split(separator.encode()))
        kind = kind_of_labels(labels)
        return replace(columns, kind=kind, is_guessed=True)


def _refuse_delimiter(name: str, header: str, between: str) -> None:
    """Refuse a header of one column that looks like several with another delimiter."""
    for mark in _DELIMITERS:
        if mark in header and mark != between:
            raise BadInput(
                Message(
                    "{name} must have columns separated by {between!r}, got {header!r}. "
                    "Use {mark}.",
                    name=name,
                    between=between,
                    header=header if len(header) <= 60 else f"{header[:56]} ...",
                    mark=Keyword("delimiter", mark),
                )
            )
