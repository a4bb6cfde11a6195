"""Text in columns: what Python's csv module gives, bad rows named, whatever the blocks."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, check_going_on, records, rows
from reference import readers as slow
from surelearn import read

ENDINGS = {",": "csv", "\t": "tsv"}


def written(pairs, delimiter=",", **options):
    text = io.StringIO(newline="")
    if any("\r" in str(value) for pair in pairs for value in pair):
        options["quoting"] = csv.QUOTE_ALL  # Python's writer may leave one bare before a newline
    writer = csv.writer(text, delimiter=delimiter, **options)
    writer.writerow(["id", "text", "label"])
    writer.writerows([i, text, label] for i, (text, label) in enumerate(pairs))
    return text.getvalue().encode()


@given(
    pairs=records(["texts", "whole numbers"]),
    delimiter=st.sampled_from([",", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    size=st.sampled_from([16, 100, 2**20]),
)
def test_what_was_written_is_read(pairs, delimiter, end, quoting, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / f"a.{ENDINGS[delimiter]}"
    path.write_bytes(written(pairs, delimiter, lineterminator=end, quoting=quoting))
    texts, labels, bad = slow.table(path.read_bytes(), delimiter)
    assert not bad
    assert texts == [text for text, _ in pairs]
    if labels == [label for _, label in pairs]:  # texts that are all numbers are read as numbers
        with blocks_of(2**20):
            assert rows(path) == (pairs, 0)
    if not any(isinstance(label, int) for label in labels):
        # In small blocks the first may be all numbers by chance.
        path.write_bytes(written([("", "x"), *pairs], delimiter, lineterminator=end))
        with blocks_of(size):
            assert rows(path) == ([("", "x"), *zip(texts, labels, strict=True)], 0)


ODD = [
    "b",
    "b,x,y",
    ",x",
    "b,",
    ",",
    "b,\xff",
    "\xff,x",
    '5" disk,x',
    '"x"y"z,x',
    '"two\nlines",x',
    '"two\r\nlines, ""quoted""",x',
    '"",x',
    '"""",x',
    '" b",x',
    ' "b",x',
    '"b" ,x',
    "b,007",
    '\xef\xbb\xbf"b",x',
    "\x00,x",
    "",
    "\r",
    " ",
    "a,x\rb,y",
]


@given(
    lines=st.lists(st.sampled_from(ODD), max_size=8),
    last=st.sampled_from(["", '"open,x', '"open\n,x\n', "b", '"']),
    size=st.sampled_from([20, 2**20]),
)
def test_bad_rows_are_those_that_a_slow_reader_refuses(lines, last, size, tmp_path_factory):
    data = "\n".join(["text,label", "a,x", *lines, last]).encode("latin-1")
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(data)
    texts, labels, bad = slow.table(data, ",")
    with blocks_of(size):
        found, n_bad = rows(path, skip_bad=True)
        assert found == list(zip(texts, labels, strict=True))
        assert n_bad == len(bad)
        if not bad:
            assert rows(path) == (found, 0)
        else:
            with pytest.raises(read.BadInput, match=r"a.csv, line \d+: "):
                rows(path)


@given(pairs=records(["texts"], min_size=6), size=st.sampled_from([16, 60, 200]))
def test_reading_goes_on_from_the_end_of_any_block(pairs, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    pairs = [("", "x"), *pairs]
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_bytes(written(pairs).removesuffix(b"\r\n"))
    with blocks_of(size):
        n = check_going_on(read.batches(folder / "*.csv"))
    assert n >= 2


def test_files_may_have_their_columns_in_another_order(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n")
    (tmp_path / "b.csv").write_text("id,label,text,label2\n1,y,b,z\n")
    (tmp_path / "c.csv").write_text("text,label\n")
    (tmp_path / "d.csv").write_text("")
    assert rows(tmp_path / "*.csv") == ([("a", "x"), ("b", "y")], 0)
    (tmp_path / "e.csv").write_text("text,stars\na,x\n")
    message = r"e.csv must have a column 'label', got 'text', 'stars'."
    with pytest.raises(read.BadInput, match=message):
        rows(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.csv must have at least one record, got none."),
        (b"text,label\n\n", "a.csv must have at least one record, got none."),
        (b"text,text,label\na,b,x\n", "a.csv must have one column 'text', got 2."),
        (b"\xff,label\na,x\n", "a.csv, line 1: expected UTF-8, got byte 0xff"),
        (b"body,label\na,x\n", r"a.csv must have a column 'text', got texts in 'body' \(such as"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, data, message):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(read.BadInput, match=message):
        rows(tmp_path / "a.csv")


def test_a_row_may_be_longer_than_a_block_but_not_endless(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    pairs = [("word\n" * 1000, "x"), ("b", "y"), ("c\n" * 4000, "z"), ("d", "x")]
    path.write_bytes(written(pairs))
    with blocks_of(256):
        assert rows(path) == (pairs, 0)
        assert check_going_on(read.batches(path)) == 2
        monkeypatch.setattr(read._lines, "LONGEST", 2**12)
        with pytest.raises(read.BadInput, match=r"must be made of rows, .* an unclosed quote"):
            rows(path)


def test_marks_of_editors_are_no_harm(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"text",label\r\n\r\na,x\r\n\r\n"b",y')
    assert rows(path) == ([("a", "x"), ("b", "y")], 0)
    path.write_bytes(b"text,label\ra,x\rb,y\r")
    assert rows(path) == ([("a", "x"), ("b", "y")], 0)


# ------------------------------------------------------------------------- labels
