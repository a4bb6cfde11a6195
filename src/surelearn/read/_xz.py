"""Decodes .xz files: several streams, their padding, and nothing else after them.

`lzma.open` stops without an error at a stream that it cannot decode, and refuses padding.
"""

from __future__ import annotations

import lzma
from typing import Any

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
