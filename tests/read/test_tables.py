"""Parquet, Arrow files and frames: the rows that were put in, bad ones named by their row."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from reading import blocks_of, check_going_on, content, joined, records, rows
from surelearn import read
from surelearn.text import HashingVectorizer

TEXTS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
]


def table_of(pairs, text=None):
    texts = pa.array([text for text, _ in pairs])
    labels = pa.array([label for _, label in pairs])
    return pa.table({"label": labels, "other": [[1]] * len(pairs), "text": as_type(texts, text)})


def as_type(texts, type_):
    if type_ is None:
        return texts
    if pa.types.is_dictionary(type_):
        return texts.dictionary_encode().cast(type_)
    return texts.cast(type_)


def write_parquet(table, path):
    if "string_view" in str(table.schema):
        table = table.set_column(2, "text", table["text"].cast(pa.string()))
    parquet.write_table(table, path, row_group_size=5)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def write_file(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.unify_dictionaries(), max_chunksize=5)


FILES = {
    "parquet": ("a.parquet", write_parquet),
    "stream": ("a.arrow", write_stream),
    "file": ("a.ipc", write_file),
    "feather": ("a.feather", lambda table, path: feather.write_feather(table, str(path))),
}
FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": lambda table: pl.from_arrow(table),
    "pyarrow": lambda table: table,
    "chunks": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "part": lambda table: pa.concat_tables([table, table]).slice(table.num_rows),
    "reader": lambda table: table.to_reader(max_chunksize=5),
}


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


@pytest.mark.parametrize("kind", FRAMES)
@given(pairs=records(), type_=st.sampled_from(TEXTS), size=st.sampled_from([1, 100, 2**20]))
def test_frames_give_what_was_put_in(kind, pairs, type_, size):
    frame = FRAMES[kind](table_of(pairs, type_))
    with blocks_of(size):
        source = read.batches(frame, text="text", label="label")
        assert joined(source) == (pairs, 0)
        assert source.can_restart == (kind != "reader")
        if source.can_restart:
            assert joined(source) == (pairs, 0)
            assert sum(block.n_bytes for block in source.blocks()) == source.n_bytes


@pytest.mark.parametrize("kind", FILES)
@given(pairs=records(min_size=6), size=st.sampled_from([1, 60, 200]))
def test_reading_goes_on_from_the_end_of_any_block(kind, pairs, size, tmp_path_factory):
    name, write = FILES[kind]
    folder = tmp_path_factory.mktemp("tables")
    for first in "xy":
        write(table_of(pairs), folder / f"{first}{name}")
    with blocks_of(size):
        n = check_going_on(read.batches(folder / f"*{name}"))
    assert n >= 2


def test_groups_of_rows_before_the_start_are_not_read(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    write_parquet(table_of([(f"text {i}", i) for i in range(50)]), path)
    source = read.batches(path)
    ends = [block.end for block in source.blocks()]
    asked = []
    iter_batches = parquet.ParquetFile.iter_batches

    def watched(self, size, groups, *args, **options):
        asked.extend(groups)
        return iter_batches(self, size, groups, *args, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", watched)
    assert joined(block.parse() for block in source.blocks(ends[6]))[0][0] == ("text 35", 35)
    assert asked == [7, 8, 9]


def test_large_tables_come_in_pieces():
    n = 200_000
    table = pa.table({"text": ["some words of a text"] * n, "label": np.arange(n) % 7})
    source = read.batches(table)
    sizes = [len(batch) for batch in source]
    assert sum(sizes) == n
    assert 8_000 < max(sizes) <= 65_536
    X = pa.table({"text": ["a word " * 20_000] * 50})
    assert max(len(batch) for batch in read.batches(X)) < 10


def test_texts_are_read_in_place():
    """A batch of a table has the table's own letters, and the hasher takes it as it is."""
    texts = pa.array(["one two", "three", "two"], pa.large_string())
    (batch,) = read.batches(pa.table({"text": texts}))
    assert batch.X.buffers()[2].address == texts.buffers()[2].address
    hashed = HashingVectorizer().transform(batch.X)
    assert (hashed != HashingVectorizer().transform(["one two", "three", "two"])).nnz == 0


def test_numbers_of_all_types():
    table = pa.table(
        {
            "a": pa.array([1, 2], pa.uint8()),
            "b": pa.array([0.5, 1.5], pa.float32()),
            "c": pa.array([Decimal("1.25"), Decimal("-2")]),
            "name": ["x", "y"],
            "flag": [True, False],
            "big": pa.array([2**60 + 1, 1]),
            "w": pa.array([3, 0], pa.int16()),
            "label": pa.array([1, 2], pa.uint64()),
        }
    )
    for frame in (table, pl.from_arrow(table)):
        (batch,) = read.batches(frame, weight="w", features="*")
        np.testing.assert_array_equal(batch.X, [[1, 0.5, 1.25, 2**60], [2, 1.5, -2, 1]])
        assert batch.weight.tolist() == [3, 0]
        assert batch.y.tolist() == [1, 2]
        assert batch.y.dtype == np.int64
    (batch,) = read.batches(pd.DataFrame({0: [1.5], 1: [2]}, index=[7]), label="1")
    assert content(batch) == ([[1.5]], [2], None, 0)


BAD = {
    "null text": ({"text": ["a", None], "label": [1, 2]}, "'text' must be a text, got null."),
    "null label": ({"text": ["a", "b"], "label": ["x", None]}, "'label' must be a text, got null."),
    "no label": ({"text": ["a", "b"], "label": [1, None]}, "'label' must be a .*number, got null."),
    "nan": (
        {"text": ["a", "b"], "label": [0.5, math.nan]},
        "'label' must be a number, got (nan|null).",
    ),
    "weight": (
        {"text": ["a", "b"], "weight": [1.0, math.nan]},
        "'weight' must be a number of at least 0, got (nan|null).",
    ),
    "negative": (
        {"text": ["a", "b"], "weight": [1, -1]},
        "'weight' must be a number of at least 0, got -1.0.",
    ),
    "infinite": ({"a": [1.0, math.inf]}, "'a' must be a number, got inf."),
    "missing": ({"a": [1.0, None]}, "'a' must be a number, got (nan|null)."),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_named(case, tmp_path):
    columns, message = BAD[case]
    table = pa.table(columns)
    weight = "weight" if "weight" in columns else None
    parquet.write_table(table, tmp_path / "a.parquet")
    write_stream(table, tmp_path / "a.arrow")
    sources = [tmp_path / "a.parquet", tmp_path / "a.arrow", table]
    for source in [*sources, pl.from_arrow(table), pd.DataFrame(columns)]:
        with pytest.raises(read.BadInput, match=f"(a.parquet|a.arrow|frame), row 2: {message}"):
            list(read.batches(source, weight=weight))
        (batch,) = read.batches(source, weight=weight, skip_bad=True)
        assert (len(batch), batch.n_bad) == (1, 1)


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


def test_columns_of_objects_hold_one_kind():
    frame = pd.DataFrame(
        {"text": pd.Series(["a", 5, None, "b"], dtype=object), "label": [1, 2, 3, 4]}
    )
    with pytest.raises(read.BadInput, match=r"frame, row 2: 'text' must be a text, got 5."):
        rows(frame)
    assert rows(frame, skip_bad=True) == ([("a", 1), ("b", 4)], 2)
    labels = pd.Series([True, "x"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 2: 'label' must be true or false, got 'x'."):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    labels = pd.Series([{1}, "x"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 1: 'label' must be a text or a number, got {1}"):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    # What is not read may be anything.
    frame = pd.DataFrame({"text": ["a"], "label": ["x"], "other": pd.Series([{1}], dtype=object)})
    assert rows(frame) == ([("a", "x")], 0)


def test_types_that_cannot_be_learnt_from_are_named():
    dates = pa.array([0], pa.timestamp("s"))
    with pytest.raises(
        read.BadInput, match=r"frame: 'label' must be a text, .* got timestamp\[s\]"
    ):
        rows(pa.table({"text": ["a"], "label": dates}))
    with pytest.raises(read.BadInput, match=r"frame: 'text' must be a text, got int64."):
        rows(pa.table({"text": [1], "label": ["x"]}))
    with pytest.raises(read.BadInput, match=r"frame: 'a' must be a number, got string."):
        rows(pa.table({"a": ["1"], "label": ["x"]}), features=["a"])
    with pytest.raises(read.BadInput, match=r"'text', or name another by text, got 'a', 'label'."):
        rows(pl.DataFrame({"a": [True], "label": ["x"]}))
    with pytest.raises(read.BadInput, match=r"frame must have one column 'text', got 2."):
        rows(pa.table([["a"], ["b"]], names=["text", "text"]))
    with pytest.raises(
        TypeError, match=r"source must be a path, .* or a table of pyarrow, got int."
    ):
        read.batches(5)


def test_files_must_have_the_same_columns(tmp_path):
    def write(name, **columns):
        parquet.write_table(pa.table(columns), tmp_path / name)

    write("a.parquet", text=["a"], label=pa.array([1], pa.int8()))
    write("b.parquet", label=[2], more=[3], text=pa.array(["b"], pa.large_string()))
    write("c.parquet", text=pa.array([], pa.string()), label=pa.array([], pa.int64()))
    assert rows(tmp_path / "*.parquet") == ([("a", 1), ("b", 2)], 0)
    write("d.parquet", text=["a"], label=["x"])
    with pytest.raises(
        read.BadInput, match=r"d.parquet: 'label' must be a whole number, got string"
    ):
        rows(tmp_path / "*.parquet")
    write("d.parquet", text=["a"], stars=[1])
    with pytest.raises(
        read.BadInput, match=r"d.parquet must have a column 'label', got 'text', 'st"
    ):
        rows(tmp_path / "*.parquet")
    write("d.parquet", text=["a"], label=pa.nulls(1))
    with pytest.raises(read.BadInput, match=r"d.parquet, row 1: 'label' must be .*, got null."):
        rows(tmp_path / "*.parquet")


def test_tables_without_rows(tmp_path):
    empty = table_of([("a", "x")]).slice(0, 0)
    for source in (empty, empty.to_pandas(), pl.from_arrow(empty), empty.to_reader()):
        with pytest.raises(read.BadInput, match=r"must have at least one record, got none."):
            rows(source)
    for name, write in FILES.values():
        write(empty, tmp_path / name)
        with pytest.raises(read.BadInput, match=f"{name} must have at least one record, got none."):
            rows(tmp_path / name)


@pytest.mark.parametrize("kind", FILES)
def test_damaged_files_are_named(kind, tmp_path):
    name, write = FILES[kind]
    path = tmp_path / name
    write(table_of([("a text", "x")] * 20), path)
    whole = path.read_bytes()
    for data in (
        b"",
        whole[: len(whole) // 2],
        b"\0" * 500,
        whole[:40] + b"\xff" * 80 + whole[120:-100] + b"\xff" * 90 + whole[-10:],
    ):
        path.write_bytes(data)
        with pytest.raises(read.BadInput, match=f"{name} (must be a sound table|must have)"):
            rows(path)


def test_damage_that_arrow_does_not_look_for_is_found(tmp_path):
    """Offsets beyond the letters would be followed by whoever reads the texts in place."""
    offsets = pa.py_buffer(np.array([0, 10**6, 2], np.int32))
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    for table in (pa.table({"text": texts}), pa.table({"text": ["a", "b"], "label": texts})):
        with pytest.raises(read.BadInput, match=r"frame must be a sound table, got"):
            list(read.batches(table))


def test_what_must_not_be_compressed_as_a_whole(tmp_path):
    for name, (plain, write) in FILES.items():
        path = tmp_path / plain
        write(table_of([("a", "x")]), path)
        packed = tmp_path / f"{plain}.gz"
        with pa.CompressedOutputStream(str(packed), "gzip") as out:
            out.write(path.read_bytes())
        if name == "stream":
            assert rows(packed) == ([("a", "x")], 0)
        else:
            with pytest.raises(
                read.BadInput, match=f"{plain}.gz must not be compressed as a whole"
            ):
                rows(packed)
