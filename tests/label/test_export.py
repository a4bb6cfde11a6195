from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as pq

from labelling import answer, label, pool, session
from surelearn import read
from surelearn.label import Items, Session, Store
from surelearn.label.export import exported


def test_every_format_has_the_same_labels(tmp_path):
    found = session(tmp_path, Items(pool(9).X, {0: "bad"}, text_column="body", label_column="kind"))
    items = answer(found, n=4)
    lines = [json.loads(line) for line in exported(found, "jsonl").splitlines()]
    assert [line["item"] for line in lines] == [0, *items]
    assert [line["kind"] for line in lines] == [label(item) for item in (0, *items)]
    assert lines[0]["by"] is None
    assert lines[1]["by"] == "ann"
    rows = list(csv.DictReader(io.StringIO(exported(found, "csv").decode())))
    assert [row["body"] for row in rows] == [line["body"] for line in lines]
    table = pq.read_table(io.BytesIO(exported(found, "parquet")))
    assert table["kind"].to_pylist() == [line["kind"] for line in lines]


def test_labels_can_be_read_again(tmp_path):
    found = session(tmp_path)
    answer(found, n=4)
    path = tmp_path / "labels.jsonl"
    path.write_bytes(exported(found, "jsonl"))
    batch = read.batches(path).first(9)
    assert len(batch.X) == 4
    assert set(batch.y) <= {"good", "bad"}


def test_a_settled_label_counts(tmp_path):
    found = session(tmp_path)
    (item,) = answer(found, "ann")
    other = "good" if label(item) == "bad" else "bad"
    found.settle("bob", item, other)
    (line,) = exported(found, "jsonl").splitlines()
    assert json.loads(line)["label"] == other
    assert json.loads(line)["by"] == "bob"


def test_columns_of_the_pool_keep_their_names(tmp_path):
    items = Items(pool(4).X, {0: "bad"}, text_column="item", label_column="by")
    line = json.loads(exported(session(tmp_path, items), "jsonl"))
    assert (line["item"], line["by"]) == (pool(4).text(0), "bad")
    assert (line["item_"], line["by_"]) == (0, None)


def test_files_have_columns_and_types_before_the_first_label(tmp_path):
    found = Session(pool(4), Store(tmp_path / "a.db"), ["good"], kind="many")
    assert exported(found, "csv") == b"text,label,by,time,item\n"
    found.answer("ann", found.question("ann").item, [])
    table = pq.read_table(io.BytesIO(exported(found, "parquet")))
    assert str(table.schema.field("label").type) == "list<element: string>"
