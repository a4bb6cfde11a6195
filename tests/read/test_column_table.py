"""Batches that are whole tables."""

from __future__ import annotations

import numpy as np
import pandas
import pyarrow
import pytest

from surelearn import read
from surelearn.read import BadInput, ColumnTable

FRAME = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "y": ["p", "q", "p"]})


def plain(table):
    return {
        name: column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
        for name, column in table.columns.items()
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "frame"])
def test_all_columns_but_the_label(ending, tmp_path):
    source = FRAME if ending == "frame" else tmp_path / f"t.{ending}"
    if ending == "csv":
        FRAME.to_csv(source, index=False)
    elif ending == "jsonl":
        FRAME.to_json(source, orient="records", lines=True)
    elif ending == "parquet":
        FRAME.to_parquet(source)
    batch = read.batches(source, label="y", table=True).first(10)
    wanted = {"a": [1, 2, 3], "b": ["x", None, "z"]}
    texts = {"a": ["1", "2", "3"], "b": ["x", "", "z"]}
    assert plain(batch.X) == (texts if ending == "csv" else wanted)
    assert batch.y.tolist() == ["p", "q", "p"]
    assert list(read.batches(source, label=False, table=True).first(2).X.columns) == ["a", "b", "y"]
    assert len(batch[1:].X) == 2


def test_a_weight_is_no_column():
    batch = read.batches(FRAME, label="y", weight="a", table=True).first(10)
    assert list(batch.X.columns) == ["b"]
    assert batch.weight.tolist() == [1, 2, 3]


def test_tables_are_cut_and_joined():
    one = ColumnTable({"a": np.array([1, 2]), "b": pyarrow.array(["x", "y"])}, 2)
    other = ColumnTable({"a": np.array([3])}, 1)
    from surelearn.read._column_table import joined_tables

    both = joined_tables([one, other])
    assert plain(both) == {"a": [1, 2, 3], "b": ["x", "y", None]}
    assert plain(both.take(np.array([2, 0]))) == {"a": [3, 1], "b": [None, "x"]}
    assert plain(one[:1]) == {"a": [1], "b": ["x"]}


@pytest.mark.parametrize("given", [{"text": "b"}, {"features": ["a"]}, {"keep": ["a"]}])
def test_a_table_has_no_use_for_single_columns(given):
    with pytest.raises(BadInput, match="must not be given with table=True"):
        read.batches(FRAME, table=True, **given)
