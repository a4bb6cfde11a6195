"""Columns between other delimiters and in other quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, rows, texts, written
from surelearn import read
from surelearn.read._csv_dialect import CsvDialect


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
