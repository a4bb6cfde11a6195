"""Rows of csv and tsv: what their values are, and bad rows by their line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import as_sets, blocks_of, check_going_on, many_labelled, rows, texts, written
from surelearn import read
from surelearn.read._csv_rows import CsvDialect


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


@given(
    pairs=many_labelled(["whole numbers"]),
    separator=st.sampled_from(";|, "),
    size=st.sampled_from([16, 2**20]),
)
def test_labels_apart_by_a_separator_are_read(pairs, separator, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "a.csv"
    cells = [(text, separator.join(map(str, labels))) for text, labels in pairs]
    path.write_text(written(cells), newline="")
    with blocks_of(size):
        assert rows(path, label_separator=separator) == (as_sets(pairs), 0)
        as_texts = rows(path, label_separator=separator, label_type=str)
        check_going_on(read.batches(path, label_separator=separator))
    assert as_texts == (as_sets([(text, map(str, labels)) for text, labels in pairs]), 0)


def test_an_empty_cell_has_no_labels_and_spaces_are_no_part_of_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,\nb,x; y\nc,  \nd,z\n")
    assert rows(path, label_separator=";") == (
        [("a", ()), ("b", ("x", "y")), ("c", ()), ("d", ("z",))],
        0,
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", "b;;c"], r"must be a list of texts, got ['b', None, 'c']."),
        (["a", "b;"], r"must be a list of texts, got ['b', None]."),
        (["1;2;3;4;5;6;7;8;9;10", "2;x"], r"must be a list of whole numbers, got ['2', 'x']."),
    ],
)
def test_a_bad_label_among_many_is_a_bad_row(tmp_path, cells, message):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"t,{cell}\n" for cell in cells))
    with pytest.raises(read.BadInput, match=re.escape(f"line 3: 'label' {message}")):
        rows(path, label_separator=";")
    found, n_bad = rows(path, label_separator=";", skip_bad=True)
    assert (len(found), n_bad) == (1, 1)


def test_an_odd_label_among_many_names_the_remedy(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nt,1;2;3;4;5;6;7;8;9;10\nt,x\n")
    with pytest.raises(read.BadInput, match=r"With label_type=str all labels are texts"):
        rows(path, label_separator=";")


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


#: A column as it is between the delimiters, and what it says.
COLUMNS = st.one_of(
    st.text("ab \u00e9", max_size=4).map(lambda text: (text, text)),
    st.text('ab;"\n', max_size=4).map(lambda text: ('"' + text.replace('"', '""') + '"', text)),
)


@given(st.lists(st.lists(COLUMNS, min_size=1, max_size=3), max_size=4))
def test_rows_are_cut_and_split_outside_quotes(table):
    lines = [";".join(spelled for spelled, _ in columns) for columns in table]
    data = "".join(f"{line}\n" for line in lines).encode()
    layout = CsvDialect(";")
    found = [data[begin:end] for begin, end in layout.rows(data)]
    assert found == [line.encode() for line in lines if line]
    says = [[text.encode() for _, text in columns] for columns in table]
    assert [layout.fields(row) for row in found] == [
        row for row, line in zip(says, lines, strict=True) if line
    ]
    assert layout.cut(data) == len(data)
    assert layout.cut(data + b'a;"open\nb') == len(data)
