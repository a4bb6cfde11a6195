"""Opens files: paths, globs, folders, compression, filesystems, standard input and pipes."""

from __future__ import annotations

import contextlib
import glob
import lzma
import os
import posixpath
import select
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from surelearn import _check
from surelearn._check import BadInput, Unreachable

if TYPE_CHECKING:
    from surelearn.read._remote import Remote

#: Extensions of compressed files. Python decodes xz, Arrow the others.
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4", ".xz": "xz"}

#: How users name standard input.
STDIN = "-"
STDIN_NAME = "standard input"

#: A thread that waits for bytes checks for `cancel` after this many seconds.
_PATIENCE = 0.1


class Stamp(NamedTuple):
    """What tells that a file has changed: its number on the disk, its size, its time of writing.

    Examples
    --------
    >>> Stamp(inode=7, size=100, written=1) == Stamp(inode=7, size=120, written=2)
    False
    """

    inode: int | None  # None on a remote filesystem
    size: int | None
    written: int | None


class File:
    """One file of a source, local or remote.

    Parameters
    ----------
    path : str
    filesystem : Remote or None
        None means the local one.

    Attributes
    ----------
    encoding : str or None
        Encoding of its text; None means UTF-8.
    """

    is_named = True
    encoding: str | None = None

    def __init__(self, path: str, filesystem: Remote | None = None) -> None:
        self.path = path
        self.filesystem = filesystem
        self.is_stdin = path == STDIN and filesystem is None
        self.name = STDIN_NAME if self.is_stdin else path
        #: Whether it is a pipe or a device, such as /dev/stdin, which can be read only once.
        self.is_pipe = filesystem is None and not self.is_stdin and _is_pipe(path)
        self.can_restart = not (self.is_stdin or self.is_pipe)
        self._arriving: PipeStream | None = None
        self.compression = COMPRESSED.get(os.path.splitext(path)[1].lower())

    @property
    def ending(self) -> str:
        """The extension that shows the format, in lower case: ".csv" of "rows.csv.gz"."""
        stem, ending = os.path.splitext(self.path.lower())
        return os.path.splitext(stem)[1] if ending in COMPRESSED else ending

    @property
    def size(self) -> int | None:
        """Bytes on the disk; None if unknown."""
        if not self.can_restart:
            return None
        if self.filesystem is None:
            return os.path.getsize(self.path)
        return self.filesystem.info(self.path).size

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of the file as it is now; None for standard input and pipes."""
        if not self.can_restart:
            return None
        if self.filesystem is None:
            found = os.stat(self.path)
            return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)
        info = self.filesystem.info(self.path)
        return Stamp(None, info.size, info.written)

    def raw(self) -> Any:
        """Open the file without decompression."""
        if self.filesystem is not None:
            return self.filesystem.open(self.path)
        return open(self.path, "rb", buffering=0)

    def mapped(self) -> Any:
        """Open the file for pyarrow, with random access."""
        import pyarrow

        if self.filesystem is not None:
            return self.filesystem.open(self.path)
        return pyarrow.memory_map(self.path)

    def listed(self) -> list[str]:
        """Names of the files in this folder."""
        if self.filesystem is not None:
            return self.filesystem.listed(self.path)
        with os.scandir(self.path) as entries:
            return [entry.name for entry in entries if entry.is_file()]

    def open(self) -> Stream:
        """Open the decompressed text as UTF-8."""
        if self.encoding is None:
            return self._open()
        from surelearn.read._encoding import Transcoded

        return Transcoded(self._open(), self.encoding)

    def _open(self) -> Stream:
        """Open the decompressed text in its encoding."""
        if not self.can_restart:
            return self.arriving(PipeStream)
        raw = self.raw()
        if self.compression is None:
            return Stream(self.name, raw, raw)
        if self.compression == "xz":
            return Stream(self.name, XzReader(raw), raw)
        _check.need(f"reading {self.compression}", "pyarrow", "files")
        import pyarrow

        return Stream(self.name, pyarrow.CompressedInputStream(raw, self.compression), raw)

    def arriving(self, kind: type[PipeStream]) -> PipeStream:
        """Open standard input or a pipe."""
        if self.is_stdin and sys.stdin is None:
            raise BadInput(f"{STDIN_NAME} must be open, got a closed one.")
        stream = sys.stdin.buffer if self.is_stdin else _pipe(self.path)
        self._arriving = kind(self.name, stream)
        return self._arriving

    def cancel(self) -> None:
        """Wake a thread that waits for bytes of standard input or a pipe."""
        if self._arriving is not None:
            self._arriving.cancel()


class Stream:
    """An open file."""

    #: Whether `read` returns fewer bytes than asked for only at the end of the file.
    is_patient = True

    def __init__(self, name: str, stream: Any, raw: Any) -> None:
        self.name = name
        self._stream = stream
        self._raw = raw

    @property
    def consumed(self) -> int:
        """Number of bytes read from the disk so far, before decompression."""
        return int(self._raw.tell())

    @property
    def closed(self) -> bool:
        """Whether the stream is closed."""
        return bool(self._stream.closed)

    def read(self, size: int) -> bytes:
        """Read `size` bytes; fewer only at the end."""
        parts: list[bytes] = []
        # In steps: a damaged file may ask for more than the memory holds.
        while size > 0 and (part := self._some(min(size, 1 << 24))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def skip(self, size: int) -> None:
        """Skip the first `size` bytes; compressed text must be read for that."""
        if self._stream is self._raw:
            self._raw.seek(size)
        while (
            self._stream is not self._raw and size > 0 and (part := self._some(min(size, 1 << 20)))
        ):
            size -= len(part)

    def _some(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except Unreachable:
            raise
        except (OSError, EOFError, lzma.LZMAError) as error:
            if self._stream is self._raw:
                raise
            raise BadInput(
                f"{self.name} must be a valid compressed file, got damage: {error}"
            ) from None

    def close(self) -> None:
        self._stream.close()
        self._raw.close()


class PipeStream(Stream):
    """Standard input or a pipe; `read` returns what has arrived and waits for no whole block.

    It reads from the descriptor, and only once bytes are there. A thread that waits inside a
    buffered reader of Python holds the lock of that reader; the interpreter needs this lock at exit
    and would abort.
    """

    is_patient = False

    def __init__(self, name: str, stream: Any) -> None:
        super().__init__(name, stream, None)
        self._descriptor = _descriptor(stream)
        # Code that has read a line of standard input before has left bytes in Python's buffer.
        self._is_buffered = hasattr(stream, "read1")
        self._consumed = 0
        self._cancelled = False

    @property
    def consumed(self) -> int:
        return self._consumed

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and (not parts or self._has_more(0)) and (part := self._some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def cancel(self) -> None:
        """Make `read`, in any thread, raise `InterruptedError` instead of waiting."""
        self._cancelled = True

    def _some(self, size: int) -> bytes:
        """Wait for at least one byte and return what has arrived; empty at the end."""
        while True:
            while not self._has_more(_PATIENCE):
                if self._cancelled:
                    raise InterruptedError(f"{self.name} is not read any further.")
            with contextlib.suppress(BlockingIOError):  # another process took the bytes
                part = self._read(size)
                self._consumed += len(part)
                return part

    def _has_more(self, seconds: float) -> bool:
        """Whether bytes, or the end, arrive within some seconds."""
        if self._descriptor is None:
            return seconds > 0
        try:
            return bool(select.select([self._descriptor], [], [], seconds)[0])
        except (OSError, ValueError):  # select does not know this kind of stream
            return seconds > 0

    def _read(self, size: int) -> bytes:
        if self._descriptor is not None and not self._is_buffered:
            return os.read(self._descriptor, size)
        part = bytes(self._stream.read1(size))
        self._is_buffered = len(part) == size  # otherwise the buffer is empty now
        return part

    def close(self) -> None:
        if self._stream is not getattr(sys.stdin, "buffer", None):  # not ours to close
            self._stream.close()


class Patient(PipeStream):
    """Standard input or a pipe; `read` waits until it has all bytes that were asked for."""

    is_patient = True
    read = Stream.read


def _descriptor(stream: Any) -> int | None:
    """The file descriptor of a stream; None for a stream in memory."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError):  # io.UnsupportedOperation is an OSError
        return None


def _pipe(path: str) -> Any:
    """Open a pipe or a device."""
    flags = os.O_RDONLY
    if sys.platform == "linux":
        # Without this, opening a named pipe blocks until there is a writer. Waiting in `read`
        # instead can be cancelled.
        flags |= os.O_NONBLOCK
    return open(os.open(path, flags), "rb", buffering=0)


#: Formats and the extensions of their files.
Endings = Mapping[str, Sequence[str]]


def files_of(
    source: Any,
    filesystem: Any,
    endings: Endings,
    format: str | None,
    *,
    encoding: str | None = None,
) -> list[File]:
    """The files behind paths, globs, folders and URLs, in that order.

    The files of a glob or a folder are sorted by name.
    """
    if not isinstance(source, str | os.PathLike | list | tuple):
        raise TypeError(
            f"source must be a path, a list of paths or a Source, got {type(source).__name__}."
        )
    for name in source if isinstance(source, list | tuple) else ():
        if not isinstance(name, str | os.PathLike):
            raise TypeError(f"source must be a list of paths, got one with {name!r}.")
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    found: list[File] = []
    for name in names:
        found += _files_named(os.fspath(name), filesystem, endings, format)
    if not found:
        raise BadInput("source must name at least one file, got an empty list.")
    for file in found:
        file.encoding = encoding
    return found


def one_format(
    files: Sequence[File], formats: Iterable[str], given: str | None, guess: Callable[[File], str]
) -> str:
    """The format of all files: the given one, or the one that `guess` finds for each."""
    if given is not None:
        return _check.choice("format", given, list(formats))
    found = {guess(file) for file in files}
    if len(found) > 1:
        raise BadInput(f"files must have one format, got {' and '.join(sorted(found))}.")
    return found.pop()


def is_visible(name: str) -> bool:
    """Whether a file of a folder holds data; internal files have names such as ``_SUCCESS``."""
    return not name.startswith((".", "_"))


def _files_in(folder: File, endings: Endings, format: str | None) -> list[File]:
    """The files of a folder with an extension of the format, or of any known format.

    If a format is given and no file has its extension, all files are taken: programs such as Spark
    write folders of files without extensions.
    """
    names = sorted(filter(is_visible, folder.listed()))
    join = os.path.join if folder.filesystem is None else posixpath.join
    files = [File(join(folder.path, name), folder.filesystem) for name in names]
    known = {ending for kind in endings for ending in endings[kind] if format in (None, kind)}
    chosen = [file for file in files if file.ending in known]
    if format is not None:
        chosen = chosen or files
    if not chosen:
        such = next(iter(endings.values()))[0]
        raise BadInput(
            f"{folder.name} must have at least one file with a known extension, such as {such}, "
            f"got none. Name the format: {', '.join(endings)}."
        )
    return chosen


def _files_named(name: str, filesystem: Any, endings: Endings, format: str | None) -> list[File]:
    from surelearn.read._remote import as_remote, connected

    if filesystem is None and "://" in name:
        return _remote(*connected(name), endings, format)
    if filesystem is not None:
        return _remote(as_remote(filesystem), name, endings, format)
    if name == STDIN:
        return [File(STDIN)]
    if os.path.isdir(name):
        return _files_in(File(name), endings, format)
    if os.path.exists(name) or not glob.has_magic(name):
        return [File(name)]
    names = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if not names:
        raise FileNotFoundError(f"source must match at least one file, got {name!r}.")
    return [File(path) for path in names]


def _remote(filesystem: Remote, path: str, endings: Endings, format: str | None) -> list[File]:
    """The files behind a path of a filesystem."""
    try:
        is_folder = filesystem.info(path).is_folder
    except FileNotFoundError:
        if "*" not in path:
            raise
        raise BadInput(
            f"source must name files one by one on a filesystem, got {path!r}."
        ) from None
    file = File(path, filesystem)
    return _files_in(file, endings, format) if is_folder else [file]


def _is_pipe(path: str) -> bool:
    """Whether the path exists and is neither a file nor a folder."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


#: Compressed bytes that are read at a time.
_CHUNK = 1 << 16


class XzReader:
    """The decoded bytes of an open .xz file.

    Parameters
    ----------
    raw : binary file
        It is not closed here.
    """

    closed = False

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        self._held = b""  # compressed bytes that no decoder has seen

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none only at the end of the file."""
        while not self._decoder.eof or self._begin():
            data, self._held = self._held, b""
            if self._decoder.needs_input and not data and not (data := self._raw.read(_CHUNK)):
                raise EOFError("it ends within a stream.")
            if part := self._decoder.decompress(data, size):
                return part
        return b""

    def _begin(self) -> bool:
        """Skip the padding after a stream and begin the next one; False at the end of the file."""
        rest = self._decoder.unused_data or self._raw.read(_CHUNK)
        padding = 0
        while rest and not self._held:
            self._held = rest.lstrip(b"\0")
            padding += len(rest) - len(self._held)
            rest = self._held or self._raw.read(_CHUNK)
        if padding % 4:
            raise lzma.LZMAError(f"{padding} bytes of padding, which come in fours.")
        if self._held:
            self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return bool(self._held)

    def close(self) -> None:
        """End reading."""
        self.closed = True
