"""Room 8, files: plain arrays and settings to one file and back; must not know estimators.

The format is specified in docs/format.md: a safetensors container whose metadata has one entry,
``surelearn``, a JSON text. Nothing in a file is ever executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from surelearn._check import FormatError

__all__ = ["FORMAT_VERSION", "Fields", "read", "write"]

FORMAT_VERSION = 1
_KEY = "surelearn"

Tensors = Mapping[str, NDArray[Any]]
Path_ = str | os.PathLike[str]


def write(path: Path_, tensors: Tensors, settings: Mapping[str, Any]) -> None:
    """Write one file, whole or not at all: temporary file, fsync, rename."""
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not (target.is_file() or target.is_dir()):
        # Renaming onto /dev/null would replace it.
        raise OSError(f"{path} must be an ordinary file, got a device or a pipe.")
    text = json.dumps({"format": FORMAT_VERSION, **settings}, sort_keys=True, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        save_file(arrays, temporary, metadata={_KEY: text})
        _sync(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, SafetensorError):
            raise _of_system(error, target) from None
        raise
    _sync(target.parent)


def _of_system(error: SafetensorError, path: Path) -> OSError:
    """The error of the system that is in the words of another one."""
    found = re.search(r"os error (\d+)", str(error))
    if found is None:
        return OSError(f"{path} could not be written: {error}")
    number = int(found[1])
    return OSError(number, os.strerror(number), os.fspath(path))


def _umask() -> int:
    """The permissions an ordinary new file would lack; mkstemp's are for the owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path_) -> None:
    """Make the system write what it has, so that a crash cannot lose what was renamed."""
    if os.name == "nt" and os.path.isdir(path):
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path_, max_bytes: int) -> tuple[Fields, dict[str, NDArray[Any]]]:
    """Settings and tensors of a file; `FormatError` for anything that is not one of ours."""
    with open(path, "rb") as plain:  # a missing file or a folder is an ordinary error
        size = os.fstat(plain.fileno()).st_size
    if size > max_bytes:
        raise FormatError(f"{path} must have at most max_bytes={max_bytes} bytes, got {size}.")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(_KEY)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError:
        raise
    except Exception as error:
        raise FormatError(
            f"{path} must be a safetensors file, got a damaged one: {error}"
        ) from None
    if text is None:
        raise FormatError(f"{path} must be a surelearn model, got a safetensors file without one.")
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(f"{path} must have settings in JSON, got damaged ones.") from None
    fields = Fields(settings, os.fspath(path))
    found = fields.integer("format", low=1)
    if found > FORMAT_VERSION:
        raise FormatError(
            f"{path} must have format {FORMAT_VERSION} or older, got {found}. "
            "Update surelearn to read it."
        )
    return fields, tensors


class Fields:
    """Settings of a file, each asked for by name and kind.

    >>> Fields({"format": 1}, "m.sure").integer("format")
    1
    """

    def __init__(self, settings: Any, where: str) -> None:
        if not isinstance(settings, dict):
            raise FormatError(f"{where} must be an object, got {type(settings).__name__}.")
        self._settings = settings
        self.where = where

    def _get(self, name: str, kinds: type | tuple[type, ...], what: str) -> Any:
        value = self._settings.get(name)
        wrong = isinstance(value, bool) and kinds is not bool
        if wrong or not isinstance(value, kinds):
            raise FormatError(f"{self.where}: {name} must be {what}, got {str(value)[:60]!r}.")
        return value

    def has(self, name: str) -> bool:
        return name in self._settings

    def integer(self, name: str, *, low: int = 0, high: int = 2**62) -> int:
        value: int = self._get(name, int, "a whole number")
        if not low <= value <= high:
            raise FormatError(f"{self.where}: {name} must be in [{low}, {high}], got {value}.")
        return value

    def number(self, name: str) -> float:
        return float(self._get(name, (int, float), "a number"))

    def flag(self, name: str) -> bool:
        value: bool = self._get(name, bool, "true or false")
        return value

    def text(
        self, name: str, known: Sequence[str] | None = None, *, default: str | None = None
    ) -> str:
        if default is not None and not self.has(name):
            return default
        value: str = self._get(name, str, "a text")
        if known is not None and value not in known:
            raise FormatError(f"{self.where}: {name} must be one of {known}, got {value[:60]!r}.")
        return value

    def list(self, name: str) -> list[Any]:
        value: list[Any] = self._get(name, list, "a list")
        return value

    def object(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = self._get(name, dict, "an object")
        return value

    def inner(self, name: str) -> Fields:
        return Fields(self.object(name), f"{self.where}: {name}")
