"""Frames of pandas and polars and tables of pyarrow give the rows that were put in."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import blocks_of, joined, records, rows
from stores import TEXTS, table_of
from surelearn import read
from surelearn.text import HashingVectorizer

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
    labels = pd.Series([True, "x"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 2: 'label' must be true or false, got 'x'."):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    labels = pd.Series([{1}, "x"], dtype=object)
    with pytest.raises(read.BadInput, match=r"row 1: 'label' must be a text or a number, got {1}"):
        rows(pd.DataFrame({"text": ["a", "b"], "label": labels}))
    # What is not read may be anything.
    frame = pd.DataFrame({"text": ["a"], "label": ["x"], "other": pd.Series([{1}], dtype=object)})
    assert rows(frame) == ([("a", "x")], 0)
