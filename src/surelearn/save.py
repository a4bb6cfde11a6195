"""Room 8, files: plain arrays and settings to one file and back; must not know estimators.

The format is specified in docs/format.md: a safetensors container whose metadata has one entry,
``surelearn``, a JSON text. Nothing in a file is ever executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors.numpy import save_file

from surelearn._check import FormatError

__all__ = ["FORMAT_VERSION", "Reader", "read", "write"]

FORMAT_VERSION = 1
_KEY = "surelearn"

Tensors = Mapping[str, NDArray[Any]]


def write(path: str | os.PathLike[str], tensors: Tensors, settings: Mapping[str, Any]) -> None:
    """Write one file, whole or not at all: temporary file, fsync, rename."""
    target = Path(path)
    text = json.dumps({"format": FORMAT_VERSION, **settings}, sort_keys=True, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        save_file(arrays, temporary, metadata={_KEY: text})
        _sync(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync(target.parent)


def _umask() -> int:
    """The permissions an ordinary new file would lack; mkstemp's are for the owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: str | os.PathLike[str]) -> None:
    """Make the system write what it has, so that a crash cannot lose what was renamed."""
    if os.name == "nt" and os.path.isdir(path):
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
