"""Where a model file is: a path, which is written whole or not at all, or an open binary file."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from surelearn import _check
from surelearn._check import FormatError
from surelearn.files import _container
from surelearn.files._container import Tensors
from surelearn.files._fields import Fields, parsed

FORMAT_VERSION = 2

#: Bytes that a disk needs to have room for, or the smallest model would not fit.
_BLOCK = 512

#: A path, or an object with ``read`` or ``write`` that was opened in binary mode.
File = Any


def write(file: File, tensors: Tensors, settings: Mapping[str, Any]) -> None:
    """Write one file; to a path whole or not at all: temporary file, fsync, rename."""
    text = json.dumps({"format": FORMAT_VERSION, **settings}, sort_keys=True, allow_nan=False)
    if _check.is_open_file(file, writing=True):
        _container.write(file, tensors, text)
        return
    target = _target(file)
    with _naming(file), _replacing(target) as stream:
        _container.write(stream, tensors, text)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that `write` could not write to, before there is anything to write."""
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    _check_room(path, target.parent)


def check_appendable(path: str | os.PathLike[str]) -> None:
    """Refuse a path to which lines could not be written, whatever they are."""
    target = Path(os.path.realpath(path))
    if target.is_file():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))  # neither emptied nor touched
    if target.is_file() or not target.exists():
        _check_room(path, target.parent)


def _check_room(path: str | os.PathLike[str], folder: Path) -> None:
    """Write a block to a folder that is gone at once, for lack of permission or of room."""
    with _naming(path), tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
        probe.write(bytes(_BLOCK))


def _target(path: File) -> Path:
    """The file that is written to; a link stays one."""
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        # Renaming onto /dev/null would replace it.
        raise OSError(f"{os.fspath(path)} must be an ordinary file, got a device or a pipe.")
    return target


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the file that was asked for, not of the one that stands in for it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Any]:
    """A new file that takes the place of the target once all is written."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "wb", buffering=0) as stream:
            yield stream
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _umask() -> int:
    """The permissions an ordinary new file would lack; mkstemp's are for the owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(path: Path) -> None:
    """Make the system write what it has, so that a crash cannot lose what was renamed."""
    if os.name == "nt":
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Opened(NamedTuple):
    """A file to be read."""

    stream: Any
    name: str  # for errors
    size: int | None  # None: what comes after the model is somebody else's


@contextlib.contextmanager
def _opened(file: File) -> Iterator[_Opened]:
    if _check.is_open_file(file, writing=False):
        name = getattr(file, "name", None)
        yield _Opened(file, name if isinstance(name, str) else f"<{type(file).__name__}>", None)
        return
    with open(file, "rb") as stream:  # a missing file or a folder is an ordinary error
        about = os.fstat(stream.fileno())
        yield _Opened(
            stream, os.fspath(file), about.st_size if stat.S_ISREG(about.st_mode) else None
        )


class Arrays(dict[str, NDArray[Any]]):
    """Tensors of a file by name; one that is missed is an error of the file."""

    def __init__(self, tensors: Tensors, where: str) -> None:
        super().__init__(tensors)
        self._where = where

    def __missing__(self, name: str) -> NDArray[Any]:
        raise FormatError(f"{self._where} must have a tensor {name!r}, got none.")


def read(file: File, max_bytes: int) -> tuple[Fields, Arrays]:
    """Settings and tensors of a file; `FormatError` for anything that is not one of ours."""
    with _opened(file) as (stream, where, size):
        if size is not None and size > max_bytes:
            raise FormatError(f"{where} must have at most max_bytes={max_bytes} bytes, got {size}.")
        found = _container.read(stream, where, max_bytes=max_bytes, size=size)
    fields = _settings(found.text, where)
    if fields.integer("format", low=1) >= 2 and not found.checked:
        raise FormatError(f"{where} must have a checksum, got none: it is damaged.")
    return fields, Arrays(found.tensors, where)


def settings(file: File) -> Fields:
    """The settings alone, without a look at the rest of the file."""
    with _opened(file) as (stream, where, _):
        return _settings(_container.text_of(stream, where), where)


def _settings(text: str | None, where: str) -> Fields:
    if text is None:
        raise FormatError(f"{where} must be a surelearn model, got a safetensors file without one.")
    fields = parsed(text, where, "settings")
    found = fields.integer("format", low=1)
    if found > FORMAT_VERSION:
        raise FormatError(
            f"{where} must have format {FORMAT_VERSION} or older, got {found}. "
            "Update surelearn to read it."
        )
    return fields
