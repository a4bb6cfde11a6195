"""Where tables are stored: parquet files, Arrow files, memory, frames. Each is read in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from surelearn._check import BadInput, Unreachable, bad_record, is_missing, is_utf8
from surelearn.read._columns import MANY, ColumnSpec, kind_of, kind_of_most, shown
from surelearn.read._files import File, Patient, Stamp, Stream

if TYPE_CHECKING:
    import pyarrow

#: Size of a block of rows in bytes, and the largest number of its rows.
BLOCK = 1 << 20
MOST_ROWS = 1 << 16

#: The first bytes of an Arrow file; an Arrow stream has none.
_MAGIC = b"ARROW1"

#: Consecutive rows of a table: the number of rows before them, the rows, their bytes on the disk.
Run = tuple[int, "pyarrow.Table", int]


class Store(ABC):
    """A table that is read in pieces.

    Attributes
    ----------
    name : str
    size : int or None
        Size in bytes; None if unknown.
    can_restart, is_named : bool
        As in `Source`.
    has_names : bool
        Whether columns have names; those of some frames are numbered.
    """

    name: str
    size: int | None
    can_restart = True
    is_named = True
    has_names = True

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of the file; None for a table in memory."""
        return None

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if that takes a pass over the table."""
        return None

    @property
    @abstractmethod
    def schema(self) -> pyarrow.Schema:
        """Names and types of all columns."""

    def cancel(self) -> None:  # noqa: B027 - most stores never wait
        """As in `Source`."""

    @abstractmethod
    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        """Runs of rows of these columns, from the row `start` or an earlier one on."""

    def pieces(self, names: Sequence[str], start: int) -> Iterator[tuple[pyarrow.Table, int]]:
        """Pieces of these columns from a row on, each with its share of the bytes on the disk.

        Each run is cut from its first row, so the cuts are the same wherever reading starts.
        """
        with _no_damage(self.name):
            for before, table, n_bytes in self._runs(names, start):
                n = table.num_rows
                step = max(1, min(MOST_ROWS, n * BLOCK // max(table.nbytes, 1)))
                for begin in range(0, n, step):
                    end = min(begin + step, n)
                    if before + end <= start:
                        continue
                    begin = max(begin, start - before)
                    share = n_bytes * end // n - n_bytes * begin // n
                    yield table.slice(begin, end - begin), share


class InFile(Store):
    """A table in a file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.name, self.size = file.name, file.size

    @property
    def stamp(self) -> Stamp | None:
        return self._file.stamp


class Parquet(InFile):
    """A parquet file; only a few of its rows are in memory at a time."""

    @cached_property
    def schema(self) -> pyarrow.Schema:
        with _no_damage(self.name), self._open() as opened:
            return _readable(opened.schema_arrow)

    @property
    def n_rows(self) -> int | None:
        with _no_damage(self.name), self._open() as opened:
            return int(opened.metadata.num_rows)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        from pyarrow.parquet import ParquetFile

        with self._file.raw() as raw:
            yield ParquetFile(raw, buffer_size=BLOCK, pre_buffer=False)

    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        import pyarrow

        with self._open() as opened:
            size, n = self.size or 0, max(opened.metadata.num_rows, 1)
            row = 0
            for number in range(opened.num_row_groups):
                group = opened.metadata.row_group(number)
                if row + group.num_rows <= start:
                    row += group.num_rows  # skipped without reading
                    continue
                for batch in opened.iter_batches(
                    _rows_of(group), [number], names, use_threads=False
                ):
                    end = row + batch.num_rows
                    share = size * end // n - size * row // n
                    yield row, pyarrow.Table.from_batches([batch]), share
                    row = end


def _rows_of(group: Any) -> int:
    """How many rows of a row group to read at a time: a few blocks.

    This must not ask for the sizes of single columns: pyarrow aborts the process if they are
    damaged.
    """
    n, size = int(group.num_rows), int(group.total_byte_size)
    return max(1, min(MOST_ROWS // 4, n * 2 * BLOCK // max(size, 1)))


class ArrowFile(InFile):
    """An Arrow or feather file; memory-mapped if it is local."""

    @cached_property
    def schema(self) -> pyarrow.Schema:
        with _no_damage(self.name), self._open() as opened:
            return _readable(opened.schema)

    def _open(self, names: Sequence[str] = ()) -> Any:
        from pyarrow import ipc

        return ipc.open_file(self._file.mapped(), options=_only(names, self))

    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        row, size = 0, self.size or 0
        with self._open(names) as opened:
            n = opened.num_record_batches
            for i in range(n):
                batch = opened.get_batch(i)
                yield row, _check_batch(batch), size * (i + 1) // n - size * i // n
                row += batch.num_rows


class ArrowStream(InFile):
    """A file with an Arrow stream."""

    @cached_property
    def schema(self) -> pyarrow.Schema:
        with _no_damage(self.name), closing(self._file.open()) as stream:
            return _readable(_stream_of(stream).schema)

    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        row = n_bytes = 0
        with closing(self._file.open()) as stream:
            for batch in _stream_of(stream, _only(names, self)):
                yield row, _check_batch(batch), stream.consumed - n_bytes
                row, n_bytes = row + batch.num_rows, stream.consumed


class OneShot(Store):
    """Rows that can be read only once.

    Parameters
    ----------
    name : str
    begin : function
        Returns the pyarrow reader of the rows.
    file : File, optional
        The file that this reader reads.
    """

    can_restart = False
    size = None

    def __init__(self, name: str, begin: Callable[[], Any], file: File | None = None) -> None:
        self.name = name
        self._begin = begin
        self._file = file

    @cached_property
    def _reader(self) -> Any:
        with _no_damage(self.name):
            return self._begin()

    @property
    def schema(self) -> pyarrow.Schema:
        with _no_damage(self.name):
            return _readable(self._reader.schema)

    def cancel(self) -> None:
        if self._file is not None:
            self._file.cancel()

    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        row = 0
        for batch in self._reader:
            table = _check_batch(batch).select(names)
            yield row, table, table.nbytes
            row += batch.num_rows


class InMemory(Store):
    """A table in memory."""

    is_named = False

    def __init__(self, name: str, table: pyarrow.Table, *, has_names: bool = True) -> None:
        self.name, self.size, self.has_names = name, table.nbytes, has_names
        self._table = table

    @property
    def schema(self) -> pyarrow.Schema:
        return self._table.schema

    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        yield 0, self._table.select(names), self.size or 0


def arrow(file: File) -> Store:
    """The store of an Arrow file or an Arrow stream."""
    if file.is_stdin:
        return OneShot(file.name, lambda: _stream_of(file.arriving(Patient)), file)
    if file.is_pipe:
        raise BadInput(f"{file.name} must be a file, got a pipe. Use - to read an Arrow stream.")
    opened = file.open()
    try:
        proper = opened.read(len(_MAGIC)) == _MAGIC
    finally:
        opened.close()
    if not proper:
        return ArrowStream(file)
    _refuse_packed(file, "an Arrow file that is not a stream")
    return ArrowFile(file)


def _stream_of(stream: Stream, options: Any = None) -> Any:
    """The record batches of an Arrow stream."""
    import pyarrow
    from pyarrow import ipc

    return ipc.open_stream(pyarrow.PythonFile(stream, "r"), options=options)


def parquet(file: File) -> Store:
    """The store of a parquet file, which is read from its end: a stream is refused."""
    if not file.can_restart:
        raise BadInput(f"a parquet file must be on disk, got {file.name}.")
    _refuse_packed(file, "a parquet file")
    return Parquet(file)


def _refuse_packed(file: File, what: str) -> None:
    if file.compression is not None:
        raise BadInput(f"{file.name} must not be compressed as a whole, got {what} that is.")


def _only(names: Sequence[str], store: Store) -> Any:
    """Options to read only these columns."""
    from pyarrow import ipc

    fields = [store.schema.get_field_index(name) for name in names]
    return ipc.IpcReadOptions(included_fields=fields, use_threads=False)


def _readable(schema: pyarrow.Schema) -> pyarrow.Schema:
    """The schema, if all its names are UTF-8."""
    schema.names  # noqa: B018 - raises if one is not
    return schema


def _check_batch(batch: Any) -> pyarrow.Table:
    """A batch from a foreign file as a table, with the sizes of its buffers checked."""
    import pyarrow

    batch.validate()
    return pyarrow.Table.from_batches([batch])


@contextmanager
def _no_damage(name: str) -> Iterator[None]:
    """Raise `BadInput` where pyarrow finds damage; let errors of the system pass."""
    import pyarrow

    try:
        yield
    except (BadInput, Unreachable):
        raise
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadInput(f"{name} must be a sound table, got damage: {error}") from None


#: The name of a frame in errors.
_NAME = "frame"


def frame(source: Any, wanted: ColumnSpec, skip_bad: bool) -> Store:
    """The store of a frame, or of any object with the Arrow stream protocol."""
    import pyarrow

    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns"):
        has_names = all(isinstance(name, str) for name in source.columns)
        return InMemory(_NAME, _of_pandas(source, wanted, skip_bad), has_names=has_names)
    if isinstance(source, pyarrow.RecordBatchReader):
        return OneShot("reader", lambda: source)
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, pyarrow.RecordBatch):
        return InMemory(_NAME, pyarrow.table(source))
    raise TypeError(
        "source must be a path, a list of paths, a pandas or polars frame or a pyarrow table, "
        f"got {type(source).__name__}."
    )


def _of_pandas(frame: Any, wanted: ColumnSpec, skip_bad: bool) -> Any:
    """The columns of a pandas frame that are read."""
    import pyarrow
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    names = [str(name) for name in frame.columns]
    numbers = {
        name: None
        for name, type_ in zip(names, frame.dtypes, strict=True)
        if is_numeric_dtype(type_) and not is_bool_dtype(type_)
    }
    texts = {
        name: value
        for i, name in enumerate(names)
        if name not in numbers and isinstance(value := _first(frame.iloc[:, i]), str)
    }
    columns = wanted.among(names, _NAME, numbers=numbers, texts=texts)
    # Columns that are not read keep their name and get nulls: converting them may fail.
    made = dict.fromkeys(names, pyarrow.nulls(len(frame)))
    places = {name: i for i, name in enumerate(names)}
    for name in columns.all_names:
        made[name] = _column(frame.iloc[:, places[name]], name, skip_bad)
    return pyarrow.table(made)


def _first(series: Any) -> Any:
    """The first value that is not missing."""
    return next((value for value in series if not is_missing(value)), None)


def _column(series: Any, name: str, skip_bad: bool) -> Any:
    import pyarrow

    try:
        return pyarrow.Array.from_pandas(series)
    except (
        pyarrow.ArrowInvalid,
        pyarrow.ArrowTypeError,
        pyarrow.ArrowNotImplementedError,
        UnicodeEncodeError,  # a lone surrogate
    ):
        return pyarrow.Array.from_pandas(_of_one_kind(series, name, skip_bad))


def _of_one_kind(series: Any, name: str, skip_bad: bool) -> Any:
    """A column of objects, with null for values of another kind than most have."""
    there = series.notna().to_numpy()
    # Not by `map`, which makes a column of texts of them, and fails at a lone surrogate.
    series = type(series)([*map(_as_list, series)], index=series.index, dtype=object)
    kind, many = kind_of_most(series[there])
    fitting = {kind, "a whole number"} if kind == "a number" else {kind} - {None}
    fits = [
        isinstance(value, list) == many
        and fitting.issuperset(map(_encodable, value if many else [value]))
        for value in series
    ]
    misfit = there & ~np.array(fits, bool)
    if misfit.any() and not skip_bad:
        row = int(misfit.argmax())
        what = f"a list of {MANY[kind]}" if many and kind else kind or "a text or a number"
        value = shown(series.iloc[row])
        raise bad_record(f"{_NAME}, row {row + 1}", f"{name!r} must be {what}, got {value}.")
    return series.where(~misfit, None)


def _encodable(value: Any) -> str | None:
    """The kind of a value; None for a text with a lone surrogate, which files have none of."""
    return None if isinstance(value, str) and not is_utf8(value) else kind_of(value)


def _as_list(value: Any) -> Any:
    """A tuple, a set or an array as a list, any other value unchanged.

    pyarrow refuses sets, and an empty array among arrays of texts.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple | set | frozenset) else value
