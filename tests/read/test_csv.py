"""Text in columns: what Python's csv module gives, bad rows named, whatever the blocks."""

from __future__ import annotations

import csv
import io

import numpy as np
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


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"b", "expected 2 columns, got 1 in 'b'."),
        (b'"b\nc",1,2', r"expected 2 columns, got 3 in '\"b\\nc\",1,2'."),
        (b"\xff,1", r"expected UTF-8, got byte 0xff in b'\\xff'."),
        (b"b,", "'label' must be a whole number, got none."),
        (b"b,x", "'label' must be a whole number, got 'x'."),
        (b"b,1.0", "'label' must be a whole number, got '1.0'."),
        (b"b,true", "'label' must be a whole number, got 'true'."),
        (b"b,007", "'label' must be a whole number, got '007'."),
        (b"b,9223372036854775808", "'label' must be a whole number, got '9223372036854775808'."),
    ],
)
def test_a_bad_row_is_named_by_the_line_it_begins_in(tmp_path, row, message):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b'"a\nb",1\n\n' * 20 + row + b"\n" + b"c,2\n" * 40)
    for size in (60, 2**20):
        with blocks_of(size), pytest.raises(read.BadInput, match=f"a.csv, line 62: {message}"):
            rows(path)
        with blocks_of(size):
            found, n_bad = rows(path, skip_bad=True)
        assert (len(found), n_bad) == (60, 1)


def test_a_label_that_is_missing_is_bad(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\n\n"first\nname",text,label\n1,a,x\n2,b,\n3,,y\n')
    with pytest.raises(read.BadInput, match=r"a.csv, line 6: 'label' must be a text, got none."):
        rows(path)
    assert rows(path, skip_bad=True) == ([("a", "x"), ("", "y")], 1)


def test_the_first_rows_decide_the_kind_of_label(tmp_path):
    path = tmp_path / "a.csv"
    for labels, kind in {
        ("1", "-5", "0"): int,
        ("1", "x"): str,
        ("01", "2"): str,
        ("-0",): str,
        ("true", "false"): str,
        ("1.5",): str,
        ("9223372036854775808",): str,
    }.items():
        path.write_text("text,label\n" + "".join(f"a,{label}\n" for label in labels))
        assert rows(path) == ([("a", kind(label)) for label in labels], 0)


def test_columns_of_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,name,b,w,label\n1,x,+.5,1,u\n-2e3,y,7,0,v\n")
    (batch,) = read.batches(path, weight="w", features=["*"])
    np.testing.assert_array_equal(batch.X, [[1, 0.5], [-2000, 7]])
    assert (batch.weight.tolist(), batch.y.tolist()) == ([1.0, 0.0], ["u", "v"])
    (batch,) = read.batches(path, features=["b"], label="a")
    np.testing.assert_array_equal(batch.X, [[0.5], [7]])
    for row, message in {
        "nan,x,1,1,u": "'a' must be a number, got 'nan'",
        "1,x,,1,u": "'b' must be a number, got ''",
        "1,x,1_0,1,u": "'b' must be a number, got '1_0'",
        "1,x,1e999,1,u": "'b' must be a number, got inf",
        "1,x,1,-1,u": "'w' must be a number of at least 0, got -1.0",
    }.items():
        path.write_text(f"a,name,b,w,label\n{row}\n1,x,1,1,u\n")
        with pytest.raises(read.BadInput, match=f"line 2: {message}."):
            list(read.batches(path, features=["a", "b"], weight="w"))


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
        with pytest.raises(read.BadInput, match=r"must be made of rows, .* quote that is not"):
            rows(path)


def test_marks_of_editors_are_no_harm(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"text",label\r\n\r\na,x\r\n\r\n"b",y')
    assert rows(path) == ([("a", "x"), ("b", "y")], 0)
    path.write_bytes(b"text,label\ra,x\rb,y\r")
    assert rows(path) == ([("a", "x"), ("b", "y")], 0)


# ------------------------------------------------------------------------- labels


def labelled(*labels, repeat=1):
    return "text,stars\n" + "".join(f"a,{label}\n" for label in labels) * repeat


@pytest.mark.parametrize("odd", ["NaN", "nan", "N/A", "null", "None", "x", "1.0", "stars"])
@pytest.mark.parametrize("size", [64, 2**20])
def test_a_label_that_is_odd_makes_no_texts_of_the_others(tmp_path, odd, size):
    path = tmp_path / "a.csv"
    path.write_text(labelled(*[1, 2] * 15, odd, *[1] * 9))
    message = (
        rf"a.csv, line 32: 'stars' must be a whole number, got '{odd}'\. "
        r"With label_type=str all labels are texts\. With skip_bad=True such records are left out"
    )
    with blocks_of(size), pytest.raises(read.BadInput, match=message):
        rows(path, label="stars")
    with blocks_of(size):
        found, n_bad = rows(path, label="stars", skip_bad=True)
    assert (len(found), n_bad) == (39, 1)
    assert {label for _, label in found} == {1, 2}
    found, n_bad = rows(path, label="stars", label_type=str)
    assert {label for _, label in found} == {"1", "2", odd}


def test_marks_of_missing_labels_are_no_labels_however_many(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(labelled(1, "NaN", "n/a"))
    with pytest.raises(read.BadInput, match="line 3: 'stars' must be a whole number, got 'NaN'"):
        rows(path, label="stars")
    path.write_text(labelled("good", "None", "NA"))
    assert {label for _, label in rows(path, label="stars")[0]} == {"good", "None", "NA"}


def test_labels_that_are_a_true_mixture_are_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(labelled("10", "20", "30+", repeat=5))
    assert {label for _, label in rows(path, label="stars")[0]} == {"10", "20", "30+"}


def test_a_label_after_the_first_block_has_the_kind_of_the_first(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(labelled(*[1] * 40, *["x"] * 40))
    with blocks_of(64), pytest.raises(read.BadInput, match=r"line 42: .* With label_type=str all"):
        rows(path, label="stars")
    with blocks_of(64), pytest.raises(read.BadInput, match=r"got 'x'\. With skip_bad=True"):
        rows(path, label="stars", label_type=int)


@pytest.mark.parametrize("again", ["text,label", '"text","label"', "\ufefftext,label"])
@pytest.mark.parametrize("labels", [("x", "y"), (1, 2)])
@pytest.mark.parametrize("size", [24, 2**20])
def test_names_that_come_again_are_no_record(tmp_path, again, labels, size):
    """Where files were joined by hand."""
    path = tmp_path / "a.csv"
    part = "".join(f"a film,{label}\n" for label in labels * 8)
    path.write_text(f"text,label\n{part}{again}\n{part}", encoding="utf-8")
    message = r"a.csv, line 18: expected a record, got the names of the columns once more\."
    message = message if labels == ("x", "y") else r"a.csv, line 18: "
    with blocks_of(size), pytest.raises(read.BadInput, match=message):
        rows(path)
    with blocks_of(size):
        found, n_bad = rows(path, skip_bad=True)
    assert (len(found), n_bad) == (32, 1)
    assert {label for _, label in found} == set(labels)
    with blocks_of(size):
        batches = list(read.batches(path, label=False, skip_bad=True))
    assert sum(len(batch) for batch in batches) == 32


def test_a_row_with_the_name_of_one_column_is_a_record(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\ntext,x\na,label\n")
    assert rows(path) == ([("text", "x"), ("a", "label")], 0)
    path.write_text("text\na\ntext\n")
    (batch,) = read.batches(path)
    assert batch.X.to_pylist() == ["a", "text"]


@pytest.mark.parametrize("kind", [float, "str", bool])
def test_labels_are_texts_or_whole_numbers(tmp_path, kind):
    (tmp_path / "a.csv").write_text(labelled(1, 2))
    with pytest.raises(ValueError, match="label_type must be str or int, got"):
        rows(tmp_path / "a.csv", label="stars", label_type=kind)
