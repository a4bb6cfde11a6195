"""Files in another encoding, delimiter or layout than expected, and the errors that name it."""

from __future__ import annotations

import pytest

from reading import rows
from surelearn import read
from surelearn.read import _options


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
    with pytest.raises(
        read.BadInput, match=r"a.csv must have columns separated by ',', got"
    ) as caught:
        rows(path)
    assert str(caught.value).endswith(f"Use delimiter={mark!r}.")
    assert rows(path, delimiter=mark) == ([("a", "x")], 0)
    (tmp_path / "b.csv").write_text("text,label\na,x\n")
    with pytest.raises(read.BadInput, match=r"a.csv must have columns separated by ','"):
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
        ("a.csv", {"delimiter": ""}, ValueError, "delimiter must be one ASCII character"),
        ("a.csv", {"delimiter": ";;"}, ValueError, "delimiter must be one ASCII character"),
        ("a.csv", {"delimiter": "é"}, ValueError, "delimiter must be one ASCII character"),
        ("a.csv", {"delimiter": "\n"}, ValueError, "delimiter must be one ASCII character"),
        ("a.csv", {"delimiter": 5}, TypeError, "delimiter must be a str, got 5"),
        ("a.csv", {"delimiter": '"'}, ValueError, "delimiter and quote must differ"),
        ("a.csv", {"quote": "<<"}, ValueError, "quote must be one ASCII character, or '' for none"),
        ("a.csv", {"quote": False}, TypeError, "quote must be a str, got False"),
        ("a.csv", {"encoding": "klingon"}, ValueError, "encoding must be one that Python knows"),
        ("a.csv", {"encoding": "base64"}, ValueError, "encoding must be one that Python knows"),
        ("a.csv", {"encoding": 8}, TypeError, "encoding must be a str, got 8"),
        ("a.csv", {"label_separator": ""}, ValueError, "label_separator must be one ASCII char"),
        ("a.csv", {"label_separator": "; "}, ValueError, "label_separator must be one ASCII char"),
        ("a.csv", {"label_separator": 5}, TypeError, "label_separator must be a str, got 5"),
        (
            "a.jsonl",
            {"label_separator": ";"},
            ValueError,
            "label_separator is for csv, tsv and svmlight, got",
        ),
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


def test_names_are_distinct_but_for_the_one_that_stands_for_none():
    assert _options.distinct("columns", ["w", "_", "_"], but="_") == ("w", "_", "_")
    with pytest.raises(ValueError, match=r"columns must be different names, got \['w', '_', '_'\]"):
        _options.distinct("columns", ["w", "_", "_"])
    for wrong in ("w", 3, ["w", 3]):
        with pytest.raises(TypeError, match="columns must be a list of names, got "):
            _options.distinct("columns", wrong)
