"""Converts streams of any encoding to UTF-8; must not know lines or formats."""

from __future__ import annotations

import codecs
from functools import cache

from surelearn import _check
from surelearn.read._files import Stream

#: A byte that UTF-8 never uses. It replaces what cannot be decoded, so that the line is bad.
_NO_LETTER = b"\xff"


class Transcoded(Stream):
    """A stream in another encoding, read as UTF-8.

    Places count bytes of UTF-8. To continue from a place, the text before it is decoded again, as
    with compressed files.

    Parameters
    ----------
    stream : Stream
    encoding : str
        Encoding of the stream.
    """

    def __init__(self, stream: Stream, encoding: str) -> None:
        self.name = stream.name
        self.is_patient = stream.is_patient
        self._bytes = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(_marking())
        self._ready = b""
        self._ended = False
        self._is_ascii = True  # so far

    @property
    def consumed(self) -> int:
        return self._bytes.consumed

    @property
    def closed(self) -> bool:
        return self._bytes.closed

    def read(self, size: int) -> bytes:
        while len(self._ready) < size and not self._ended and (self.is_patient or not self._ready):
            self._decode(size)
        read, self._ready = self._ready[:size], self._ready[size:]
        return read

    def skip(self, size: int) -> None:
        while size > 0 and (part := self.read(min(size, 1 << 20))):
            size -= len(part)

    def close(self) -> None:
        self._bytes.close()

    def _decode(self, size: int) -> None:
        part = self._bytes.read(size)
        if self._is_ascii and not part.isascii():
            self._is_ascii = False
            if _is_utf8_begin(part) and _has_single_bytes(self._encoding):
                raise _check.utf8_already(self.name, self._encoding)
        self._ended = not part
        text = self._decoder.decode(part, final=self._ended)
        self._ready += text.encode("utf-8", _marking())


@cache
def _marking() -> str:
    """The name of an error handler that turns what is no text into `_NO_LETTER`."""
    name = "surelearn.no_letter"
    codecs.register_error(name, _marked)
    return name


def _marked(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end  # a lone surrogate: encoding it calls this handler again
    assert isinstance(error, UnicodeEncodeError)
    return _NO_LETTER * (error.end - error.start), error.end


def _is_utf8_begin(data: bytes) -> bool:
    """Whether bytes are UTF-8, perhaps with the last character cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _has_single_bytes(encoding: str) -> bool:
    """Whether every byte is a character. Such an encoding decodes anything, even UTF-8."""
    return len(bytes(range(256)).decode(encoding, "replace")) == 256
