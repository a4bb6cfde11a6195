"""What tables are kept in: parquet files, Arrow files, memory; each gives some rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from surelearn._check import BadInput
from surelearn.read._files import File, Patient, Stream

if TYPE_CHECKING:
    import pyarrow

#: Bytes of a block of rows, and how many rows it has at most.
BLOCK = 1 << 20
MOST_ROWS = 1 << 16

#: The first bytes of an Arrow file that is not a stream.
_MAGIC = b"ARROW1"

#: A run of rows of a table: how many are before it, the rows, its bytes on the disk.
Run = tuple[int, "pyarrow.Table", int]


class Store(ABC):
    """A table that is read some rows at a time.

    Attributes
    ----------
    name : str
    size : int or None
        Bytes of all of it; None: nobody knows.
    can_restart, is_named : bool
        As those of a `Source`.
    has_names : bool
        Whether columns have names; those of some frames are numbered.
    """

    name: str
    size: int | None
    can_restart = True
    is_named = True
    has_names = True

    @property
    def n_rows(self) -> int | None:
        """Rows of all of it, where that is quick to tell."""
        return None

    @property
    @abstractmethod
    def schema(self) -> pyarrow.Schema:
        """Names and types of all columns."""

    def cancel(self) -> None:  # noqa: B027 - most stores never wait
        """As that of a `Source`."""

    @abstractmethod
    def _runs(self, names: Sequence[str], start: int) -> Iterator[Run]:
        """Some columns, from the row `start` or an earlier one on."""

    def pieces(self, names: Sequence[str], start: int) -> Iterator[tuple[pyarrow.Table, int]]:
        """Rows of some columns from a row on, with their share of the bytes on the disk.

        Runs are cut by themselves, so that the pieces are the same wherever reading begins.
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


class Parquet(InFile):
    """A parquet file, of which a few rows are in memory at a time."""

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
                    row += group.num_rows  # not even read
                    continue
                for batch in opened.iter_batches(
                    _rows_of(group), [number], names, use_threads=False
                ):
                    end = row + batch.num_rows
                    share = size * end // n - size * row // n
                    yield row, pyarrow.Table.from_batches([batch]), share
                    row = end


def _rows_of(group: Any) -> int:
    """How many rows of a group of rows to read at a time: some blocks of them.

    Sizes of single columns are not asked for: where they are damaged, pyarrow ends the process.
    """
    n, size = int(group.num_rows), int(group.total_byte_size)
    return max(1, min(MOST_ROWS // 4, n * 2 * BLOCK // max(size, 1)))


class ArrowFile(InFile):
    """An Arrow file, feather too: mapped into memory if it is on this machine."""

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
    """A file with a stream of Arrow's."""

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
    """Rows that arrive one time only.

    Parameters
    ----------
    name : str
    begin : function
        Gives the reader of pyarrow that they come from.
    file : File, optional
        What that one reads.
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
    """What there is in a file of Arrow's: a file proper or a stream."""
    if file.is_stdin:
        return OneShot(file.name, lambda: _stream_of(file.arriving(Patient)), file)
    if file.is_pipe:
        raise BadInput(
            f"{file.name} must be a file, got a pipe. Use - to read a stream of Arrow's."
        )
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
    """The batches of a stream of Arrow's."""
    import pyarrow
    from pyarrow import ipc

    return ipc.open_stream(pyarrow.PythonFile(stream, "r"), options=options)


def parquet(file: File) -> Store:
    """A parquet file; it is read from its end, so it must be there."""
    if not file.can_restart:
        raise BadInput(f"{file.name} must be a stream, got a parquet file.")
    _refuse_packed(file, "a parquet file")
    return Parquet(file)


def _refuse_packed(file: File, what: str) -> None:
    if file.compression is not None:
        raise BadInput(f"{file.name} must not be compressed as a whole, got {what} that is.")


def _only(names: Sequence[str], store: Store) -> Any:
    """Options to read some columns only."""
    from pyarrow import ipc

    fields = [store.schema.get_field_index(name) for name in names]
    return ipc.IpcReadOptions(included_fields=fields, use_threads=False)


def _readable(schema: pyarrow.Schema) -> pyarrow.Schema:
    """A schema whose names are texts, or an error."""
    schema.names  # noqa: B018 - raises where one is not
    return schema


def _checked(batch: Any) -> pyarrow.Table:
    """A batch that somebody else has laid out: its buffers must be as long as it says."""
    import pyarrow

    batch.validate()
    return pyarrow.Table.from_batches([batch])


@contextmanager
def _no_damage(name: str) -> Iterator[None]:
    """Tell what pyarrow says of a damaged file from errors of the machine."""
    import pyarrow

    try:
        yield
    except BadInput:
        raise
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadInput(f"{name} must be a sound table, got damage: {error}") from None
