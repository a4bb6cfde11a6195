"""Files of lines, cut into blocks of whole lines."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, check_going_on, dumped, rows
from surelearn import _core, read
from surelearn.read._files import File
from surelearn.read._lines import lines_of

GOOD = b'{"text": "a", "label": "x"}\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reviews.jsonl"


def test_a_file_that_has_changed_is_not_gone_on_with(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a A\n\nb B\n\nc C\n")
    with blocks_of(6):
        place = next(read.sentences(path).blocks()).end
        assert place.line == 2
        path.write_text("a Z\n\nb B\n\nc C\n")
        with pytest.raises(read.BadInput, match=r"must be the file that was read before, got one"):
            list(read.sentences(path).blocks(place))


def test_what_editors_leave_in_files_is_no_harm(path):
    path.write_bytes(
        b"\xef\xbb\xbf\r\n" + GOOD.replace(b"\n", b"\r\n") * 3 + b"\n\n" + GOOD.strip()
    )
    for size in (8, 40, 2**20):
        with blocks_of(size):
            assert rows(path) == ([("a", "x")] * 4, 0)


def test_a_line_may_be_longer_than_a_block_but_not_endless(path, monkeypatch):
    long = [("word " * 1000, "x"), ("b", "y"), ("c " * 4000, "z")]
    path.write_bytes(dumped(long))
    with blocks_of(256):
        assert rows(path) == (long, 0)
        assert check_going_on(read.batches(path)) == 2
        monkeypatch.setattr(read._lines, "LONGEST", 2**12)
        with pytest.raises(read.BadInput, match=r"must be made of lines, got one of more than"):
            rows(path)


def test_files_without_records(path):
    for data in (b"", b"\n\n", b"\xef\xbb\xbf"):
        path.write_bytes(data)
        with pytest.raises(read.BadInput, match=r"reviews.jsonl must have at least one record"):
            rows(path)
        other = path.with_name("z.jsonl")
        other.write_bytes(GOOD)
        assert rows([path, other]) == ([("a", "x")], 0)
        assert rows([other, path]) == ([("a", "x")], 0)


LINES = st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b".")), max_size=9)


@given(lines=LINES, ended=st.booleans(), size=st.sampled_from([1, 4, 10, 2**20]))
def test_blocks_are_whole_lines_and_know_their_place(lines, ended, size, tmp_path_factory):
    lines = [b"", *lines]  # nothing at the start that looks like the mark of another encoding
    data = b"\n".join(lines) + b"\n" * ended
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes(data)
    with blocks_of(size):
        blocks = list(lines_of(File(str(path))))
    assert b"".join(block.data for block in blocks) == data
    assert all(block.data.endswith(b"\n") for block in blocks[:-1])
    assert sum(block.n_bytes for block in blocks) == len(data)
    at = line = 0
    for block in blocks:
        assert block.first == line + 1
        at, line = at + len(block.data), line + len(block.data.removesuffix(b"\n").split(b"\n"))
        assert (block.end.at, block.end.line) == (at, line)


def test_reading_goes_on_behind_the_first_lines_of_a_block(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    (block,) = lines_of(File(str(path)))
    part = block.before(2)
    assert part.data == b"one\ntwo\n"
    (rest,) = lines_of(File(str(path)), part.end)
    assert (rest.data, rest.first) == (b"three\nfour", 3)
    path.write_bytes(b"one\nTWO\nthree\nfour")
    with pytest.raises(read.BadInput, match=r"got one that differs before line 3\."):
        list(lines_of(File(str(path)), part.end))


def test_only_plain_files_end_at_their_size(tmp_path):
    """Others are read through a decoder, whose offsets are those of what it gives."""
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "b.jsonl").write_bytes(GOOD.decode().encode("utf-16"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(GOOD))
    for name, encoding, end in (
        ("a.jsonl", None, len(GOOD)),
        ("b.jsonl", "utf-16", None),
        ("c.jsonl.gz", None, None),
    ):
        source = read.batches(tmp_path / name, encoding=encoding)
        assert rows(source) == rows(tmp_path / "a.jsonl")
        assert source.end_of(0) == end


@given(st.binary(max_size=30), st.integers(0, 40), st.binary(max_size=30))
def test_newlines_are_counted(before, times, after):
    data = before + b"\n" * 7 * times + after
    assert _core.count_newlines(data) == data.count(b"\n")
    assert _core.count_newlines(data * 20) == (data * 20).count(b"\n")
