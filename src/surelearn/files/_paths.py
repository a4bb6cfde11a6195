"""Writes and reads model files, by path or by open file; must not know models."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from surelearn._check import FormatError
from surelearn.files import _container
from surelearn.files._container import Tensors
from surelearn.files._fields import Fields, parsed

FORMAT_VERSION = 2

#: Bytes that the check for free space writes; the smallest model needs more.
_BLOCK = 512

#: A path, or an object with ``read`` or ``write`` that was opened in binary mode.
File = Any


def write(file: File, tensors: Tensors, settings: Mapping[str, Any]) -> None:
    """Write one file. A path is replaced atomically: temporary file, fsync, rename."""
    text = json.dumps({"format": FORMAT_VERSION, **settings}, sort_keys=True, allow_nan=False)
    if _is_open_file(file, writing=True):
        _container.write(file, tensors, text)
        return
    target = _target(file)
    with _naming(file), _replacing(target) as stream:
        _container.write(stream, tensors, text)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now if `write` would fail for this path later."""
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    _check_room(path, target.parent)


def check_appendable(path: str | os.PathLike[str]) -> None:
    """Raise now if lines could not be written to this path later."""
    target = Path(os.path.realpath(path))
    if target.is_file():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))  # leaves the file as it is
    if target.is_file() or not target.exists():
        _check_room(path, target.parent)


def _check_room(path: str | os.PathLike[str], folder: Path) -> None:
    """Write a temporary file to the folder; raises if permission or free space is missing."""
    with _naming(path), tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
        probe.write(bytes(_BLOCK))


def _target(path: File) -> Path:
    """The file to write; the target of a link, so that the link stays."""
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        # Renaming onto /dev/null would replace it.
        raise OSError(f"{os.fspath(path)} must be an ordinary file, got a device or a pipe.")
    return target


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors name the user's file, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Any]:
    """A new file that replaces the target after it is complete."""
    temporary = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    # Not mkstemp, whose files only the owner can read: this one gets the mode of any new file.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "wb", buffering=0) as stream:
            yield stream
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _sync_folder(path: Path) -> None:
    """Flush the folder to disk, so that a crash cannot undo the rename."""
    if os.name == "nt":
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Opened(NamedTuple):
    """A file to read."""

    stream: Any
    name: str  # for errors
    size: int | None  # None if other data may follow the model


@contextlib.contextmanager
def _opened(file: File) -> Iterator[_Opened]:
    if _is_open_file(file, writing=False):
        name = getattr(file, "name", None)
        yield _Opened(file, name if isinstance(name, str) else f"<{type(file).__name__}>", None)
        return
    with open(file, "rb") as stream:  # a missing file or a folder raises the usual OSError
        about = os.fstat(stream.fileno())
        yield _Opened(
            stream, os.fspath(file), about.st_size if stat.S_ISREG(about.st_mode) else None
        )


class Arrays(dict[str, NDArray[Any]]):
    """Tensors of a file by name; a missing one raises `FormatError`."""

    def __init__(self, tensors: Tensors, where: str) -> None:
        super().__init__(tensors)
        self._where = where

    def __missing__(self, name: str) -> NDArray[Any]:
        raise FormatError(f"{self._where} must have a tensor {name!r}, got none.")


def read(file: File, max_bytes: int) -> tuple[Fields, Arrays]:
    """Settings and tensors of a file; raises `FormatError` for anything but a model."""
    with _opened(file) as (stream, where, size):
        if size is not None and size > max_bytes:
            raise FormatError(f"{where} must have at most max_bytes={max_bytes} bytes, got {size}.")
        found = _container.read(stream, where, max_bytes=max_bytes, size=size)
    fields = _settings(found.text, where)
    if fields.integer("format", low=1) >= 2 and not found.checked:
        raise FormatError(f"{where} must have a checksum, got none: it is damaged.")
    return fields, Arrays(found.tensors, where)


def settings(file: File) -> Fields:
    """Only the settings, without reading the rest of the file."""
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


def _is_open_file(value: Any, *, writing: bool) -> bool:
    """Whether a value is an open binary file; False for a path; anything else raises."""
    if isinstance(value, str | os.PathLike):
        return False
    if not hasattr(value, "write" if writing else "read"):
        remedy = ""
        if isinstance(value, bytes | bytearray | memoryview):
            remedy = " Use io.BytesIO for a model in memory."
        raise TypeError(
            f"path must be a path or an open binary file, got {type(value).__name__}.{remedy}"
        )
    if isinstance(value, io.TextIOBase):
        mode = "wb" if writing else "rb"
        raise TypeError(
            f"path must be a file opened with mode {mode!r}, got a text file: {value!r}."
        )
    if getattr(value, "closed", False):
        raise ValueError(f"path must be an open file, got a closed one: {value!r}.")
    able = getattr(value, "writable" if writing else "readable", None)
    if callable(able) and not able():
        what = "writing" if writing else "reading"
        raise ValueError(f"path must be a file opened for {what}, got {value!r}.")
    return True
