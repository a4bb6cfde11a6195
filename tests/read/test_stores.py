"""Parquet and Arrow files: read in pieces, from any row on, and damage that is named."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from reading import blocks_of, check_going_on, joined, records, rows
from stores import FILES, table_of, write_parquet
from surelearn import read


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
