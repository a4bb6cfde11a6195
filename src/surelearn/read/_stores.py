"""Where tables are stored: parquet files, Arrow files, memory. Each store is read in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from surelearn._check import BadInput, Unreachable
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
                yield row, _checked(batch), size * (i + 1) // n - size * i // n
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
                yield row, _checked(batch), stream.consumed - n_bytes
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
            table = _checked(batch).select(names)
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


def _checked(batch: Any) -> pyarrow.Table:
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
