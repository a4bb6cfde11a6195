"""Converts streams of any encoding to UTF-8; must not know lines or formats."""

from __future__ import annotations

import codecs
from functools import cache

from surelearn._check import BadInput, Keyword, Message
from surelearn.read._files import Stream

#: A byte that UTF-8 never uses. It replaces what cannot be decoded, so that the line is bad.
_NO_LETTER = b"\xff"

_BOMS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}

#: Bytes at the start of a file that show whether it is UTF-16 or UTF-32.
_LOOKED = 64


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
                raise BadInput(
                    Message(
                        "{name} must be in {given}, got UTF-8. Use {encoding}.",
                        name=self.name,
                        given=self._encoding,
                        encoding=Keyword("encoding", "utf-8"),
                    )
                )
        self._ended = not part
        text = self._decoder.decode(part, final=self._ended)
        self._ready += text.encode("utf-8", _marking())


@cache
def _marking() -> str:
    """The name of an error handler that turns what is no text into `_NO_LETTER`."""
    name = "surelearn.no_letter"
    codecs.register_error(name, _mark_undecodable)
    return name


def _mark_undecodable(error: UnicodeError) -> tuple[str | bytes, int]:
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


def not_utf16(data: bytes, name: str) -> None:
    """Refuse a file that starts like UTF-16 or UTF-32."""
    found = _wide_encoding(data[:_LOOKED])
    if found is not None:
        raise BadInput(
            Message(
                "{name} must be in UTF-8, got {kind}. Use {encoding}.",
                name=name,
                kind=found[:6].upper(),
                encoding=Keyword("encoding", found),
            )
        )


def _wide_encoding(begin: bytes) -> str | None:
    for bom, name in _BOMS.items():
        if begin.startswith(bom):
            return name
    # Without a byte order mark: in UTF-16 of mostly ASCII text, every other byte is zero.
    pairs = len(begin) // 2
    first, second = begin[0 : 2 * pairs : 2].count(0), begin[1 : 2 * pairs : 2].count(0)
    if pairs < 4 or 0 not in (first, second) or first + second < 0.8 * pairs:
        return None
    return "utf-16-le" if second else "utf-16-be"


def not_utf8(data: bytes, given: str | None, inside: str | None = None) -> Message:
    """What is wrong with bytes that are not text; names their position, or the value `inside`."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = error.start
    where = f"at position {start}" if inside is None else f"in {inside}"
    if given is not None:
        return Message("expected {given}, got other bytes {where}.", given=given, where=where)
    return Message(
        "expected UTF-8, got byte 0x{byte:02x} {where}. Name the encoding of the file, such as "
        "{encoding}.",
        byte=data[start],
        where=where,
        encoding=Keyword("encoding", "latin-1"),
    )
