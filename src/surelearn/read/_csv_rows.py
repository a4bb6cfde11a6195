"""Rows of csv and tsv: splits them into columns, and parses them by pyarrow in blocks.

pyarrow stops at a bad row and numbers rows within the block only. So a block that it refuses is
parsed again row by row, to name the line of the file or to skip the row.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from surelearn import _check
from surelearn._check import Keyword, Message, bad_record
from surelearn.read import _lines
from surelearn.read._batch import Batch
from surelearn.read._columns import Columns, batch_of, faulty, one_piece, shown
from surelearn.read._encoding import not_utf8
from surelearn.read._files import Stream
from surelearn.read._labels import Kept, values_of
from surelearn.read._lines import BOM

#: A whole number in its one normal form: "07" and "+7" stay texts, distinct from 7.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")

#: A number.
NUMBER = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")

#: A pattern that never matches.
_NEVER = rb"(?!)"

#: What programs write for a missing value, in lower case.
_MISSING = {"nan", "na", "n/a", "#n/a", "<na>", "null", "none"}

#: If at most one in this many labels is no whole number, it is a bad record; if more are, the
#: labels are texts.
_FEW = 10


class Header(NamedTuple):
    """The header of a file.

    Parameters
    ----------
    names : list of str
        Names of all columns.
    encoding : str or None
        Encoding of the file; None means UTF-8.
    """

    names: list[str]
    encoding: str | None

    def is_again(self, row: Sequence[bytes]) -> bool:
        """Whether a row repeats the header, as in files that were concatenated."""
        if len(row) < 2:  # a single word may be a record
            return False
        first, *others = row
        return [first.removeprefix(BOM), *others] == [name.encode() for name in self.names]


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
        self._mark, self._between = quote.encode(), delimiter.encode()
        mark, q = re.escape(self._between), re.escape(self._mark)
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
        if not self._mark or self._mark not in row:  # the same, and ten times as fast
            return row.split(self._between)
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


class CsvRows:
    """Parses whole rows.

    Parameters
    ----------
    header : Header
    columns : Columns
        Columns to read.
    dialect : CsvDialect
    separator : str or None
        What separates the labels of a row; None if each row has one label.
    skip_bad : bool
    """

    def __init__(
        self,
        header: Header,
        columns: Columns,
        dialect: CsvDialect,
        *,
        separator: str | None,
        skip_bad: bool,
    ) -> None:
        self._header = header
        self._columns = columns
        self._dialect = dialect
        self._separator = separator
        self._skip_bad = skip_bad
        self._n_columns = len(header.names)
        label = columns.label if columns.kind == "a text" and separator is None else None
        #: Text columns: only they can hold a repeated header.
        self._named_columns = [name for name in (columns.text, label) if name]
        places = {name: place for place, name in enumerate(header.names)}
        self._places = {name: places[name] for name in columns.all_names}

    def __call__(self, data: bytes, name: str, first: int) -> Batch:
        texts = self._texts(data)
        table = None if texts is None else self._table(texts)
        if texts is None or table is None:
            return self._one_by_one(data, name, first)
        if faulty(table, self._columns).any() or self._may_have_names(table):
            return self._one_by_one(data, name, first)
        if self._columns.is_table:
            raw = {name: one_piece(texts[name]) for name in self._columns.keep}
            return batch_of(table, self._columns, kept=raw)
        kept = {name: texts[name].to_pylist() for name in self._columns.keep}
        return batch_of(table, self._columns, kept=self._kept_values(kept))

    def _may_have_names(self, table: Any) -> bool:
        """Whether text and label of some row equal the names of their columns."""
        import pyarrow
        from pyarrow import compute

        same = None
        for name in self._named_columns:
            found = compute.is_in(table.column(name), pyarrow.array([name, f"\ufeff{name}"]))
            same = found if same is None else compute.and_(same, found)
        return same is not None and compute.any(same).as_py()

    def _kept_values(self, texts: dict[str, list[str]]) -> Kept:
        """The columns of `keep`; a whole number in an unusual form, such as "07", stays a text."""
        kept: dict[str, Any] = {}
        for name, kind in self._columns.keep.items():
            values: list[Any] = texts[name]
            if kind == "a whole number":
                values = [_whole_or_text(text) for text in texts[name]]
            kept[name] = values_of(values)
        return kept

    def _texts(self, data: bytes) -> dict[str, Any] | None:
        """The columns as pyarrow parses them, as texts; None if it refuses the block."""
        import pyarrow
        from pyarrow import csv

        if data.startswith(BOM):  # midway in the file it is text, but pyarrow would drop it
            data = b"\n" + data
        # Columns by number, because two may have the same name.
        types = {str(place): pyarrow.binary() for place in self._places.values()}
        try:
            read = csv.read_csv(
                pyarrow.BufferReader(data),
                csv.ReadOptions(
                    use_threads=False,
                    block_size=len(data) + 1,
                    column_names=[str(place) for place in range(self._n_columns)],
                ),
                csv.ParseOptions(
                    delimiter=self._dialect.delimiter,
                    quote_char=self._dialect.quote or False,
                    newlines_in_values=True,
                ),
                csv.ConvertOptions(column_types=types, include_columns=list(types)),
            )
            return {
                name: read.column(str(place)).cast(pyarrow.string())  # raises unless UTF-8
                for name, place in self._places.items()
            }
        except pyarrow.ArrowInvalid:
            return None

    def _table(self, texts: dict[str, Any]) -> Any:
        """The columns in their types; None if some value does not fit."""
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
        values = [self._label(text) for text in coded.dictionary.to_pylist()]
        return pyarrow.array(values, self._columns.schema().field(name).type).take(coded.indices)

    def _one_by_one(self, data: bytes, name: str, first: int) -> Batch:
        import pyarrow

        records: list[dict[str, Any]] = []
        kept: list[dict[str, str]] = []
        n_bad = 0
        for begin, end in self._dialect.rows(data):
            texts = self._fields(data[begin:end])
            record = texts if isinstance(texts, str) else self._record(texts)
            wrong = record if isinstance(record, str) else self._fault(record)
            if not isinstance(texts, str) and not isinstance(record, str) and wrong is None:
                records.append(record)
                kept.append(texts)
            elif self._skip_bad:
                n_bad += 1
            else:
                before = data.count(b"\n", 0, begin)
                raise bad_record(f"{name}, line {first + before}", wrong or "", n_before=before)
        table = pyarrow.Table.from_pylist(records, schema=self._columns.schema())
        carried = self._kept_values(
            {name: [texts[name] for texts in kept] for name in self._columns.keep}
        )
        return batch_of(table, self._columns, n_bad=n_bad, kept=carried)

    def _fields(self, row: bytes) -> dict[str, str] | str:
        """The columns of a row as texts, or a sentence that says what is wrong with the row."""
        fields = self._dialect.fields(row)
        if len(fields) != self._n_columns:
            return _wrong_count(self._n_columns, len(fields), row, self._dialect.quote)
        if self._named_columns and self._header.is_again(fields):
            return "expected a record, got the names of the columns once more."
        texts: dict[str, str] = {}
        for name, place in self._places.items():
            if not _check.is_utf8(fields[place]):
                return not_utf8(fields[place], self._header.encoding, shown(fields[place]))
            texts[name] = fields[place].decode()
        return texts

    def _fault(self, record: dict[str, Any]) -> str | None:
        """What is wrong with a record, as a sentence; None if it is valid."""
        wrong, label = self._columns.fault(record), self._columns.label
        if wrong is None or not self._columns.is_guessed or label is None:
            return wrong
        whole = self._columns.kind == "a whole number"
        odd = whole and wrong.startswith(f"{label!r} must be ") and label in record
        if not odd:
            return wrong
        label_type = Keyword("label_type", str)
        said = "{wrong} With {label_type} all labels are texts."
        return Message(said, wrong=wrong, label_type=label_type)

    def _record(self, texts: dict[str, str]) -> dict[str, Any]:
        """The values of a row; an empty label is missing, and an empty list of labels is not."""
        missing = self._columns.label if self._separator is None else None
        names = [name for name in self._columns.names if texts[name] or name != missing]
        return {name: self._value(name, texts[name]) for name in names}

    def _value(self, name: str, text: str) -> Any:
        if name == self._columns.label:
            return self._label(text, strict=False)
        if name == self._columns.text or not NUMBER.fullmatch(text.encode()):
            return text
        return float(text)

    def _label(self, text: str, *, strict: bool = True) -> Any:
        """The label or the list of labels of a cell.

        What spells no label is None; if not `strict`, it is returned as a text, for errors.
        """
        kind = self._columns.kind
        if self._separator is None:
            label = _parsed_label(text, kind)
            return text if label is None and not strict else label
        parts = [part.strip() for part in text.split(self._separator)] if text.strip() else []
        labels = [_parsed_label(part, kind) for part in parts]
        if None not in labels:
            return labels
        return None if strict else [part or None for part in parts]


def kind_of_column(values: Iterable[bytes]) -> str:
    """The kind of a column: whole numbers if all its first values are, else texts."""
    texts = {value.decode(errors="replace") for value in values} - {""}
    whole = all(_parsed_label(text, "a whole number") is not None for text in texts)
    return "a whole number" if texts and whole else "a text"


def kind_of_labels(values: Iterable[bytes]) -> str:
    """The kind of the labels, from the first ones.

    They are whole numbers if all but a few are, or if all others stand for missing values.
    """
    counts = Counter(value.decode(errors="replace") for value in values)
    del counts[""]
    whole = {text for text in counts if _parsed_label(text, "a whole number") is not None}
    odd = counts.keys() - whole
    n_odd = sum(counts[text] for text in odd)
    few = n_odd * _FEW <= counts.total() or all(text.lower() in _MISSING for text in odd)
    return "a whole number" if whole and few else "a text"


def _whole_or_text(text: str) -> int | str | None:
    """A value of a kept column of whole numbers."""
    whole = _WHOLE.fullmatch(text)
    return int(text) if whole else text or None


def _parsed_label(text: str, kind: str) -> str | int | None:
    """The label of this kind that a text spells; None if it spells none."""
    if kind == "a text":
        return text or None
    if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    return None


def _wrong_count(expected: int, found: int, row: bytes, mark: str) -> str:
    """What is wrong with a row that has more or fewer columns than the header."""
    begin = repr(row.decode(errors="replace"))
    begin = begin if len(begin) <= 40 else f"{begin[:37]}..."
    said = f"expected {expected} columns, got {found} in {begin}."
    if not mark or b"\n" not in row:
        return said
    return Message(
        "{said} Use {quote} if the file has no quoted values.",
        said=said,
        quote=Keyword("quote", ""),
    )
