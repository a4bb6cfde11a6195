"""Parquet and Arrow files: read in pieces, from any row on, and damage that is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from reading import blocks_of, check_going_on, joined, records, rows
from stores import FILES, TEXTS, table_of, write_parquet
from surelearn import read
from surelearn.text import HashingVectorizer


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


FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": lambda table: pl.from_arrow(table),
    "pyarrow": lambda table: table,
    "chunks": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "part": lambda table: pa.concat_tables([table, table]).slice(table.num_rows),
    "reader": lambda table: table.to_reader(max_chunksize=5),
}


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


def test_texts_are_read_in_place():
    """A batch of a table has the table's own letters, and the hasher takes it as it is."""
    texts = pa.array(["one two", "three", "two"], pa.large_string())
    (batch,) = read.batches(pa.table({"text": texts}))
    assert batch.X.buffers()[2].address == texts.buffers()[2].address
    hashed = HashingVectorizer().transform(batch.X)
    assert (hashed != HashingVectorizer().transform(["one two", "three", "two"])).nnz == 0


def test_columns_of_objects_hold_one_kind():
    frame = pd.DataFrame(
        {"text": pd.Series(["a", 5, None, "b"], dtype=object), "label": [1, 2, 3, 4]}
    )
    with pytest.raises(read.BadInput, match=r"frame, row 2: 'text' must be a text, got 5."):
        rows(frame)
    assert rows(frame, skip_bad=True) == ([("a", 1), ("b", 4)], 2)
    frame["text"] = pd.Series(["a", "\ud800", None, "b"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 2: 'text' must be a text, got '\\ud800'"):
        rows(frame)
    assert rows(frame, skip_bad=True) == ([("a", 1), ("b", 4)], 2)
    labels = pd.Series([True, "x"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 2: 'label' must be true or false, got 'x'."):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    labels = pd.Series([{1: 2}, {3: 4}], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 1: 'label' must be a text or a number, got {1:"):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    # What is not read may be anything.
    frame = pd.DataFrame({"text": ["a"], "label": ["x"], "other": pd.Series([{1}], dtype=object)})
    assert rows(frame) == ([("a", "x")], 0)


@pytest.mark.parametrize(
    "make",
    [list, tuple, set, frozenset, np.array],
    ids=["lists", "tuples", "sets", "frozensets", "arrays"],
)
def test_pandas_columns_of_collections_are_many_labels(make):
    labels = pd.Series([make(["x", "y"]), make(["y"]), make([])], dtype=object)
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": labels})
    assert rows(frame) == ([("a", ("x", "y")), ("b", ("y",)), ("c", ())], 0)


def test_polars_lists_are_many_labels():
    frame = pl.DataFrame({"text": ["a", "b", "c"], "label": [[2, 1, 2], [], [3]]})
    assert rows(frame) == ([("a", (1, 2)), ("b", ()), ("c", (3,))], 0)


@pytest.mark.parametrize("bad", [["b", 1], "b", [["b"]], None])
def test_a_bad_list_of_a_frame_is_a_bad_record(bad):
    labels = pd.Series([[], ["a"], bad, ["c"]], dtype=object)
    frame = pd.DataFrame({"text": list("abcd"), "label": labels})
    with pytest.raises(read.BadInput, match=r"frame, row 3: 'label' must be a list of texts, got"):
        rows(frame)
    assert rows(frame, skip_bad=True) == ([("a", ()), ("b", ("a",)), ("d", ("c",))], 1)


@pytest.mark.parametrize(
    ("bad", "good", "kind"),
    [("n/a", 1, "a whole number"), (0, "x", "a text"), ("n/a", ["x"], "a list of texts")],
)
def test_a_bad_first_label_of_a_frame_does_not_decide_for_all(bad, good, kind):
    labels = pd.Series([bad] + [good] * 9, dtype=object)
    frame = pd.DataFrame({"text": list("abcdefghij"), "label": labels})
    with pytest.raises(read.BadInput, match=rf"row 1: 'label' must be {kind}, got"):
        rows(frame)
    found, n_bad = rows(frame, skip_bad=True)
    assert (len(found), n_bad) == (9, 1)
