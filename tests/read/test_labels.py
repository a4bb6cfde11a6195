"""Labels of records: one for each, or any number."""

from __future__ import annotations

import datetime
import io
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from surelearn import SureTextClassifier, predict, read
from surelearn.read import Batch, Labels


def coded(rows, values):
    """The labels of rows, given as lists of codes."""
    codes = np.array([code for row in rows for code in row], np.int32)
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Labels(codes, np.array(values), starts)


#: Codes of each row, in any order and any number of times.
rows = st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=6)


def test_one_label_for_each_row():
    labels = Labels(np.array([1, 0, 1], np.int32), np.array(["b", "a"]))
    assert labels.n_rows == 3
    assert labels.take([2, 1]).codes.tolist() == [1, 0]
    assert labels.take(slice(1)).starts is None
    assert labels.in_order() is labels


@given(rows, st.data())
def test_some_rows_of_many_labels(given_rows, data):
    labels = coded(given_rows, list("dbca"))
    assert labels.n_rows == len(given_rows)
    lists = [tuple("dbca"[code] for code in row) for row in given_rows]
    assert labels.lists() == lists
    n = len(given_rows)
    chosen = data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    taken = labels.take(np.array(chosen, np.int64))
    assert taken.n_rows == len(chosen)
    assert taken.lists() == [lists[row] for row in chosen]
    cut = data.draw(st.integers(0, n))
    assert labels.take(slice(cut)).lists() + labels.take(slice(cut, n)).lists() == lists


@given(rows)
def test_labels_in_order_are_sorted_and_distinct_in_each_row(given_rows):
    labels = coded(given_rows, list("dbca"))
    sorted_ = labels.in_order()
    assert sorted_.lists() == [tuple(sorted(set(row))) for row in labels.lists()]
    assert sorted_.values.tolist() == list("abcd")
    for a, b in zip(sorted_.starts[:-1], sorted_.starts[1:], strict=True):
        assert (np.diff(sorted_.codes[a:b]) > 0).all()


@pytest.mark.parametrize("n", [0, 3])
def test_rows_without_any_label(n):
    labels = coded([[]] * n, [])
    assert labels.n_rows == n
    assert labels.lists() == labels.in_order().lists() == [()] * n


def test_the_labels_of_a_batch_are_tuples():
    batch = Batch(np.eye(3), coded([[1, 0], [], [1]], ["a", "b"]))
    assert batch.y == [("b", "a"), (), ("b",)]
    assert batch[1:].y == [(), ("b",)]


RECORDS = [
    {"text": "fine day", "id": 1, "name": "ä", "label": "good", "sure": 0.5, "x": 2},
    {"text": "", "id": 2, "name": "b,\nc", "label": "bad", "sure": 1.5, "x": 3},
    {"text": "dull day", "id": 3, "name": "", "label": "good", "sure": 2.0, "x": 4},
]
NAMES = ["name", "id", "text", "label", "sure", "x"]


def jsonl(folder: Path, records: list[object], name: str = "r.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def kept(source: object, names: list[str], **reading: object) -> dict[str, list[object]]:
    found = [batch.kept for batch in read.batches(source, keep=names, **reading)]
    assert all(list(some) == names for some in found)
    return {name: [value for some in found for value in some[name].tolist()] for name in names}


def written(folder: Path, format: str) -> object:
    """The same records as a source of each kind."""
    frame = pandas.DataFrame(RECORDS)
    path = folder / f"r.{format}"
    if format == "jsonl":
        return jsonl(folder, RECORDS)
    if format in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if format == "csv" else "\t")
    elif format == "parquet":
        frame.to_parquet(path)
    elif format == "arrow":
        feather.write_feather(pyarrow.Table.from_pandas(frame), path)
    else:
        kinds = {"pandas": pandas.DataFrame, "polars": polars.DataFrame}
        return kinds[format](RECORDS)
    return path


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet", "arrow", "pandas", "polars"])
@pytest.mark.parametrize("label", [None, False, "label"])
def test_columns_are_kept_in_order(tmp_path: Path, format: str, label: object) -> None:
    found = kept(written(tmp_path, format), NAMES, label=label)
    for name in NAMES:
        expected = [record[name] for record in RECORDS]
        if format in ("csv", "tsv") and name == "sure":
            expected = list(map(str, expected))  # which are no whole numbers: as they are written
        assert found[name] == expected, name
        assert list(map(type, found[name])) == list(map(type, expected)), name


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "pandas"])
def test_columns_of_numbers_can_be_kept(tmp_path: Path, format: str) -> None:
    found = kept(written(tmp_path, format), ["id", "x"], features=["x", "sure"])
    assert found == {"id": [1, 2, 3], "x": [2, 3, 4]}
    batch = next(iter(read.batches(written(tmp_path, format), keep=["id"], features=["x"])))
    assert batch.X.tolist() == [[2.0], [3.0], [4.0]]


def test_what_is_kept_is_no_feature_unless_it_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [{"a": 1, "b": 2, "id": 3}])
    (batch,) = read.batches(path, keep=["id"])
    assert batch.X.tolist() == [[1.0, 2.0]]


ODD = [None, [1, {"a": "b"}], {"c": None}, 2**70, 1.5, True, "\ud800", "2020-01-01", float("nan")]


def test_any_value_of_json_is_kept(tmp_path: Path) -> None:
    for first in ODD:
        values = [first, *ODD, 7]
        path = jsonl(tmp_path, [{"text": "a", "v": value} for value in values])
        assert repr(kept(path, ["v"])["v"]) == repr(values)


def test_values_that_are_missing_are_none(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [{"text": "a", "v": 1}, {"text": "b"}, {"text": "c", "v": None}])
    assert kept(path, ["v"]) == {"v": [1, None, None]}
    Path(tmp_path / "r.csv").write_text("text,v,w\na,1,x\nb,,\nc,07,y\n")
    assert kept(tmp_path / "r.csv", ["v", "w"]) == {"v": ["1", "", "07"], "w": ["x", "", "y"]}
    Path(tmp_path / "r.csv").write_text("text,v\na,1\n")
    Path(tmp_path / "s.csv").write_text("text,v\nb,\nc,07\nd,0\ne,1.5\n")
    paths = [tmp_path / "r.csv", tmp_path / "s.csv"]
    assert kept(paths, ["v"]) == {"v": [1, None, "07", 0, "1.5"]}


def test_bad_records_leave_no_value(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [{"text": "a", "v": 1}, {"text": 3, "v": 2}, {"text": "c", "v": 3}])
    assert kept(path, ["v"], skip_bad=True) == {"v": [1, 3]}
    Path(tmp_path / "r.csv").write_text("text,v\na,1\nb\nc,3\n")
    assert kept(tmp_path / "r.csv", ["v"], skip_bad=True) == {"v": [1, 3]}
    table = pyarrow.table({"text": ["a", None, "c"], "v": [1, 2, 3]})
    assert kept(table, ["v"], skip_bad=True) == {"v": [1, 3]}
    Path(tmp_path / "r.svm").write_text("1 1:1\n2 bad\n3.5 2:1\n")
    assert kept(tmp_path / "r.svm", ["label"], skip_bad=True) == {"label": [1.0, 3.5]}


def test_types_of_tables(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 2, 3, 4, 5)
    table = pyarrow.table(
        {
            "text": ["a", "b"],
            "when": pyarrow.array([day, None], pyarrow.timestamp("ns")),
            "money": pyarrow.array([Decimal("1.50"), None]),
            "list": [[1, 2], None],
            "coded": pyarrow.array(["u", "v"]).dictionary_encode(),
            "size": pyarrow.array([1, None], pyarrow.uint64()),
            "bytes": [b"x", b"y"],
        }
    )
    path = tmp_path / "r.parquet"
    parquet.write_table(table, path)
    found = kept(path, ["when", "money", "list", "coded", "size", "bytes"])
    assert found["when"][0].startswith("2020-01-02 03:04:05")
    assert found["when"][1] is None
    assert found["money"] == [Decimal("1.50"), None]
    assert found["list"] == [[1, 2], None]
    assert found["coded"] == ["u", "v"]
    assert found["size"] == [1, None]
    assert found["bytes"] == ["x", "y"]


def test_texts_that_are_none_are_bad_records(tmp_path: Path) -> None:
    table = pyarrow.table({"text": ["a", "b"], "v": [b"x", b"\xff"]})
    parquet.write_table(table, tmp_path / "r.parquet")
    with pytest.raises(read.BadInput, match=r"row 2: 'v' must be UTF-8, got b'\\xff'\."):
        kept(tmp_path / "r.parquet", ["v"])
    assert kept(tmp_path / "r.parquet", ["v"], skip_bad=True) == {"v": ["x"]}
    (tmp_path / "r.csv").write_bytes(b"text,v\na,x\nb,\xff\n")
    with pytest.raises(read.BadInput, match="line 3: expected UTF-8, got byte 0xff"):
        kept(tmp_path / "r.csv", ["v"])
    assert kept(tmp_path / "r.csv", ["v"], skip_bad=True) == {"v": ["x"]}


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_labels_of_sparse_rows_are_all_there_is_to_keep(tmp_path: Path, format: str) -> None:
    path = tmp_path / "rows"
    path.write_text("1 1:1\n-1 2:1\n" if format == "svmlight" else "1 |a b\n-1 |c d\n")
    assert kept(path, ["label"], format=format) == {"label": [1, -1]}
    assert kept(path, ["label"], format=format, label=False) == {"label": [1, -1]}
    with pytest.raises(read.BadInput, match=r"rows must have a column 'id', got 'label'\."):
        kept(path, ["id"], format=format)


def test_rows_of_vw_without_a_label_keep_none(tmp_path: Path) -> None:
    path = tmp_path / "r.vw"
    path.write_text("1 |a b\n|c d\n2 |c\n")
    assert kept(path, ["label"], label=False) == {"label": [1, None, 2]}


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "pandas", "polars"])
def test_columns_that_are_not_there(tmp_path: Path, format: str) -> None:
    with pytest.raises(read.BadInput, match="must have a column 'nope', got 'text', 'id', 'name'"):
        kept(written(tmp_path, format), ["nope"])


def test_names_must_be_a_list_without_repeats(tmp_path: Path) -> None:
    path = jsonl(tmp_path, RECORDS)
    with pytest.raises(TypeError, match="keep must be a list of names, got 'id'"):
        read.batches(path, keep="id")
    with pytest.raises(TypeError, match=r"keep must be a list of names, got \[3.5\]"):
        read.batches(path, keep=[3.5])
    with pytest.raises(ValueError, match=r"keep must be different names, got \['id', 'id'\]"):
        read.batches(path, keep=["id", "id"])


def test_the_first_records_have_what_is_kept(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 100)
    path = jsonl(tmp_path, [{"text": "a", "v": i if i < 5 else str(i)} for i in range(20)])
    found = read.batches(path, keep=["v"], label=False).first(10)
    assert found.kept["v"].tolist() == [0, 1, 2, 3, 4, "5", "6", "7", "8", "9"]
    assert found[2:4].kept["v"].tolist() == [2, 3]


def test_long_texts_are_not_padded(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [{"text": "a" * 10**6}, *[{"text": "b"}] * 1000])
    (batch,) = read.batches(path, keep=["text"])
    assert batch.kept["text"].nbytes < 10**5


# ----------------------------------------------------------------------- predict


@pytest.fixture(scope="module")
def clf() -> SureTextClassifier:
    return SureTextClassifier(random_state=0).fit(["fine", "dull"], ["good", "bad"])


def test_predict_keeps_one_column_or_several(tmp_path: Path, clf: SureTextClassifier) -> None:
    path = jsonl(tmp_path, RECORDS)
    (found,) = predict(clf, path, keep="id")
    assert found.kept.tolist() == [1, 2, 3]
    (found,) = predict(clf, path, keep=["label", "id", "text"])
    assert {name: values.tolist() for name, values in found.kept.items()} == {
        "label": ["good", "bad", "good"],
        "id": [1, 2, 3],
        "text": ["fine day", "", "dull day"],
    }
    assert list(found.kept) == ["label", "id", "text"]
    (found,) = predict(clf, path)
    assert found.kept is None
    (found,) = predict(clf, path, keep=[])
    assert found.kept == {}


def test_standard_input_is_kept_from(clf: SureTextClassifier, monkeypatch) -> None:
    data = b'{"text": "a", "v": [1]}\n{"text": "b", "v": null}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    (found,) = predict(clf, "-", keep="v")
    assert found.kept.tolist() == [[1], None]


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet", "arrow", "pandas", "polars"])
def test_all_columns_are_kept_at_once(tmp_path, format):
    (batch,) = read.batches(written(tmp_path, format), label=False, keep=["*"])
    found = {name: values.tolist() for name, values in batch.kept.items()}
    wanted = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
    if format in ("csv", "tsv"):
        wanted["sure"] = [str(value) for value in wanted["sure"]]
        found["name"] = ["" if value is None else value for value in found["name"]]
    assert found == wanted


def test_all_keys_of_lines_are_kept(tmp_path):
    records = [{"text": "a", "b": 1}, {"text": "c", "d": [2]}]
    (batch,) = read.batches(jsonl(tmp_path, records), label=False, keep=["*"])
    assert {name: values.tolist() for name, values in batch.kept.items()} == {
        "text": ["a", "c"],
        "b": [1, None],
        "d": [None, [2]],
    }


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("r.jsonl", '\n{"text": "a"}\n\n{\n{"text": "b"}\n', [2, 5]),
        ("r.csv", '\ntext,n\n"a\n",1\n\n"b",2,3\nc,4', [3, 7]),
        ("r.csv", "text,n\ra,1\rb,2\r", [2, 3]),
    ],
)
def test_every_record_has_its_line(tmp_path, name, text, wanted):
    path = tmp_path / name
    path.write_bytes(text.encode())
    (block,) = read.batches(path, label=False, skip_bad=True).blocks()
    assert list(block.numbers(block.parse())) == wanted


def test_every_row_of_a_table_has_its_number(tmp_path):
    path = tmp_path / "r.parquet"
    parquet.write_table(pyarrow.table({"text": ["a", None, "b"]}), path)
    (block,) = read.batches(path, label=False, skip_bad=True).blocks()
    assert list(block.numbers(block.parse())) == [1, 3]


def test_every_sentence_has_the_line_of_its_first_word(tmp_path):
    path = tmp_path / "r.conll"
    path.write_text("-DOCSTART-\n\nMr\nAdams\n\n\nin\nOslo\n")
    (block,) = read.sentences(path, label=False).blocks()
    assert list(block.numbers(block.parse())) == [3, 7]


KINDS = [
    st.integers(-3, 3),
    st.sampled_from(["a", "b", "ä", ""]),
    st.booleans(),
]


@given(data=st.data())
def test_codes_say_the_same_as_the_labels(data):
    kind = data.draw(st.sampled_from(KINDS))
    y = np.array(data.draw(st.lists(kind, min_size=1, max_size=12)))
    labels = Labels.of(y)
    assert labels.y.tolist() == y.tolist()
    assert labels.values.tolist() == sorted(set(y.tolist()))
    assert labels.counts.tolist() == [y.tolist().count(v) for v in labels.values.tolist()]
    classes = np.unique(np.array(data.draw(st.lists(kind, max_size=5)), y.dtype))
    known = classes.tolist()
    wanted = [known.index(v) if v in known else -1 for v in y.tolist()]
    assert labels.codes_in(classes).tolist() == wanted
    rows = data.draw(st.lists(st.integers(0, len(y) - 1)))
    some = labels.take(np.array(rows, int))
    assert (some.y.tolist(), some.seen.tolist()) == (y[rows].tolist(), sorted({*y[rows].tolist()}))
    turned = Labels(len(labels.values) - 1 - labels.codes, labels.values[::-1])  # not sorted
    assert turned.codes_in(classes).tolist() == wanted
    assert turned.seen.tolist() == labels.seen.tolist()
