"""Writes and reads safetensors with a checksum; must not know what the tensors mean.

Bytes are written and read once, in order, so any stream will do. The checksum is computed on the
way; for large files in a thread, since hashing and copying both release the GIL.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import RawIOBase
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn._check import FormatError
from surelearn._workers import Workers
from surelearn.files._fields import Fields, parsed

Tensors = Mapping[str, NDArray[Any]]

#: The types of tensors, by their names in the header.
_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}

#: Names in the header: the metadata, our entry in it, and the tensor with the checksum of all bytes
#: before it.
_METADATA, _TEXT, _CHECKSUM = "__metadata__", "surelearn", "checksum"
_SIZE = hashlib.sha256().digest_size

#: The longest header, as in safetensors: parsed JSON takes many times its size.
_LONGEST = 100_000_000

#: Marks before the values of JSON, the bytes that a parsed value takes at most, and how many bytes
#: any header may take.
_MARKS, _VALUE, _FREE = (b",", b":", b"[", b"{"), 128, 2**24

#: Number of bytes to read or write at a time.
_CHUNK = 2**22


class Content(NamedTuple):
    """The content of a container."""

    text: str | None  # None if there is no entry of surelearn
    tensors: dict[str, NDArray[Any]]
    checked: bool  # whether there was a checksum; it is right then


class _Entry(NamedTuple):
    """The position of a tensor, in bytes after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


def write(stream: Any, tensors: Tensors, text: str) -> None:
    """Write a container to a binary stream."""
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    # Larger items first, so that each tensor is aligned to its item size.
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    head = _head({name: arrays[name] for name in order}, text)
    n_bytes = len(head) + sum(array.nbytes for array in arrays.values())
    with _hashed(n_bytes) as (checksum, update):
        for part in (memoryview(head), *(_bytes_of(arrays[name]) for name in order)):
            for at in range(0, len(part), _CHUNK):
                update(part[at : at + _CHUNK])
                _put(stream, part[at : at + _CHUNK])
    _put(stream, memoryview(checksum.digest()))


def _head(arrays: Mapping[str, NDArray[Any]], text: str) -> bytes:
    """The length of the header and the header."""
    header: dict[str, Any] = {_METADATA: {_TEXT: text}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = _described(_NAMES[array.dtype.newbyteorder("<")], array.shape, begin, end)
    header[_CHECKSUM] = _described("U8", (_SIZE,), end, end + _SIZE)
    whole = json.dumps(header, separators=(",", ":")).encode()
    whole += b" " * (-len(whole) % 8)  # so that tensors are aligned in a memory-mapped file
    if len(whole) > _LONGEST:
        raise ValueError(
            f"labels and parameters must take at most {_LONGEST:,} bytes in a file, got "
            f"{len(whole):,}."
        )
    return len(whole).to_bytes(8, "little") + whole


def _described(dtype: str, shape: tuple[int, ...], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, little-endian, without a copy if it is already."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8).data


def _put(stream: Any, part: memoryview) -> None:
    """Write all bytes: an unbuffered file may take fewer at a time."""
    while len(part):
        n = stream.write(part)
        if n is None and not isinstance(stream, RawIOBase):
            return  # a file-like object that returns no count
        if not n:
            raise BlockingIOError("the file must accept all bytes, got one that would block.")
        part = part[n:]


def text_of(stream: Any, where: str) -> str | None:
    """Only the text, without the checksum; None if there is no entry of surelearn."""
    return _text(_header(_head_in(stream, where, _LONGEST), where))


def read(stream: Any, where: str, *, max_bytes: int, size: int | None) -> Content:
    """Read a container from a binary stream; if `size` is known, it must fill the stream.

    Raises FormatError for anything else than a container, and if it is damaged or too large.
    """
    head = _head_in(stream, where, max_bytes)
    header = _header(head, where)
    entries = _entries(header)
    n_bytes = len(head) + (entries[-1].end if entries else 0)
    if size not in (None, n_bytes):
        raise _damaged(where, f"{n_bytes} bytes must be there, got {size}")
    if n_bytes > max_bytes:
        raise FormatError(f"{where} must have at most max_bytes={max_bytes} bytes, got {n_bytes}.")
    _check.enough_memory(
        n_bytes,
        None,
        lambda room: (
            f"{where} must fit in memory ({_check.size(room)} available), got "
            f"{_check.size(n_bytes)}."
        ),
    )
    tensors = {}
    with _hashed(n_bytes) as (checksum, update):
        update(head)
        for entry in entries:
            tensor = _room(entry, where)
            hashed = _ignored if entry.name == _CHECKSUM else update
            _fill(stream, tensor.reshape(-1).view(np.uint8).data, hashed, where)
            tensors[entry.name] = tensor.astype(tensor.dtype.newbyteorder("="), copy=False)
    found = tensors.pop(_CHECKSUM, None)
    right = entries[-1:] and entries[-1].name == _CHECKSUM
    if found is not None and not (right and found.tobytes() == checksum.digest()):
        raise FormatError(f"{where} must match its checksum, got other bytes: it is damaged.")
    return Content(_text(header), tensors, found is not None)


def _damaged(where: str, why: str) -> FormatError:
    return FormatError(f"{where} must be a safetensors file, got a damaged one: {why}.")


def _head_in(stream: Any, where: str, max_bytes: int) -> bytes:
    """The length of the header and the header."""
    length = bytearray(8)
    _fill(stream, memoryview(length), _ignored, where)
    n = int.from_bytes(length, "little")
    if n > _LONGEST:
        # The first bytes of any text are such a number.
        raise FormatError(f"{where} must be a surelearn model, got another kind of file.")
    if n + 8 > max_bytes:
        raise FormatError(f"{where} must have at most max_bytes={max_bytes} bytes, got more.")
    header = bytearray(n)
    _fill(stream, memoryview(header), _ignored, where)
    n_values = sum(map(header.count, _MARKS))
    if _VALUE * n_values > max(max_bytes, _FREE):  # before a parser makes objects of them
        raise FormatError(
            f"{where} must have settings that fit into max_bytes={max_bytes}, got up to {n_values} "
            "values. Pass a larger max_bytes to load it."
        )
    return bytes(length + header)


def _header(head: bytes, where: str) -> Fields:
    """The parsed header."""
    try:
        return parsed(head[8:].decode(), where, "a header")
    except ValueError as error:  # a FormatError is one
        raise _damaged(where, str(error).removesuffix(".")) from None


def _text(header: Fields) -> str | None:
    if not header.has(_METADATA) or _TEXT not in header.object(_METADATA):
        return None
    return header.inner(_METADATA).text(_TEXT)


def _entries(header: Fields) -> list[_Entry]:
    """The tensors in order; each must begin where the previous one ends."""
    entries = [_entry(header, name) for name in header if name != _METADATA]
    entries.sort(key=lambda entry: (entry.begin, entry.end))
    end = 0
    for entry in entries:
        if entry.begin != end:
            raise _damaged(header.where, f"{entry.name[:60]!r} must begin at byte {end}")
        end = entry.end
    return entries


def _entry(header: Fields, name: str) -> _Entry:
    fields = header.inner(name)
    dtype = _TYPES[fields.text("dtype", list(_TYPES))]
    shape = tuple(fields.naturals("shape"))
    begin, end = fields.naturals("data_offsets", 2)
    if end - begin != math.prod(shape) * dtype.itemsize or len(shape) > 2:
        raise _damaged(header.where, f"{name[:60]!r} must have the size of its shape")
    return _Entry(name, dtype, shape, begin, end)


def _room(entry: _Entry, where: str) -> NDArray[Any]:
    """An empty array for a tensor."""
    try:
        return np.empty(entry.shape, entry.dtype)
    except ValueError:  # one dimension is 0, and another too large for numpy
        raise _damaged(where, f"{entry.name[:60]!r} must have a possible shape") from None


def _fill(stream: Any, part: memoryview, update: Callable[[memoryview], Any], where: str) -> None:
    """Fill a buffer from a stream."""
    while len(part):
        n = _read_into(stream, part[:_CHUNK])
        if not n:
            raise _damaged(where, f"{len(part)} bytes are missing at its end")
        update(part[:n])
        part = part[n:]


def _read_into(stream: Any, part: memoryview) -> int | None:
    if hasattr(stream, "readinto"):
        n: int | None = stream.readinto(part)
        return n
    data = stream.read(len(part))
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"path must be a binary file, got one that returns {type(data).__name__}.")
    part[: len(data)] = data
    return len(data)


@contextmanager
def _hashed(n_bytes: int) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """A checksum, complete after this context, and a function that adds bytes to it."""
    checksum = hashlib.sha256()
    if n_bytes <= _CHUNK:  # a thread would take longer to start
        yield checksum, checksum.update
        return
    with Workers(1) as thread:
        yield checksum, lambda part: thread.submit(checksum.update, part)


def _ignored(part: Any) -> None:
    """Add nothing, for bytes that are not part of the checksum."""
