"""Text in encodings other than UTF-8: the same rows, blocks and offsets."""

from __future__ import annotations

import gzip
import json
import sys
from subprocess import run as process

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, check_going_on, rows, written
from surelearn import read

LETTERS = st.text(st.characters(codec="latin-1", exclude_characters="\x00"), max_size=12)


@given(
    pairs=st.lists(st.tuples(LETTERS, st.sampled_from(["x", "ÿ"])), min_size=1, max_size=20),
    encoding=st.sampled_from(["latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]),
    size=st.sampled_from([16, 60, 2**20]),
    packed=st.booleans(),
    kind=st.sampled_from(["csv", "jsonl"]),
)
def test_any_encoding(pairs, encoding, size, packed, kind, tmp_path_factory):
    """Rows, places and blocks are those of the same text in UTF-8."""
    folder = tmp_path_factory.mktemp("text")
    pairs = [("ä", "x"), *pairs]
    lines = [
        json.dumps({"text": text, "label": label}, ensure_ascii=False) for text, label in pairs
    ]
    text = written(pairs) if kind == "csv" else "\n".join(lines)
    data = text.encode(encoding)
    path = folder / f"a.{kind}{'.gz' * packed}"
    path.write_bytes(gzip.compress(data) if packed else data)
    plain = folder / f"b.{kind}"
    plain.write_text(text, encoding="utf-8", newline="")
    with blocks_of(size):
        assert rows(path, encoding=encoding) == (pairs, 0)
        source = read.batches(path, encoding=encoding)
        ends = [block.end for block in source.blocks()]
        assert ends == [block.end for block in read.batches(plain).blocks()]
        check_going_on(source)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig"])
def test_utf8_has_many_names(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nä,x\n", encoding="utf-8-sig")
    assert rows(path, encoding=encoding) == ([("ä", "x")], 0)


def test_bytes_that_are_none_of_an_encoding_are_bad_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\na\xe4,x\nb\x81,y\nc,x\n")
    message = r"a.csv, line 3: expected cp1252, got other bytes in .* With skip_bad=True"
    with pytest.raises(read.BadInput, match=message):
        rows(path, encoding="cp1252")
    assert rows(path, encoding="cp1252", skip_bad=True) == ([("aä", "x"), ("c", "x")], 1)
    cut = '{"text": "a", "label": "x"}\n{"text": "?", "label": "y"}\n'.encode("utf-16-le")
    path = tmp_path / "a.jsonl"
    path.write_bytes(cut.replace("?".encode("utf-16-le"), b"\x3d\xd8"))  # half of an emoji
    assert rows(path, encoding="utf-16-le", skip_bad=True) == ([("a", "x")], 1)
    with pytest.raises(
        read.BadInput, match=r"a.jsonl, line 2: expected utf-16-le, got other bytes"
    ):
        rows(path, encoding="utf-16-le")


def test_encodings_from_standard_input(tmp_path):
    program = (
        "from surelearn import read\n"
        "for batch in read.batches('-', format='csv', encoding='utf-16', delimiter=';'):\n"
        "    print(batch.X.to_pylist(), batch.y)\n"
    )
    data = "text;label\nä;x\nö;y\n".encode("utf-16")
    done = process([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout.decode() == "['ä', 'ö'] ['x' 'y']\n"
