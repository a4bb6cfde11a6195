"""Parquet, Arrow files and frames: the rows that were put in, bad ones named by their row."""

from __future__ import annotations

import re

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from reading import as_sets, blocks_of, check_going_on, many_labelled, records, rows
from stores import FILES, TEXTS, table_of, write_stream
from surelearn import read


@pytest.mark.parametrize("kind", FILES)
@given(pairs=records(), type_=st.sampled_from(TEXTS), size=st.sampled_from([1, 100, 2**20]))
def test_files_give_what_was_put_in(kind, pairs, type_, size, tmp_path_factory):
    name, write = FILES[kind]
    path = tmp_path_factory.mktemp("tables") / name
    write(table_of(pairs, type_), path)
    with blocks_of(size):
        found, n_bad = rows(path)
        source = read.batches(path)
        n_bytes = sum(block.n_bytes for block in source.blocks())
    assert (found, n_bad) == (pairs, 0)
    assert [type(label) for _, label in found] == [type(label) for _, label in pairs]
    assert source.n_bytes == path.stat().st_size
    # The end of a stream is not part of any of its rows.
    assert source.n_bytes - (1000 if kind == "stream" else 0) <= n_bytes <= source.n_bytes


def test_rows_are_counted_over_blocks(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a"] * 77 + [None] + ["b"] * 9}), path, row_group_size=9)
    with blocks_of(20), pytest.raises(read.BadInput, match=r"a.parquet, row 78: 'text' must be"):
        list(read.batches(path))


def latin(values):
    """Texts that are not UTF-8, in an array that says they are."""
    return pa.array(values, pa.binary()).view(pa.string())


@pytest.mark.parametrize("column", ["text", "label"])
def test_texts_that_are_not_utf8_are_named(column, tmp_path):
    whole = pa.array(["a", "b", "c"])
    damaged = latin([b"a", b"na\xefve", b"c"])
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), damaged)
    binary = pa.array([b"a", b"na\xefve", b"c"])
    for bad in (damaged, coded, binary):
        table = pa.table({"text": whole, "label": whole, column: bad})
        write_stream(table, tmp_path / "a.arrow")
        parquet.write_table(table, tmp_path / "a.parquet")
        sources = [table, tmp_path / "a.arrow", tmp_path / "a.parquet"]
        if bad is coded:  # pyarrow refuses the file: it looks at a list of values as it reads it
            with pytest.raises(read.BadInput, match=r"a.parquet must be a sound table, got damage"):
                rows(sources.pop())
        for source in sources:
            message = rf"row 2: '{column}' must be UTF-8, got b'na\\xefve'."
            with pytest.raises(read.BadInput, match=message):
                rows(source)
            assert rows(source, skip_bad=True) == ([("a", "a"), ("c", "c")], 1)


def test_whole_numbers_too_large_are_named():
    table = pa.table({"text": ["a", "b"], "label": pa.array([1, 2**63], pa.uint64())})
    with pytest.raises(read.BadInput, match=r"row 2: 'label' must be .*, got 9223372036854775808"):
        rows(table)
    assert rows(table, skip_bad=True) == ([("a", 1)], 1)


def test_tables_without_rows(tmp_path):
    empty = table_of([("a", "x")]).slice(0, 0)
    for source in (empty, empty.to_pandas(), pl.from_arrow(empty), empty.to_reader()):
        with pytest.raises(read.BadInput, match=r"must have at least one record, got none."):
            rows(source)
    for name, write in FILES.values():
        write(empty, tmp_path / name)
        with pytest.raises(read.BadInput, match=f"{name} must have at least one record, got none."):
            rows(tmp_path / name)


LISTS = (pa.list_, pa.large_list)


@pytest.mark.parametrize("kind", FILES)
@given(
    pairs=many_labelled(), list_=st.sampled_from(LISTS), coded=st.booleans(),
    size=st.sampled_from([1, 2**20]),
)  # fmt: skip
def test_lists_of_labels_are_read(kind, pairs, list_, coded, size, tmp_path_factory):
    name, write = FILES[kind]
    path = tmp_path_factory.mktemp("many") / name
    texts, labels = (list(column) for column in zip(*pairs, strict=True))
    one = pa.array([label for own in labels for label in own]).type
    coded = coded and one == pa.string() and kind != "parquet"  # which reads them as texts
    element = pa.dictionary(pa.int32(), one) if coded else one
    write(pa.table({"text": texts, "label": pa.array(labels, list_(element))}), path)
    with blocks_of(size):
        assert rows(path) == (as_sets(pairs), 0)
        check_going_on(read.batches(path))


@pytest.mark.parametrize("list_", LISTS)
@pytest.mark.parametrize(
    ("type_", "lists", "shown"),
    [
        (pa.string(), [["a"], ["b", None], []], "a list of texts, got ['b', None]."),
        (pa.string(), [["a"], None, []], "a list of texts, got null."),
        (pa.uint64(), [[1], [2**63], []], "a list of whole numbers, got [None]."),
        (pa.float64(), [[0.5], [float("nan")], []], "a list of numbers, got [nan]."),
    ],
)
def test_a_bad_list_of_labels_is_a_bad_record(list_, type_, lists, shown):
    table = pa.table({"text": ["t"] * 3, "label": pa.array(lists, list_(type_))})
    wrong = re.escape(f"frame, row 2: 'label' must be {shown}")
    with pytest.raises(read.BadInput, match=wrong):
        rows(table)
    assert rows(table, skip_bad=True) == ([("t", tuple(lists[0])), ("t", ())], 1)


def test_tables_must_agree_on_lists(tmp_path):
    one, many = (
        pa.table({"text": ["a"], "label": ["x"]}),
        pa.table({"text": ["a"], "label": [["x"]]}),
    )
    for number, (first, second, wanted) in enumerate(
        [(one, many, "a text, got list"), (many, one, "a list of texts, got string")]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        parquet.write_table(first, folder / "a.parquet")
        parquet.write_table(second, folder / "b.parquet")
        with pytest.raises(read.BadInput, match=f"b.parquet: 'label' must be {wanted}"):
            rows(folder)
    deep = pa.table({"text": ["a"], "label": [[["x"]]]})
    with pytest.raises(read.BadInput, match=r"or a list of them, got list<.*list<"):
        rows(deep)


def test_texts_in_lists_must_be_utf8():
    lists = pa.ListArray.from_arrays([0, 1, 2], latin([b"a", b"na\xefve"]))
    with pytest.raises(read.BadInput, match=r"frame must be a sound table, got"):
        rows(pa.table({"text": ["a", "b"], "label": lists}))
