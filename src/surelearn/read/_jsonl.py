"""JSON lines: texts and labels by the core, else by pyarrow in blocks, else line by line.

The core takes a block whose lines are all plain (`jsonl.hpp`). pyarrow numbers rows within a block,
cannot skip a bad one, and accepts two records on a line or one record on two lines. So a block is
parsed again if pyarrow raises, or if it finds another number of records than lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn._check import BadInput, bad_record
from surelearn.read._batch import Batch
from surelearn.read._columns import (
    ALL,
    Columns,
    ColumnSpec,
    batch_of,
    faulty,
    kind_of,
    kind_of_most,
    shown,
    text_values,
)
from surelearn.read._encoding import not_utf8
from surelearn.read._labels import Labels, kept_column, values_of
from surelearn.read._lines import Lines

if TYPE_CHECKING:
    import pyarrow

#: Number of records that decide the type of a column: the first one may have null there.
_LOOKED = 100

_NEWLINE, _OPEN, _CLOSE = b"\n{}"

#: Kinds of labels that the core reads, by their numbers there, and what makes an array of them.
_NATIVE: dict[str, tuple[int, Callable[[list[str]], NDArray[Any]]]] = {
    "a text": (0, text_values),
    "a whole number": (1, lambda labels: np.array(labels).astype(np.int64)),
    "true or false": (2, lambda labels: np.array(labels) == "true"),
}


class JsonLines:
    """Parses records from JSON lines.

    Parameters
    ----------
    wanted : ColumnSpec
    head : Lines
        The first lines of the source; they decide the columns and the kind of labels.
    encoding : str or None
        Encoding of the files; None means UTF-8.
    skip_bad : bool
        Whether to skip and count bad lines.
    """

    def __init__(
        self, wanted: ColumnSpec, head: Lines, *, encoding: str | None, skip_bad: bool
    ) -> None:
        self._encoding = encoding
        self._skip_bad = skip_bad
        _check_lines(head)
        columns = self._choose_columns(wanted, head)
        self.columns = replace(columns, keep=_kinds(columns.keep, head))
        self._schema = self.columns.schema()
        self._with_kept = self._readable()
        self._keeps_all = wanted.keep == ALL or wanted.is_table

    def _choose_columns(self, wanted: ColumnSpec, head: Lines) -> Columns:
        """The columns of the first record, with kinds from the records after it."""
        records = self._records_of(head)
        first = list(islice(records, _LOOKED))
        if not first:
            raise BadInput(f"{head.name} must have at least one record, got none.")
        number, names = first[0][0], list(first[0][1])
        values = {name: _usual([record.get(name) for _, record in first]) for name in names}
        columns = wanted.among(
            names,
            f"{head.name}, line {number},",
            numbers=[name for name in names if type(values[name]) in (int, float)],
            texts={name: value for name, value in values.items() if isinstance(value, str)},
        )
        if columns.label is None:
            return columns
        label = columns.label
        kind, many = _kind_of_labels(record.get(label) for _, record in chain(first, records))
        return replace(columns, kind=kind or columns.kind, many=many)

    def _records_of(self, head: Lines) -> Iterator[tuple[int, dict[str, Any]]]:
        """Good records and their line numbers, up to the first bad one unless bad ones are skipped.

        A bad record after a good one is not raised here, but when its block is parsed.
        """
        some = False
        for number, line in enumerate(head.data.split(b"\n"), start=head.first):
            record = _record(line, self._encoding) if line.strip() else ""
            if isinstance(record, dict):
                some = True
                yield number, record
            elif record and not self._skip_bad:
                if some:
                    return
                raise bad_record(f"{head.name}, line {number}", record)

    def _readable(self) -> pyarrow.Schema | None:
        """The types including those of `keep`; None if pyarrow would change values of `keep`."""
        columns = self.columns
        others = columns.keep.keys() - {columns.text}
        changed = others & {*columns.names} or None in map(columns.keep.get, others)
        return None if changed else columns.schema(kept=True)

    def __call__(self, lines: bytes, name: str, first: int) -> Batch:
        if self._keeps_all:
            return self._one_by_one(lines, name, first)
        plain = self._plain(lines)
        if plain is not None:
            return plain
        table = self._table(lines)
        if table is None or faulty(table, self.columns).any():
            return self._one_by_one(lines, name, first)
        kept = {column: kept_column(table.column(column)) for column in self.columns.keep}
        return batch_of(table, self.columns, kept=kept)

    def _plain(self, lines: bytes) -> Batch | None:
        """The batch that the core parses; None if it is asked for too much, or a line is not plain.

        None is no verdict: pyarrow and Python decide what is good, and say what is wrong.
        """
        import pyarrow

        columns = self.columns
        others = columns.weight or columns.keep or columns.many
        if columns.text is None or others or columns.kind not in _NATIVE:
            return None
        kind, values_of_kind = _NATIVE[columns.kind]
        found = _core.parse_jsonl(lines, text=columns.text, label=columns.label, kind=kind)
        if found is None:
            return None
        starts, texts, codes, values = found
        buffers = [None, pyarrow.py_buffer(starts), pyarrow.py_buffer(texts)]
        X = pyarrow.Array.from_buffers(pyarrow.string(), len(starts) - 1, buffers)
        return Batch(X, None if columns.label is None else Labels(codes, values_of_kind(values)))

    def _table(self, lines: bytes) -> Any:
        """The table that pyarrow parses; None if it raises or does not find one record a line."""
        import pyarrow
        from pyarrow import json as arrow

        # Count first: pyarrow aborts the process if the first value is a bare null
        # (https://github.com/apache/arrow/issues/47409).
        n = _n_objects(lines)
        if n == 0 or self._with_kept is None:
            return None
        try:
            _as_text(lines).validate(full=True)
            table = arrow.read_json(
                pyarrow.BufferReader(lines),
                arrow.ReadOptions(use_threads=False, block_size=len(lines) + 1),
                arrow.ParseOptions(
                    explicit_schema=self._with_kept, unexpected_field_behavior="ignore"
                ),
            )
        except pyarrow.ArrowInvalid:
            return None
        return table if table.num_rows == n else None

    def _one_by_one(self, lines: bytes, name: str, first: int) -> Batch:
        import pyarrow

        records: list[dict[str, Any]] = []
        n_bad = 0
        for number, line in enumerate(lines.split(b"\n"), start=first):
            if not line.strip():
                continue
            record = self._record(line)
            wrong = record if isinstance(record, str) else self.columns.fault(record)
            if not isinstance(record, str) and wrong is None:
                records.append(record)
            elif self._skip_bad:
                n_bad += 1
            else:
                raise bad_record(f"{name}, line {number}", wrong or "", n_before=number - first)
        # As floats: pyarrow refuses an int in a double column if it does not fit exactly.
        as_stored = {field.name: _converter(str(field.type)) for field in self._schema}
        plain = [
            {name: stored(record[name]) for name, stored in as_stored.items()} for record in records
        ]
        table = pyarrow.Table.from_pylist(plain, schema=self._schema)
        keep = dict.fromkeys(chain.from_iterable(records)) if self._keeps_all else self.columns.keep
        if self.columns.is_table:
            own = (self.columns.label, self.columns.weight)
            keep = dict.fromkeys(name for name in keep if name not in own)
        kept = {column: values_of([record.get(column) for record in records]) for column in keep}
        return batch_of(table, self.columns, n_bad=n_bad, kept=kept)

    def _record(self, line: bytes) -> dict[str, Any] | str:
        """The object of a line, or a sentence that says what is wrong with it.

        pyarrow accepts some lines that Python refuses: very deep ones, or a number of very many
        digits in a column that is not read. Whether a line is good must not depend on the lines
        around it, so pyarrow decides here as well.
        """
        record = _record(line, self._encoding)
        table = self._table(line) if isinstance(record, str) else None
        return record if table is None else dict(table.to_pylist()[0])


def _converter(type_: str) -> Callable[[Any], Any]:
    """What makes a value of JSON fit an Arrow type."""
    if type_ == "double":
        return float
    if type_.endswith("double>"):
        return lambda values: [float(value) for value in values]
    return lambda value: value


def _kinds(keep: Iterable[str], head: Lines) -> dict[str, str | None]:
    """The kind of each column, from its first value; None if it has no value or no known kind."""
    kinds: dict[str, str | None] = dict.fromkeys(keep)
    missing = set(kinds)
    for line in head.data.split(b"\n"):
        if not missing:
            break
        found = _record(line)
        record = found if isinstance(found, dict) else {}
        for name in [name for name in missing if record.get(name) is not None]:
            kinds[name] = kind_of(record[name])
            missing.remove(name)
    return kinds


def _usual(values: Sequence[Any]) -> Any:
    """The first value of the kind that most have; None if none has a kind."""
    kind, _ = kind_of_most(value for value in values if not isinstance(value, list))
    return next((value for value in values if kind and kind_of(value) == kind), None)


def _kind_of_labels(labels: Iterator[Any]) -> tuple[str | None, bool]:
    """The kind that most of the first labels have, and whether most are lists.

    A bad label, even the first one, must not make bad records of all others. If these labels have
    no kind, as empty lists do, the next that has one decides.
    """
    known = (label for label in labels if isinstance(label, list) or kind_of(label))
    kind, many = kind_of_most(islice(known, _LOOKED))
    if kind is None:
        others = map(kind_of_most, ([label] for label in known))
        kind = next((own for own, is_list in others if own and is_list == many), None)
    return kind, many


def _check_lines(head: Lines) -> None:
    """Refuse JSON that is not in lines: an array, or an object over several lines."""
    first, *others = [line for line in head.data.split(b"\n") if line.strip()] or [b""]
    if first.lstrip()[:1] == b"[" and not (others and _is_json(first)):
        what = "a JSON array"
    elif first.strip() == b"{" and others and others[0].lstrip()[:1] == b'"':
        what = "one over several lines"
    else:
        return
    raise BadInput(
        f"{head.name} must have one JSON object a line, got {what}. Convert it with jq -c, which "
        "writes one object a line."
    )


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _record(line: bytes, encoding: str | None = None) -> dict[str, Any] | str:
    """The object of a line, or a sentence that says what is wrong with it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return not_utf8(line, encoding)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict):
        return record
    return f"expected a JSON object, got {shown(line.decode().strip())}."


def _as_text(lines: bytes) -> Any:
    """The lines as one Arrow string, without a copy: Arrow validates UTF-8 quickly."""
    import pyarrow

    ends = np.array([0, len(lines)], np.int64)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(lines)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), 1, buffers)


def _n_objects(lines: bytes) -> int:
    """The number of lines if each looks like a record; 0 if one does not.

    If every line begins with an opening brace and ends with a closing brace, no record can span
    two lines: inside a record, a closing brace is never followed by an opening brace. So if there
    are as many records as lines, each record is a line.
    """
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    if lines[-1:] == b"\n" and lines[:1] == b"{":
        before, after = data[ends - 1], data[ends[:-1] + 1]
        if (before == _CLOSE).all() and (after == _OPEN).all():
            return len(ends)
    filled = [line for line in map(bytes.strip, lines.split(b"\n")) if line]
    plain = all(line[:1] == b"{" and line[-1:] == b"}" for line in filled)
    return len(filled) if plain else 0
