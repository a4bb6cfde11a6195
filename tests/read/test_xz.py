"""An .xz file is decoded wholly or refused: no stream of it is lost."""

from __future__ import annotations

import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import dumped, rows
from surelearn import read
from surelearn.read._xz import XzReader

PAIRS = [("good film", "pos"), ("bad film", "neg")] * 5
ONE = lzma.compress(dumped(PAIRS))


def decoded(data, size=100):
    reader = XzReader(io.BytesIO(data))
    return b"".join(iter(lambda: reader.read(size), b""))


@given(
    parts=st.lists(st.tuples(st.binary(max_size=300), st.integers(0, 40_000)), min_size=1),
    size=st.integers(1, 500),
)
def test_streams_and_their_padding_are_decoded(parts, size):
    data = b"".join(lzma.compress(part) + bytes(4 * words) for part, words in parts)
    assert decoded(data, size) == b"".join(part for part, _ in parts)


@given(flipped=st.integers(0, len(ONE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_in_a_later_stream_is_found(flipped, bit):
    """It ended the file without an error, and the second stream was lost."""
    second = bytearray(ONE)
    second[flipped] ^= 1 << bit
    with pytest.raises((lzma.LZMAError, EOFError), match=r"."):
        decoded(ONE + bytes(second))


@pytest.mark.parametrize(
    "after",
    [b"trailing garbage", b"x", b"\0", b"\0" * 5, b"\0" * 6 + ONE, b"\0\0\0\0x", ONE[:4], ONE[:-1]],
)
def test_what_is_no_stream_after_one_is_refused(after, tmp_path):
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(ONE + after)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path, skip_bad=True)


def test_padding_is_no_data(tmp_path):
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(ONE + bytes(8) + ONE + bytes(4))
    assert rows(path) == (PAIRS * 2, 0)
    path.write_bytes(bytes(4) + ONE)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path)
