"""Where bytes come from: names, globs, compression, filesystems, standard input."""

from __future__ import annotations

import contextlib
import glob
import lzma
import os
import posixpath
import select
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from surelearn import _check
from surelearn._check import BadInput

#: Endings of compressed files; Arrow decodes all but xz, which Python does.
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4", ".xz": "xz"}

#: Standard input, as users write it.
STDIN = "-"
STDIN_NAME = "standard input"

#: Seconds after which who waits for bytes looks whether they are still wanted.
_PATIENCE = 0.1


class File:
    """One file of a source, wherever it lies.

    Parameters
    ----------
    path : str
    filesystem : pyarrow.fs.FileSystem or None
        None: this machine's.

    Attributes
    ----------
    encoding : str or None
        Of its text; None: UTF-8.
    """

    is_named = True
    encoding: str | None = None

    def __init__(self, path: str, filesystem: Any = None) -> None:
        self.path = path
        self.filesystem = filesystem
        self.is_stdin = path == STDIN and filesystem is None
        self.name = STDIN_NAME if self.is_stdin else path
        #: Whether it is a pipe or a device, such as /dev/stdin: its bytes arrive once.
        self.is_pipe = filesystem is None and not self.is_stdin and _is_pipe(path)
        self.can_restart = not (self.is_stdin or self.is_pipe)
        self._arriving: PipeStream | None = None
        self.compression = COMPRESSED.get(os.path.splitext(path)[1].lower())

    @property
    def ending(self) -> str:
        """The ending that tells the format, in small letters: the one before that of a packing."""
        stem, ending = os.path.splitext(self.path.lower())
        return os.path.splitext(stem)[1] if ending in COMPRESSED else ending

    @property
    def size(self) -> int | None:
        """Bytes on the disk; None if nobody knows."""
        if not self.can_restart:
            return None
        if self.filesystem is None:
            return os.path.getsize(self.path)
        size = self.filesystem.get_file_info(self.path).size
        return None if size is None else int(size)

    def raw(self) -> Any:
        """The bytes on the disk."""
        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return open(self.path, "rb", buffering=0)

    def mapped(self) -> Any:
        """The bytes on the disk, for pyarrow to read here and there."""
        import pyarrow

        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return pyarrow.memory_map(self.path)

    def listed(self) -> list[str]:
        """Names of the files in it, if it is a folder."""
        if self.filesystem is None:
            with os.scandir(self.path) as entries:
                return [entry.name for entry in entries if entry.is_file()]
        from pyarrow import fs

        found = self.filesystem.get_file_info(fs.FileSelector(self.path))
        return [info.base_name for info in found if info.type == fs.FileType.File]

    def open(self) -> Stream:
        """The bytes of the text, in UTF-8."""
        if self.encoding is None:
            return self._open()
        from surelearn.read._encoding import Transcoded

        return Transcoded(self._open(), self.encoding)

    def _open(self) -> Stream:
        """The bytes of the text as it was written."""
        if not self.can_restart:
            return self.arriving(PipeStream)
        raw = self.raw()
        if self.compression is None:
            return Stream(self.name, raw, raw)
        if self.compression == "xz":
            return Stream(self.name, lzma.open(raw), raw)
        _check.need(f"reading {self.compression}", "pyarrow", "files")
        import pyarrow

        return Stream(self.name, pyarrow.CompressedInputStream(raw, self.compression), raw)

    def arriving(self, kind: type[PipeStream]) -> PipeStream:
        """Standard input or a pipe."""
        stream = _stdin() if self.is_stdin else _pipe(self.path)
        self._arriving = kind(self.name, stream)
        return self._arriving

    def cancel(self) -> None:
        """End the wait of another thread for bytes of standard input or a pipe."""
        if self._arriving is not None:
            self._arriving.cancel()


class Stream:
    """An open file."""

    #: Whether fewer bytes than asked for mean that there are no more.
    is_patient = True

    def __init__(self, name: str, stream: Any, raw: Any) -> None:
        self.name = name
        self._stream = stream
        self._raw = raw

    @property
    def consumed(self) -> int:
        """Bytes on the disk that have been read so far."""
        return int(self._raw.tell())

    @property
    def closed(self) -> bool:
        """Whether nothing can be read any more."""
        return bool(self._stream.closed)

    def read(self, size: int) -> bytes:
        """So many bytes, fewer at the end only."""
        parts: list[bytes] = []
        # Step by step: a damaged file may ask for more than there is memory.
        while size > 0 and (part := self._some(min(size, 1 << 24))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def skip(self, size: int) -> None:
        """Go on after so many bytes; a compressed text has to be read for that."""
        if self._stream is self._raw:
            self._raw.seek(size)
        while (
            self._stream is not self._raw and size > 0 and (part := self._some(min(size, 1 << 20)))
        ):
            size -= len(part)

    def _some(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (OSError, EOFError, lzma.LZMAError) as error:
            if self._stream is self._raw:
                raise
            raise BadInput(f"{self.name} must be soundly compressed, got damage: {error}") from None

    def close(self) -> None:
        self._stream.close()
        self._raw.close()


class PipeStream(Stream):
    """Standard input or a pipe: gives what is there without waiting for a whole block of it.

    Bytes are read from the descriptor, and not before they are there: a thread that waits within a
    buffer of Python's holds its lock, and the interpreter aborts where it needs it at its end.
    """

    is_patient = False

    def __init__(self, name: str, stream: Any) -> None:
        super().__init__(name, stream, None)
        self._descriptor = _descriptor(stream)
        # Who has read a line of standard input before has left bytes in its buffer.
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
        """Let `read`, in whatever thread, raise an `InterruptedError` rather than wait."""
        self._cancelled = True

    def _some(self, size: int) -> bytes:
        """What is there, at least a byte; none at the end."""
        while True:
            while not self._has_more(_PATIENCE):
                if self._cancelled:
                    raise InterruptedError(f"{self.name} is not read any further.")
            with contextlib.suppress(BlockingIOError):  # another process was faster
                part = self._read(size)
                self._consumed += len(part)
                return part

    def _has_more(self, seconds: float) -> bool:
        """Whether bytes are there, or the end is, before some seconds are over."""
        if self._descriptor is None:
            return seconds > 0
        try:
            return bool(select.select([self._descriptor], [], [], seconds)[0])
        except (OSError, ValueError):  # not a thing that can be waited for
            return seconds > 0

    def _read(self, size: int) -> bytes:
        if self._descriptor is not None and not self._is_buffered:
            return os.read(self._descriptor, size)
        part = bytes(self._stream.read1(size))
        self._is_buffered = len(part) == size  # else it is empty now
        return part

    def close(self) -> None:
        if self._stream is not getattr(sys.stdin, "buffer", None):  # which is not ours
            self._stream.close()


class Patient(PipeStream):
    """Standard input or a pipe, for who asks for as many bytes as are needed."""

    is_patient = True
    read = Stream.read


def _descriptor(stream: Any) -> int | None:
    """The number that the system knows a stream by; None for one in memory."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError):  # io.UnsupportedOperation is an OSError
        return None


def _stdin() -> Any:
    if sys.stdin is None:
        raise BadInput(f"{STDIN_NAME} must be open, got a closed one.")
    return sys.stdin.buffer


def _pipe(path: str) -> Any:
    """An open pipe or device."""
    flags = os.O_RDONLY
    if sys.platform == "linux":
        # A named pipe without a writer is waited for when it is read, where that can be ended.
        flags |= os.O_NONBLOCK
    return open(os.open(path, flags), "rb", buffering=0)


#: Formats and the endings of their files.
Endings = Mapping[str, Sequence[str]]


def files_of(
    source: Any,
    filesystem: Any,
    endings: Endings,
    format: str | None,
    *,
    encoding: str | None = None,
) -> list[File]:
    """The files behind names, globs, folders and addresses, in their order; those of a glob or a
    folder sorted by name."""
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    found: list[File] = []
    for name in names:
        found += _named(os.fspath(name), filesystem, endings, format)
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
    """Whether a file of a folder is meant to be read: programs mark their own by such names."""
    return not name.startswith((".", "_"))


def _files_in(folder: File, endings: Endings, format: str | None) -> list[File]:
    """The files of a folder that are of a format, or of any that is known. With a format all of
    them where no ending is its own, as in folders that other programs have written."""
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
            f"{folder.name} must have at least one file whose ending tells its format, such as "
            f"{such}, got none. Name the format: {', '.join(endings)}."
        )
    return chosen


def _named(name: str, filesystem: Any, endings: Endings, format: str | None) -> list[File]:
    if filesystem is None and "://" in name:
        filesystem, name = _address(name)
    filesystem = None if filesystem is None else _as_arrow(filesystem)
    if name == STDIN and filesystem is None:
        return [File(STDIN)]
    kind = _type(name, filesystem)
    if kind == "Directory":
        return _files_in(File(name, filesystem), endings, format)
    if kind != "NotFound" or not glob.has_magic(name):
        return [File(name, filesystem)]
    if filesystem is not None:
        raise BadInput(f"source must name files one by one on a filesystem, got {name!r}.")
    names = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if not names:
        raise FileNotFoundError(f"source must match at least one file, got {name!r}.")
    return [File(path) for path in names]


def _address(uri: str) -> tuple[Any, str]:
    """The filesystem of an address, Arrow's own where there is one."""
    who = f"reading {uri.partition('://')[0]}://"
    _check.need(who, "pyarrow", "files")
    from pyarrow import ArrowInvalid, ArrowNotImplementedError, fs

    try:
        filesystem, path = fs.FileSystem.from_uri(uri)
    except (ArrowInvalid, ArrowNotImplementedError):
        _check.need(who, "fsspec", "files")
        import fsspec

        filesystem, path = fsspec.core.url_to_fs(uri)
    return filesystem, path


def _as_arrow(filesystem: Any) -> Any:
    _check.need("filesystem", "pyarrow", "files")
    from pyarrow import fs

    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _is_pipe(path: str) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _type(path: str, filesystem: Any) -> str:
    """What there is, in the words of Arrow."""
    if filesystem is not None:
        return str(filesystem.get_file_info(path).type.name)
    if not os.path.exists(path):
        return "NotFound"
    return "Directory" if os.path.isdir(path) else "File"
