"""Tables, from files and from memory, as blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check import BadInput, NoRecords, bad_record, is_utf8
from surelearn.read._batch import Batch, Place, Source
from surelearn.read._columns import (
    MANY,
    Columns,
    ColumnSpec,
    batch_of,
    faulty,
    numbers_of,
    one_piece,
    shown,
    there,
)
from surelearn.read._labels import kept_column
from surelearn.read._stores import Store

if TYPE_CHECKING:
    import pyarrow

#: The Arrow types of each kind; dictionaries of these types count as well.
_TYPES = {
    "a text": ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"),
    "true or false": ("bool",),
    "a whole number": tuple(f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)),
    "a number": ("halffloat", "float", "double"),
}

_NUMBERS = ("a whole number", "a number")

#: How the names of Arrow types of lists begin.
_LISTS = ("list<", "large_list<", "fixed_size_list<", "list_view<", "large_list_view<")


class TableSource(Source):
    """Tables that are read in blocks of rows.

    Parameters
    ----------
    stores : list of Store
    wanted : ColumnSpec
    skip_bad : bool
    """

    _columns: Columns | None = None

    def __init__(self, stores: Sequence[Store], wanted: ColumnSpec, *, skip_bad: bool) -> None:
        super().__init__(stores)
        self._stores = list(stores)
        self._wanted = wanted
        self._skip_bad = skip_bad

    def end_of(self, file: int) -> int | None:
        return self._stores[file].n_rows

    @property
    def feature_names(self) -> list[str] | None:
        return super().feature_names if self._stores[0].has_names else None

    def blocks(
        self, start: Place | None = None, ends: Mapping[int, int] | None = None
    ) -> Iterator[TableRows]:
        start = start or Place()
        if self._columns is None:
            self._columns = _choose_columns(self._wanted, self._stores[0])
        columns, some = self._columns, start != Place()
        for number, store in enumerate(self._stores[start.file :], start=start.file):
            _fits(columns, store)
            row = start.at if number == start.file else 0
            for table, n_bytes in store.pieces(columns.all_names, row):
                end = row + table.num_rows
                place = Place(number, end, end)
                rows = TableRows(table, store.name, row + 1, place, n_bytes, columns)
                yield replace(rows, skip_bad=self._skip_bad)
                row, some = end, True
        if not some:
            raise NoRecords(self.name)


@dataclass(frozen=True, eq=False)
class TableRows:
    """A block of rows of a table."""

    table: pyarrow.Table
    name: str
    first: int
    end: Place
    n_bytes: int
    columns: Columns
    skip_bad: bool = False

    def parse(self) -> Batch:
        import pyarrow

        bad = np.zeros(self.table.num_rows, bool)
        made: dict[str, Any] = {}
        for name in self.columns.all_names:
            made[name], not_text = self._sound(name)
            bad |= not_text
        table = pyarrow.table(made)
        bad |= faulty(table, self.columns)
        if bad.any() and not self.skip_bad:
            row = int(np.flatnonzero(bad)[0])
            where = f"{self.name}, row {self.first + row}"
            raise bad_record(where, self._wrong(table, row), n_before=row)
        if self.columns.is_table:
            sound = pyarrow.array(~bad)
            kept = {
                name: one_piece((table if self._is_text(name) else self.table).column(name)).filter(
                    sound
                )
                for name in self.columns.keep
            }
        else:
            kept = {name: self._kept_values(name, table)[~bad] for name in self.columns.keep}
        if bad.any():
            table = table.filter(pyarrow.array(~bad))
        return batch_of(table, self.columns, n_bad=int(bad.sum()), kept=kept)

    def before(self, n: int) -> TableRows:
        end = self.first - 1 + n
        return replace(self, table=self.table[:n], end=Place(self.end.file, end, end))

    def numbers(self, batch: Batch) -> Sequence[int]:
        rows = range(self.first, self.first + self.table.num_rows)
        if len(rows) == len(batch):
            return rows
        alone = (replace(self, table=self.table.slice(row - self.first, 1)) for row in rows)
        return [row for row, one in zip(rows, alone, strict=True) if len(one.parse())]

    def _kept_values(self, name: str, made: pyarrow.Table) -> NDArray[Any]:
        """A kept column as stored; if it holds texts, the ones checked for UTF-8."""
        return kept_column((made if self._is_text(name) else self.table).column(name))

    def _is_list(self, name: str) -> bool:
        return self.columns.many and name == self.columns.label

    def _is_text(self, name: str) -> bool:
        return _kind_of(self.table.schema.field(name).type) == "a text"

    def _sound(self, name: str) -> tuple[Any, NDArray[np.bool_]]:
        """A column in the type that models take, and which of its rows are not UTF-8."""
        import pyarrow

        column = self.table.column(name)
        kind = self._kind(name)
        none = np.zeros(len(column), bool)
        try:
            column.validate(full=True)
            return (_cast_lists if self._is_list(name) else _cast)(column, kind), none
        except pyarrow.ArrowException as error:
            if kind != "a text" or self._is_list(name):
                raise BadInput(f"{self.name} must be a sound table, got {error}") from None
        return self._without_damage(column)

    def _without_damage(self, column: Any) -> tuple[Any, NDArray[np.bool_]]:
        """A column of texts with null for those that are not UTF-8, and which these are."""
        import pyarrow

        values = self._bytes(column)
        bad = np.array([value is not None and not is_utf8(value) for value in values], bool)
        kept = [None if wrong else value for value, wrong in zip(values, bad, strict=True)]
        texts = pyarrow.array(kept, pyarrow.large_binary()).cast(pyarrow.large_string())
        return pyarrow.chunked_array([texts]), bad

    def _bytes(self, column: Any) -> list[bytes | None]:
        """The bytes of a column of texts, UTF-8 or not."""
        import pyarrow

        try:
            chunks = [_as_bytes(chunk) for chunk in column.chunks]
            for chunk in chunks:
                chunk.validate(full=True)
        except pyarrow.ArrowException as error:
            raise BadInput(f"{self.name} must be a sound table, got {error}") from None
        return [value for chunk in chunks for value in chunk.to_pylist()]

    def _kind(self, name: str) -> str | None:
        """The kind that the values of a column must have; None if any will do."""
        if name == self.columns.text:
            return "a text"
        if name == self.columns.label:
            return self.columns.kind
        if name in self.columns.numbers:
            return "a number"
        return "a text" if self._is_text(name) else None

    def _wrong(self, table: pyarrow.Table, row: int) -> str:
        """What is wrong with a row; shows the stored value if it could not be converted."""
        record = {}
        for name in self.columns.all_names:
            value, stored = table.column(name)[row].as_py(), self.table.column(name).slice(row, 1)
            if value is None and not stored.null_count:
                if self._kind(name) == "a text":
                    return f"{name!r} must be UTF-8, got {shown(self._bytes(stored)[0])}."
                value = stored[0].as_py()
            record[name] = value
        return str(self.columns.fault(record))


def _choose_columns(wanted: ColumnSpec, store: Store) -> Columns:
    """The columns to read and the kind of labels, from the types of a table."""
    schema = store.schema
    kinds = {field.name: _kind_of(field.type) for field in schema}
    columns = wanted.among(
        schema.names,
        store.name,
        numbers=[name for name, kind in kinds.items() if kind in _NUMBERS],
        texts={name: None for name, kind in kinds.items() if kind == "a text"},
    )
    if columns.label is None:
        return columns
    type_ = schema.field(columns.label).type
    kind = _kind_of(_one_of(type_))
    if kind is None:
        raise BadInput(
            f"{store.name}: {columns.label!r} must be a text, true or false, a number, or a list "
            f"of them, got {type_}."
        )
    many = _one_of(type_) is not type_
    return replace(columns, kind="a text" if kind == "null" else kind, many=many)


def _fits(columns: Columns, store: Store) -> None:
    """Refuse a table that lacks a column, or has one of another type."""
    schema = store.schema
    there(columns.all_names, schema.names, store.name)
    for name in columns.names:
        type_ = schema.field(name).type
        kind, many = "a number", False
        if name in (columns.text, columns.label):
            kind = "a text" if name == columns.text else columns.kind
            many = columns.many and name == columns.label
        found = _kind_of(_one_of(type_) if many else type_)
        fits = found in _NUMBERS if kind == "a number" else found == kind
        if found != "null" and (not fits or many == (_one_of(type_) is type_)):
            wanted = f"a list of {MANY[kind]}" if many else kind
            raise BadInput(f"{store.name}: {name!r} must be {wanted}, got {type_}.")


def _one_of(type_: Any) -> Any:
    """The type of the elements of a list; any other type is returned unchanged."""
    is_list = str(type_).startswith(_LISTS)
    return type_.value_type if is_list else type_


def _kind_of(type_: Any) -> str | None:
    """The kind of an Arrow type; None if no model can use it."""
    name = str(type_.value_type if _is_coded(type_) else type_)
    if name == "null":
        return "null"
    if name.startswith("decimal"):
        return "a number"
    return next((kind for kind, names in _TYPES.items() if name in names), None)


def _is_coded(type_: Any) -> bool:
    """Whether a type is dictionary-encoded."""
    return str(type_).startswith("dictionary<")


def _cast(column: Any, kind: str | None) -> Any:
    """A column in the type that models take; raises for texts that are not UTF-8."""
    import pyarrow
    from pyarrow import compute

    if kind is None:
        return column
    if _is_coded(column.type):
        chunks = [_cast(chunk.dictionary, kind).take(chunk.indices) for chunk in column.chunks]
        return pyarrow.chunked_array(chunks)
    if kind == "a text":
        return _texts(column)
    if kind == "a whole number" and str(column.type) == "uint64":
        # Labels too large for int64 become null, and so bad records.
        fits = compute.less_equal(column, pyarrow.scalar(2**63 - 1, pyarrow.uint64()))
        column = compute.if_else(fits, column, None)
    type_ = {"true or false": pyarrow.bool_(), "a whole number": pyarrow.int64()}.get(kind)
    return column.cast(type_ or pyarrow.float64(), safe=type_ is not None)


def _cast_lists(column: Any, kind: str | None) -> Any:
    """A column of lists with elements in the type that models take."""
    import pyarrow

    lists = one_piece(column.cast(pyarrow.large_list(_one_of(column.type))))
    values = one_piece(_cast(pyarrow.chunked_array([lists.flatten()]), kind))
    sizes = numbers_of(lists.value_lengths().fill_null(0))
    is_null = np.append(numbers_of(lists.is_null()), False)
    starts = pyarrow.array(np.append(0, np.cumsum(sizes)), pyarrow.int64(), mask=is_null)
    return pyarrow.chunked_array([pyarrow.LargeListArray.from_arrays(starts, values)])


def _texts(column: Any) -> Any:
    import pyarrow

    if str(column.type) in ("string", "large_string"):
        return column
    if str(column.type) == "binary_view":
        column = column.cast(pyarrow.large_binary())
    return column.cast(pyarrow.large_string())


def _as_bytes(array: Any) -> Any:
    """An array of texts as an array of bytes, without a check."""
    import pyarrow

    if _is_coded(array.type):
        values = _as_bytes(array.dictionary)
        values.validate(full=True)
        return pyarrow.DictionaryArray.from_arrays(array.indices, values)
    return array.view(str(array.type).replace("string", "binary"))
