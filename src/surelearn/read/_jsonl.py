"""Lines of JSON: parsed by pyarrow a block at a time, line by line only where that fails.

pyarrow names rows of a block, cannot leave one out, and takes two records on a line or one over two
lines for granted; so what it refuses, and what it counts otherwise than lines, is read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from surelearn import _check
from surelearn._check import BadInput, bad_record
from surelearn.read._batch import Batch
from surelearn.read._columns import Columns, ColumnSpec, batch_of, faulty, kind_of, shown
from surelearn.read._kept import kept_column, values_of
from surelearn.read._lines import Lines

if TYPE_CHECKING:
    import pyarrow

#: Records that tell what is in a column: the first may have null there.
_LOOKED = 100

_NEWLINE, _OPEN, _CLOSE = b"\n{}"


class JsonLines:
    """Reads records from lines of JSON.

    Parameters
    ----------
    wanted : ColumnSpec
    head : Lines
        The first lines of the source: they decide which columns there are, and the kind of label.
    encoding : str or None
        Of the files; None: UTF-8.
    skip_bad : bool
        Whether bad lines are left out and counted.
    """

    def __init__(
        self, wanted: ColumnSpec, head: Lines, *, encoding: str | None, skip_bad: bool
    ) -> None:
        self._encoding = encoding
        self._skip_bad = skip_bad
        _check_lines(head)
        columns = self._found(wanted, head)
        self.columns = replace(columns, keep=_kinds(columns.keep, head))
        self._schema = self.columns.schema()
        self._with_kept = self._readable()

    def _found(self, wanted: ColumnSpec, head: Lines) -> Columns:
        """The columns of the first record, and of what kind they are, from the ones after it."""
        records = self._records_of(head)
        first = list(islice(records, _LOOKED))
        if not first:
            raise BadInput(f"{head.name} must have at least one record, got none.")
        number, names = first[0][0], list(first[0][1])
        values = {name: _known(record.get(name) for _, record in first) for name in names}
        columns = wanted.among(
            names,
            f"{head.name}, line {number},",
            numbers=[name for name in names if type(values[name]) in (int, float)],
            texts={name: value for name, value in values.items() if isinstance(value, str)},
        )
        if columns.label is None:
            return columns
        label = columns.label
        kind = kind_of(_known(record.get(label) for _, record in chain(first, records)))
        return columns if kind is None else replace(columns, kind=kind)

    def _records_of(self, head: Lines) -> Iterator[tuple[int, dict[str, Any]]]:
        """Good records and the numbers of their lines, up to a bad one unless they are skipped."""
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
        """The types with those of columns that are carried along; None: pyarrow would not give
        their values as they are."""
        columns = self.columns
        others = [name for name in columns.keep if name != columns.text]
        as_they_are = all(columns.keep[n] is not None and n not in columns.names for n in others)
        return columns.schema(kept=True) if as_they_are else None

    def __call__(self, lines: bytes, name: str, first: int) -> Batch:
        table = self._table(lines)
        if table is None or faulty(table, self.columns).any():
            return self._one_by_one(lines, name, first)
        kept = {column: kept_column(table.column(column)) for column in self.columns.keep}
        return batch_of(table, self.columns, kept=kept)

    def _table(self, lines: bytes) -> Any:
        """What pyarrow makes of the lines; None: it cannot, or not a record of each."""
        import pyarrow
        from pyarrow import json as arrow

        # Looked at first: pyarrow ends the process where the first value is null
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
        # pyarrow refuses whole numbers too large for an integer, or for a double's digits, there.
        doubles = {field.name for field in self._schema if str(field.type) == "double"}
        plain = [
            {
                name: float(record[name]) if name in doubles else record[name]
                for name in self._schema.names
            }
            for record in records
        ]
        table = pyarrow.Table.from_pylist(plain, schema=self._schema)
        kept = {
            column: values_of([record.get(column) for record in records])
            for column in self.columns.keep
        }
        return batch_of(table, self.columns, n_bad=n_bad, kept=kept)

    def _record(self, line: bytes) -> dict[str, Any] | str:
        """The object of a line, or what is wrong with it.

        pyarrow takes some lines that Python does not (very deep, or with a number of very many
        digits, in a column that is not read). Whether one is good must not depend on those around
        it, so it has the last word here too.
        """
        record = _record(line, self._encoding)
        table = self._table(line) if isinstance(record, str) else None
        return record if table is None else dict(table.to_pylist()[0])


def _kinds(keep: Iterable[str], head: Lines) -> dict[str, str | None]:
    """The kinds of columns by their first values; None: there are none, or they have no kind."""
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


def _known(values: Iterable[Any]) -> Any:
    """The first that is a text, a number or true or false; None: none is."""
    return next((value for value in values if kind_of(value) is not None), None)


def _check_lines(head: Lines) -> None:
    """Refuse what is JSON, but not in lines."""
    first, *others = [line for line in head.data.split(b"\n") if line.strip()] or [b""]
    if first.lstrip()[:1] == b"[" and not (others and _is_json(first)):
        raise _check.not_lines(head.name, "a JSON array")
    if first.strip() == b"{" and others and others[0].lstrip()[:1] == b'"':
        raise _check.not_lines(head.name, "one over several lines")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _record(line: bytes, encoding: str | None = None) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return _check.not_utf8(line, encoding)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict):
        return record
    return f"expected a JSON object, got {shown(line.decode().strip())}."


def _as_text(lines: bytes) -> Any:
    """The lines as one string of Arrow's, which is quick to say whether it is UTF-8."""
    import pyarrow

    ends = np.array([0, len(lines)], np.int64)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(lines)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), 1, buffers)


def _n_objects(lines: bytes) -> int:
    """How many records there are if each is a line; 0: one of them is not.

    Where every line begins with a brace and ends with one, no record goes over two lines: nothing
    between two values of a record is a closing brace and an opening one. So if there are as many
    records as lines, each is a line.
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
