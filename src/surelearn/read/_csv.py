"""Text in columns, csv and tsv: cut into whole rows here, parsed by pyarrow a block at a time.

pyarrow names rows of a block, and stops at a bad one; so a block that it refuses is read again row
by row. A row is a line unless a newline is within quotes, which begin where a column does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from surelearn._check import BadInput, NoRecords, bad_record
from surelearn.read import _lines
from surelearn.read._batch import Batch, Place, Source
from surelearn.read._columns import Columns, Wanted, batch_of, faulty, shown, there
from surelearn.read._files import File, Stream
from surelearn.read._kept import Kept, values_of
from surelearn.read._lines import BOM, Lines, lines_of

#: A whole number that is written in the one way there is for it: others stay apart as texts.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")

_NUMBER = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


class CsvSource(Source):
    """Files of rows of columns, each with a first row of names.

    Parameters
    ----------
    files : list of File
    wanted : Wanted
    delimiter : str
    skip_bad : bool
    """

    _columns: Columns | None = None

    def __init__(
        self, files: Sequence[File], wanted: Wanted, *, delimiter: str, skip_bad: bool
    ) -> None:
        super().__init__(files)
        self.files = list(files)
        self._wanted = wanted
        self._layout = Layout(delimiter)
        self._skip_bad = skip_bad

    def blocks(self, start: Place | None = None) -> Iterator[Lines]:
        start = start or Place()
        if self.can_restart and self._columns is None:
            # Also where reading goes on midway: what the first rows say holds for all.
            self._columns = self._first_look()
        for number, file in enumerate(self.files[start.file :], start=start.file):
            place = start if number == start.file else Place(number)
            for names, block in self._rows_of(file, place):
                if self._columns is None:
                    self._columns = self._look(names, block)
                there(self._columns.all_names, names, file.name)
                rows = Rows(names, self._columns, self._layout, skip_bad=self._skip_bad)
                yield replace(block, reader=rows)
        if self._columns is None:
            raise NoRecords(self.name)

    def _rows_of(self, file: File, place: Place) -> Iterator[tuple[list[str], Lines]]:
        """Blocks of rows without the one of names, and the names."""
        names: list[str] | None = None
        if place.at:
            names, _ = next(self._rows_of(file, Place(place.file)), ([], None))
        for block in lines_of(file, place, self._layout.split):
            if names is None:
                names, block = self._named(block)
            if names is not None and block.data.strip(b"\r\n"):
                yield names, block

    def _named(self, block: Lines) -> tuple[list[str] | None, Lines]:
        """The names in the first row of a block, and the block without it."""
        for begin, end in self._layout.rows(block.data):
            fields = [_text(name) for name in self._layout.fields(block.data[begin:end])]
            names = [name for name in fields if isinstance(name, str)]
            for name in fields:
                if isinstance(name, bytes):
                    line = block.first + block.data.count(b"\n", 0, begin)
                    raise BadInput(f"{block.name}, line {line}: {_not_utf8(name)}")
            # The newline that ends the names is left: it is an empty line, and counts as one.
            first = block.first + block.data.count(b"\n", 0, end)
            return names, replace(block, data=block.data[end:], first=first)
        return None, block

    def _first_look(self) -> Columns:
        for file in self.files:
            for names, block in self._rows_of(file, Place()):
                return self._look(names, block)
        raise NoRecords(self.name)

    def _look(self, names: list[str], block: Lines) -> Columns:
        """Which columns there are, and the kind of label, from the first rows."""
        split = [self._layout.fields(block.data[a:b]) for a, b in self._layout.rows(block.data)]
        rows = [row for row in split if len(row) == len(names)]
        texts = {
            name: odd.decode(errors="replace")
            for name, column in zip(names, zip(*rows, strict=True), strict=False)
            if (odd := next((x for x in column if not _NUMBER.fullmatch(x)), None)) is not None
        }
        numbers = [name for name in names if name not in texts] if rows else []
        columns = self._wanted.among(names, block.name, numbers=numbers, texts=texts)
        kinds = {name: _kind([row[names.index(name)] for row in rows]) for name in columns.keep}
        columns = replace(columns, keep=kinds)
        if columns.label is None or self._wanted.label_type is str:
            return columns
        if self._wanted.label_type is int:
            return replace(columns, kind="a whole number")
        at = names.index(columns.label)
        return replace(columns, kind=_kind([row[at] for row in rows]))


class Layout:
    """Where rows and columns end.

    Parameters
    ----------
    delimiter : str
        What is between two columns.
    """

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter
        mark = re.escape(delimiter.encode())
        inside = rb'[^"]*+(?:""[^"]*+)*+'
        # Possessive, so that no text takes more than one look at each letter.
        self._quoted = re.compile(rb'"(?<![^%b\r\n]")%b"?+' % (mark, inside))
        self._end = re.compile(rb"\r\n|\r|\n")
        self._field = re.compile(rb'(?:\A|%b)(?:"(%b)"?+)?+([^%b]*+)' % (mark, inside, mark))

    def split(self, stream: Stream) -> Iterator[bytes]:
        """The whole rows of a stream, some at a time."""
        held, ended = b"", False  # held begins where the next block does
        size = _lines.BLOCK  # doubled as long as no row ends in it
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
                raise BadInput(
                    f"{stream.name} must be made of rows, got one of more than "
                    f"{_lines.LONGEST >> 20} MiB. Look for a quote that is not closed."
                )

    def cut(self, data: bytes) -> int:
        """Where the last whole row ends."""
        end = data.rfind(b"\n")
        if b'"' in data:
            spans = self._spans(data)
            while end >= 0 and (span := _around(spans, end)) is not None:
                end = data.rfind(b"\n", 0, span[0])
        return end + 1

    def rows(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Begin and end of each row that is not empty, without what ends it."""
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
        return [(inside or b"").replace(b'""', b'"') + plain for inside, plain in found]

    def _spans(self, data: bytes) -> list[tuple[int, int]]:
        """Begin and end of what is within quotes."""
        return [match.span() for match in self._quoted.finditer(data)]


def _around(spans: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    """The span that has a place in it."""
    i = bisect_right(spans, (at, at)) - 1
    return spans[i] if i >= 0 and at < spans[i][1] else None


class Rows:
    """Looks into whole rows.

    Parameters
    ----------
    names : list of str
        Of the columns there are.
    columns : Columns
        Those to read.
    layout : Layout
    skip_bad : bool
    """

    def __init__(
        self, names: Sequence[str], columns: Columns, layout: Layout, *, skip_bad: bool
    ) -> None:
        self._columns = columns
        self._layout = layout
        self._skip_bad = skip_bad
        self._n_columns = len(names)
        self._places = {name: names.index(name) for name in columns.all_names}

    def __call__(self, data: bytes, name: str, first: int) -> Batch:
        texts = self._texts(data)
        table = None if texts is None else self._table(texts)
        if texts is None or table is None or faulty(table, self._columns).any():
            return self._one_by_one(data, name, first)
        kept = {name: texts[name].to_pylist() for name in self._columns.keep}
        return batch_of(table, self._columns, kept=self._carried(kept))

    def _carried(self, texts: dict[str, list[str]]) -> Kept:
        """Columns that are carried along: a whole number stays a text if it is spelled oddly."""
        kept: dict[str, Any] = {}
        for name, kind in self._columns.keep.items():
            values: list[Any] = texts[name]
            if kind == "a whole number":
                values = [_whole_or_text(text) for text in texts[name]]
            kept[name] = values_of(values)
        return kept

    def _texts(self, data: bytes) -> dict[str, Any] | None:
        """The columns that pyarrow finds, as texts; None: it cannot."""
        import pyarrow
        from pyarrow import csv

        if data.startswith(BOM):  # not at the start of the file: pyarrow would take it for one
            data = b"\n" + data
        # By number: two columns may have one name.
        types = {str(place): pyarrow.binary() for place in self._places.values()}
        try:
            read = csv.read_csv(
                pyarrow.BufferReader(data),
                csv.ReadOptions(
                    use_threads=False,
                    block_size=len(data) + 1,
                    column_names=[str(place) for place in range(self._n_columns)],
                ),
                csv.ParseOptions(delimiter=self._layout.delimiter, newlines_in_values=True),
                csv.ConvertOptions(column_types=types, include_columns=list(types)),
            )
            return {
                name: read.column(str(place)).cast(pyarrow.string())  # says so if it is not UTF-8
                for name, place in self._places.items()
            }
        except pyarrow.ArrowInvalid:
            return None

    def _table(self, texts: dict[str, Any]) -> Any:
        """The columns that are looked into, in their types; None: some values are of others."""
        import pyarrow

        try:
            return pyarrow.table({n: self._cast(n, texts[n]) for n in self._columns.names})
        except pyarrow.ArrowInvalid:
            return None

    def _cast(self, name: str, texts: Any) -> Any:
        import pyarrow

        if name == self._columns.text:
            return texts
        if name != self._columns.label:
            return texts.cast(pyarrow.float64())
        coded = texts.combine_chunks().dictionary_encode()
        values = [_kept(text, self._columns.kind) for text in coded.dictionary.to_pylist()]
        return pyarrow.array(values, self._columns.schema().field(name).type).take(coded.indices)

    def _one_by_one(self, data: bytes, name: str, first: int) -> Batch:
        import pyarrow

        records: list[dict[str, Any]] = []
        kept: list[dict[str, str]] = []
        n_bad = 0
        for begin, end in self._layout.rows(data):
            texts = self._fields(data[begin:end])
            record = texts if isinstance(texts, str) else self._record(texts)
            wrong = record if isinstance(record, str) else self._columns.fault(record)
            if not isinstance(texts, str) and not isinstance(record, str) and wrong is None:
                records.append(record)
                kept.append(texts)
            elif self._skip_bad:
                n_bad += 1
            else:
                before = data.count(b"\n", 0, begin)
                raise bad_record(f"{name}, line {first + before}", wrong or "", n_before=before)
        table = pyarrow.Table.from_pylist(records, schema=self._columns.schema())
        carried = self._carried(
            {name: [texts[name] for texts in kept] for name in self._columns.keep}
        )
        return batch_of(table, self._columns, n_bad=n_bad, kept=carried)

    def _fields(self, row: bytes) -> dict[str, str] | str:
        """The columns of a row that are read, as texts, or what is wrong with it."""
        fields = self._layout.fields(row)
        if len(fields) != self._n_columns:
            begin = shown(row.decode(errors="replace"))
            return f"expected {self._n_columns} columns, got {len(fields)} in {begin}."
        texts: dict[str, str] = {}
        for name, place in self._places.items():
            text = _text(fields[place])
            if isinstance(text, bytes):
                return _not_utf8(text)
            texts[name] = text
        return texts

    def _record(self, texts: dict[str, str]) -> dict[str, Any]:
        """The columns that are looked into; a label that is empty is none."""
        names = [name for name in self._columns.names if texts[name] or name != self._columns.label]
        return {name: self._value(name, texts[name]) for name in names}

    def _value(self, name: str, text: str) -> Any:
        if name == self._columns.label:
            kept = _kept(text, self._columns.kind)
            return text if kept is None else kept
        if name == self._columns.text or not _NUMBER.fullmatch(text.encode()):
            return text
        return float(text)


def _text(value: bytes) -> str | bytes:
    """The text of some bytes; the bytes if they are none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _not_utf8(value: bytes) -> str:
    """What is wrong with bytes that are no text."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return f"expected UTF-8, got byte 0x{value[error.start]:02x} in {shown(value)}."
    raise AssertionError(value)


def _kind(values: Iterable[bytes]) -> str:
    """What a column holds, by its first values: whole numbers if all that are there are."""
    texts = {value.decode(errors="replace") for value in values} - {""}
    whole = all(_kept(text, "a whole number") is not None for text in texts)
    return "a whole number" if texts and whole else "a text"


def _whole_or_text(text: str) -> int | str | None:
    """A value of a column whose first ones are whole numbers."""
    whole = _WHOLE.fullmatch(text)
    return int(text) if whole else text or None


def _kept(text: str, kind: str) -> str | int | None:
    """The label of a kind that a text stands for; None: it is not of this kind."""
    if kind == "a text":
        return text or None
    if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    return None
