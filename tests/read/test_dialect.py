"""Text of the real world: other delimiters, quotes and encodings, and errors that name them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from subprocess import run as process

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, check_going_on, rows, texts
from surelearn import read

LETTERS = st.text(st.characters(codec="latin-1", exclude_characters="\x00"), max_size=12)


def written(pairs, delimiter=",", quote='"'):
    """The bytes of csv in UTF-8."""
    text = io.StringIO(newline="")
    marks = {"quotechar": quote, "quoting": csv.QUOTE_ALL} if quote else {}
    none = {} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", **marks, **none)
    writer.writerow(["id", "text", "label"])
    writer.writerows([i, text, label] for i, (text, label) in enumerate(pairs))
    return text.getvalue()


@given(
    pairs=st.lists(st.tuples(texts, st.sampled_from(["x", "y"])), min_size=1, max_size=8),
    delimiter=st.sampled_from([";", "|", "\t", ",", ":", " "]),
    quote=st.sampled_from(['"', "'", "`"]),
    size=st.sampled_from([40, 2**20]),
)
def test_any_delimiter_and_quote(pairs, delimiter, quote, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(written(pairs, delimiter, quote).encode())
    with blocks_of(size):
        assert rows(path, delimiter=delimiter, quote=quote) == (pairs, 0)


def test_quotes_may_be_letters_like_any_other(tmp_path):
    pairs = [('"open', "x"), ('a "b" c', "y"), ('"', "x"), ("'", "y")]
    path = tmp_path / "a.tsv"
    path.write_text(written(pairs, "\t", quote=""))
    assert rows(path, quote="") == (pairs, 0)
    path.write_text(written([('"open', "x"), ("b", "y")], "\t", quote=""))
    with pytest.raises(read.BadInput, match=r"a.tsv, line 2: expected 3 columns, .* Use quote=''"):
        rows(path)


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
    message = r"a.csv, line 3: expected cp1252, got bytes that are none in .* With skip_bad=True"
    with pytest.raises(read.BadInput, match=message):
        rows(path, encoding="cp1252")
    assert rows(path, encoding="cp1252", skip_bad=True) == ([("aä", "x"), ("c", "x")], 1)
    cut = '{"text": "a", "label": "x"}\n{"text": "?", "label": "y"}\n'.encode("utf-16-le")
    path = tmp_path / "a.jsonl"
    path.write_bytes(cut.replace("?".encode("utf-16-le"), b"\x3d\xd8"))  # half of an emoji
    assert rows(path, encoding="utf-16-le", skip_bad=True) == ([("a", "x")], 1)
    with pytest.raises(read.BadInput, match=r"a.jsonl, line 2: expected utf-16-le, got bytes"):
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


# ------------------------------------------------------------------------- errors


@pytest.mark.parametrize("kind", ["csv", "jsonl", "tsv", "vw"])
@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_wide_letters_are_named(tmp_path, kind, encoding, named, skip_bad):
    path = tmp_path / f"a.{kind}"
    path.write_bytes("text,label,and,more,columns\na,x,,,\n".encode(encoding))
    message = rf"a.{kind} must be in UTF-8, got .*\. Use encoding='{named}'\."
    with pytest.raises(read.BadInput, match=message):
        rows(path, skip_bad=skip_bad)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"text,label\ncaf\xe9,x\n"),
        ("a.csv", b"t\xe9xt,label\ncafe,x\n"),
        ("a.tsv", b"text\tlabel\ncaf\xe9\tx\n"),
        ("a.jsonl", b'{"text": "caf\xe9", "label": "x"}\n'),
    ],
)
def test_latin1_is_said_to_be_another_encoding(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    message = rf"{name}, line \d: expected UTF-8, got byte 0xe9 .* such as encoding='latin-1'\."
    with pytest.raises(read.BadInput, match=message):
        rows(tmp_path / name)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1251"])
def test_utf8_is_not_taken_for_another_encoding(tmp_path, encoding):
    """It would be read without an error, as other words."""
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "a,x\n" * 50 + "café,x\n", encoding="utf-8")
    message = rf"a.csv must be in {encoding}, got UTF-8\. Use encoding='utf-8'\."
    with pytest.raises(read.BadInput, match=message):
        rows(path, encoding=encoding)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_delimiter_is_named(tmp_path, mark):
    path = tmp_path / "a.csv"
    path.write_text(f"text{mark}label\na{mark}x\n")
    with pytest.raises(read.BadInput, match=r"a.csv must have columns between ',', got") as caught:
        rows(path)
    assert str(caught.value).endswith(f"Use delimiter={mark!r}.")
    assert rows(path, delimiter=mark) == ([("a", "x")], 0)
    (tmp_path / "b.csv").write_text("text,label\na,x\n")
    with pytest.raises(read.BadInput, match=r"a.csv must have columns between ','"):
        rows([tmp_path / "b.csv", path])
    (batch,) = read.batches(path, text=f"text{mark}label")
    assert batch.X.to_pylist() == [f"a{mark}x"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('[{"text": "a", "label": 1}, {"text": "b", "label": 2}]', "got a JSON array"),
        ('[\n {"text": "a", "label": 1},\n {"text": "b", "label": 2}\n]\n', "got a JSON array"),
        ('{\n "text": "a",\n "label": 1\n}\n', "got one over several lines"),
    ],
)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_json_that_is_not_in_lines_is_named(tmp_path, text, match, skip_bad):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(read.BadInput, match=rf"a.json must have one JSON object a line, {match}"):
        rows(path, skip_bad=skip_bad)


@pytest.mark.parametrize(
    ("name", "options", "error", "match"),
    [
        ("a.csv", {"delimiter": ""}, ValueError, "delimiter must be one letter of ASCII"),
        ("a.csv", {"delimiter": ";;"}, ValueError, "delimiter must be one letter of ASCII"),
        ("a.csv", {"delimiter": "é"}, ValueError, "delimiter must be one letter of ASCII"),
        ("a.csv", {"delimiter": "\n"}, ValueError, "delimiter must be one letter of ASCII"),
        ("a.csv", {"delimiter": 5}, TypeError, "delimiter must be a str, got 5"),
        ("a.csv", {"delimiter": '"'}, ValueError, "delimiter and quote must differ"),
        ("a.csv", {"quote": "<<"}, ValueError, "quote must be one letter of ASCII, or '' for none"),
        ("a.csv", {"quote": False}, TypeError, "quote must be a str, got False"),
        ("a.csv", {"encoding": "klingon"}, ValueError, "encoding must be one that Python knows"),
        ("a.csv", {"encoding": "base64"}, ValueError, "encoding must be one that Python knows"),
        ("a.csv", {"encoding": 8}, TypeError, "encoding must be a str, got 8"),
        ("a.jsonl", {"delimiter": ";"}, ValueError, "delimiter is for csv and tsv, got jsonl"),
        ("a.jsonl", {"quote": "'"}, ValueError, "quote is for csv and tsv, got jsonl"),
        ("a.parquet", {"encoding": "latin-1"}, ValueError, "encoding is for lines .* got parquet"),
    ],
)
def test_what_is_no_delimiter_quote_or_encoding(tmp_path, name, options, error, match):
    (tmp_path / name).write_text("")
    with pytest.raises(error, match=match):
        read.batches(tmp_path / name, **options)


def test_frames_have_no_delimiter():
    import pandas

    with pytest.raises(ValueError, match="delimiter is for csv and tsv, got a frame"):
        read.batches(pandas.DataFrame({"text": ["a"]}), delimiter=";")
