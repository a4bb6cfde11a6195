"""Checks of paths and sources, and of the path or open file of a model."""

from __future__ import annotations

import io
import os
from typing import Any


class Unreachable(OSError):
    """A file cannot be read, or not to its end; the message has the words of its filesystem."""


def source_made_by(expected: str, got: str) -> None:
    """Refuse a source of other records than a model learns."""
    if got != expected:
        raise TypeError(f"source must be made by read.{expected}, got one made by read.{got}.")


def is_open_file(value: Any, *, writing: bool) -> bool:
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
