from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from labelling import answer, label, pool, session
from surelearn import read
from surelearn.label import Items, Session, Store, read_sentences, read_texts
from surelearn.label.export import exported, formats


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
    assert exported(found, "csv") == b"text,label,by,time,settled,item,file,line\n"
    found.answer("ann", found.question("ann").item, [])
    table = pq.read_table(io.BytesIO(exported(found, "parquet")))
    assert str(table.schema.field("label").type) == "list<element: string>"


RECORDS = [
    {"doc": "a", "text": "fine film", "year": 1999, "tags": ["x"], "note": None},
    {"doc": "b", "text": "dull film", "year": 2001},
    {"doc": "c", "text": "fine film", "late": 1.5},
    {"doc": "d", "text": " "},
    {"doc": "e", "text": 'Ęä, "film"\nof two lines', "line": 7, "label": "mine", "n": float("nan")},
]


def two_files(tmp_path):
    """Records with duplicates, empty texts and blank lines in two files."""
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    lines = [json.dumps(record) + "\n" for record in RECORDS]
    one.write_text("".join([lines[0], "\n", *lines[1:4]]))
    two.write_text("\n\n" + lines[4] + lines[1].replace('"b"', '"f"'))
    return [str(one), str(two)]


def jsonl(found, **more):
    return [json.loads(line) for line in exported(found, "jsonl", **more).splitlines()]


def answered(tmp_path, items, people=("ann",)):
    found = Session(items, Store(tmp_path / "a.db"), ["good", "bad"], explore=0.0)
    for item in range(len(items)):
        for person in people:
            found.choose(person, item)
            found.answer(person, item, "good" if "fine" in items.text(item) else "bad")
    return found


def test_an_export_joins_the_files_by_line_and_by_id(tmp_path):
    """Every record whose text was labelled has its label, whatever stands between the records."""
    names = two_files(tmp_path)
    found = answered(tmp_path, read_texts(names, id="doc"))
    lines = jsonl(found)
    raw = {name: Path(name).read_text().split("\n") for name in names}
    for line in lines:
        there = json.loads(raw[line["file"]][(line.get("line_") or line["line"]) - 1])
        assert {key: line[key] for key in there} == {
            **there,
            **({"n": None} if "n" in there else {}),
        }
    by_id = {(line["file"], line["doc"]): line.get("label_") or line["label"] for line in lines}
    assert by_id == {
        (names[0], "a"): "good", (names[0], "b"): "bad", (names[0], "c"): "good",
        (names[1], "e"): "bad", (names[1], "f"): "bad",
    }  # fmt: skip


def test_columns_of_the_files_keep_their_names_and_values(tmp_path):
    (line,) = [
        x for x in jsonl(answered(tmp_path, read_texts(two_files(tmp_path)[1]))) if x["doc"] == "e"
    ]
    assert (line["label"], line["label_"], line["line"], line["line_"]) == ("mine", "bad", 7, 3)


def test_csv_and_parquet_have_the_same_lines(tmp_path):
    found = answered(tmp_path, read_texts(two_files(tmp_path)))
    lines = jsonl(found)
    rows = list(csv.DictReader(io.StringIO(exported(found, "csv").decode(), newline="")))
    table = pq.read_table(io.BytesIO(exported(found, "parquet"))).to_pylist()
    for name in ("doc", "text", "file", "line_", "label_"):
        assert [row[name] for row in rows] == [str(line[name]) for line in lines]
        assert [row[name] for row in table] == [line[name] for line in lines]
    assert rows[0]["tags"] == '["x"]'
    assert table[0]["tags"] == ["x"]
    assert [row["late"] for row in rows].count("1.5") == 1


def test_a_csv_pool_comes_back_with_its_columns(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text('id,text,price\n1,"two\nlines",07\n\n2,plain,3.5\n3,plain,x\n')
    found = answered(tmp_path, read_texts(path, id="id"))
    lines = jsonl(found)
    assert [(x["id"], x["line"], x["price"]) for x in lines] == [
        (1, 2, "07"),
        (2, 5, "3.5"),
        (3, 6, "x"),
    ]


def test_texts_that_are_numbers_are_found_again(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("text,n\n007,1\n12,2\n")
    lines = jsonl(answered(tmp_path, read_texts(path)))
    assert [(x["text"], x["n"]) for x in lines] == [("007", 1), ("12", 2)]


def test_a_parquet_pool_comes_back_by_row(tmp_path):
    import pyarrow as pa

    path = tmp_path / "pool.parquet"
    pq.write_table(pa.table({"text": ["a", None, "b", "a"], "n": [4, 5, 6, 7]}), path)
    found = answered(tmp_path, read_texts(path, skip_bad=True))
    assert [(x["n"], x["line"]) for x in jsonl(found)] == [(4, 1), (7, 4), (6, 3)]


def test_every_answer_has_a_line_and_a_settled_label_one_more(tmp_path):
    found = answered(tmp_path, read_texts(two_files(tmp_path)), ("ann", "bob"))
    found.change("bob", 0, "bad")
    found.settle("cyd", 1, "good")
    got = [(x["doc"], x["by"], x["label_"], x["settled"]) for x in jsonl(found, agreed=False)]
    assert [x for x in got if x[0] == "a"] == [
        ("a", "ann", "good", False),
        ("a", "bob", "bad", False),
    ]
    assert [x for x in got if x[0] == "c"] == [
        ("c", "ann", "good", False),
        ("c", "bob", "bad", False),
    ]
    assert [x[1:] for x in got if x[0] == "b"][-1] == ("cyd", "good", True)
    agreed = [(x["doc"], x["by"], x["label_"], x["settled"]) for x in jsonl(found)]
    assert [x for x in agreed if x[0] in "ab"] == [
        ("a", "ann", "good", False), ("b", "cyd", "good", True)
    ]  # fmt: skip


def test_labels_of_the_files_are_answers_of_nobody(tmp_path):
    path = tmp_path / "pool.jsonl"
    path.write_text('{"text": "a", "kind": "good"}\n{"text": "b"}\n')
    found = answered(tmp_path, read_texts(path, label="kind"))
    assert [(x["kind"], x["by"]) for x in jsonl(found, agreed=False)] == [
        ("good", None), ("bad", "ann"), ("bad", "ann")
    ]  # fmt: skip


@pytest.mark.parametrize("change", ["edit", "cut", "gone"])
def test_a_file_that_has_changed_is_not_mixed_in(tmp_path, change):
    path = tmp_path / "pool.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    found = answered(tmp_path, read_texts(path))
    if change == "gone":
        path.unlink()
    else:
        path.write_text('{"text": "a"}\n' + ('{"text": "c"}\n' if change == "edit" else ""))
    says = "must be there for its other columns" if change == "gone" else "must be as it was when"
    with pytest.raises(ValueError, match=says):
        exported(found, "jsonl")


def test_sentences_have_their_line(tmp_path):
    path = tmp_path / "s.conll"
    path.write_text("-DOCSTART-\n\nMr\nAdams\n\n\nin\nOslo\n\nMr\nAdams\n")
    found = Session(read_sentences(path), Store(tmp_path / "a.db"), ["O", "X"], kind="tags")
    for item in range(2):
        found.choose("ann", item)
        found.answer("ann", item, ["O", "X"])
    assert [(x["tokens"], x["line"]) for x in jsonl(found)] == [
        (["Mr", "Adams"], 3), (["Mr", "Adams"], 10), (["in", "Oslo"], 7)
    ]  # fmt: skip
    assert exported(found, "conll") == b"Mr O\nAdams X\n\nin O\nOslo X\n"
    assert formats("tags", agreed=False) == ["jsonl", "parquet"]


def test_names_and_values_of_any_bytes_can_be_exported(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/pool\xff.jsonl")
    with open(path, "w") as file:
        file.write('{"text": "a", "odd": "\\ud800", "many": 1}\n{"text": "b", "many": "x"}\n')
    found = answered(tmp_path, read_texts(path))
    assert jsonl(found)[0]["file"] == path
    for kind in ("csv", "parquet"):
        assert b"pool\\udcff.jsonl" in exported(found, kind)
