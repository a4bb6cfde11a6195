"""Which columns are read, what they must hold, and which of their values are bad."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from frames import FILES, FRAMES, NUMBERS, TEXTS, numbers, stored
from reading import content, dumped, rows
from stores import write_stream
from surelearn import SureTextClassifier, evaluate, predict, read
from surelearn.read._columns import Columns, ColumnSpec, faulty, labels_of, shown
from surelearn.read._csv_rows import CsvDialect, CsvRows, Header


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reviews.jsonl"


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
    with pytest.raises(TypeError, match=r"source must be a path, .* or a pyarrow table, got int."):
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


def test_numbers_are_checked(path):
    good = b'{"a": 1, "b": 2.5, "w": 3, "label": 0.5}\n'
    path.write_bytes(good)
    (batch,) = read.batches(path, weight="w")
    np.testing.assert_array_equal(batch.X, [[1, 2.5]])
    assert (batch.weight.tolist(), batch.y.tolist()) == ([3.0], [0.5])
    for (name, value), message in {
        ("a", '"1"'): "'a' must be a number, got '1'",
        ("a", "1e999"): "'a' must be a number, got inf",
        ("a", "null"): "'a' must be a number, got null",
        ("w", "-1"): "'w' must be a number of at least 0, got -1",
        ("w", "1e999"): "'w' must be a number of at least 0, got inf",
        ("w", "null"): "'w' must be a number of at least 0, got null",
        ("label", "1e308"): r"'label' must be a number, got 1e\+308",
        ("label", "null"): "'label' must be a number, got null",
    }.items():
        record = {"a": "1", "b": "2", "w": "1", "label": "1", name: value}
        line = "{" + ", ".join(f'"{key}": {found}' for key, found in record.items()) + "}\n"
        path.write_bytes(good + line.encode())
        with pytest.raises(read.BadInput, match=f"line 2: {message}."):
            list(read.batches(path, weight="w"))


def test_labels_with_a_nul_at_their_end_are_kept_apart(path):
    pairs = [("a", "x\0"), ("b", "x"), ("c", "x\0\0")]
    path.write_bytes(dumped(pairs))
    assert rows(path) == (pairs, 0)


def test_columns_that_are_missing_are_named_with_those_there_are(path):
    path.write_bytes(b'{"body": "a", "stars": "1"}\n')
    with pytest.raises(
        read.BadInput, match=r"a column 'text', got texts in 'body' \(such as 'a'\), 'st"
    ):
        rows(path)
    with pytest.raises(read.BadInput, match=r"must have a column 'label', got 'body', 'stars'."):
        rows(path, text="body", label="label")
    assert rows(path, text="body", label="stars") == ([("a", "1")], 0)
    (batch,) = read.batches(path, text="body")
    assert batch.y is None
    with pytest.raises(read.BadInput, match=r"for one thing each, got 'body' for two."):
        rows(path, text="body", label="body")
    with pytest.raises(read.BadInput, match=r"not both, got 'body' and features."):
        rows(path, text="body", features=["stars"])


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_columns_that_are_not_read_are_told(kind: str, tmp_path: Path) -> None:
    source = read.batches(stored(kind, tmp_path, {**NUMBERS, "name": NUMBERS["kind"]}),
                          features=["height"], label="kind")  # fmt: skip
    source.first(1)
    assert source.ignored == ["age", "name"]
    assert source.columns == {"features": ["height"], "label": "kind"}


# ------------------------------------------------------------------ of those there are

NAMES = ["id", "text", "body", "label", "stars", "w"]


def among(spec, names=NAMES, numbers=("id", "stars", "w"), texts=("text", "body", "label")):
    return spec.among(names, "a.csv", numbers=numbers, texts=dict.fromkeys(texts, "a"))


def test_columns_that_are_called_so_are_read_unless_others_are_named():
    assert among(ColumnSpec()).plain() == {"text": "text", "label": "label"}
    named = ColumnSpec(text="body", label="stars", weight="w")
    assert among(named).plain() == {"text": "body", "label": "stars", "weight": "w"}
    assert among(named).others == ("id", "text", "label")
    assert among(ColumnSpec(text="label")).plain() == {"text": "label"}
    assert among(ColumnSpec(label=False)).plain() == {"text": "text"}


def test_all_numbers_are_features_but_those_that_are_read_for_something_else():
    spec = ColumnSpec(label="stars", features=("*",), keep=("id",))
    found = among(spec)
    assert found.plain() == {"label": "stars", "features": ["w"]}
    assert found.all_names == ["stars", "w", "id"]
    without = among(ColumnSpec(label=False, features=("*",)), [*NAMES[2:]], ["label", "stars"])
    assert without.features == ("stars",)  # labels that are not read are no features


GOOD = {"text": "a", "label": 0.5, "w": 0.0, "x": -1e307}
ODD = st.sampled_from([None, 0, -0.5, 1e307, 1e308, -1e308, math.inf, -math.inf])
RECORD = st.one_of(
    st.just({**GOOD, "text": None}),
    st.tuples(st.sampled_from(["label", "w", "x"]), ODD).map(lambda odd: {**GOOD, odd[0]: odd[1]}),
)


@given(st.lists(RECORD, min_size=9, max_size=9), st.booleans())
def test_a_row_of_a_table_is_bad_where_its_record_is(records, of_numbers):
    text, features = (None, ("x",)) if of_numbers else ("text", ())
    columns = Columns(text, "label", "w", features, kind="a number")
    table = pa.Table.from_pylist(records, schema=columns.schema())
    bad = [columns.fault(record) is not None for record in records]
    assert faulty(table, columns).tolist() == bad


@given(st.lists(st.text(max_size=3)))
def test_labels_are_places_among_those_that_occur(labels):
    found = labels_of(pa.array(labels, pa.string()))
    assert found.values[found.codes].tolist() == labels
    assert len(found.values) == len(set(labels))


def test_values_are_shown_no_longer_than_fits_on_a_line():
    assert (shown(None), shown(None, there=False)) == ("null", "none")
    assert shown("a" * 38) == repr("a" * 38)
    assert shown("a" * 39) == "'" + "a" * 36 + "..."


class Counted(str):
    """A name that counts how often any of them is compared or hashed."""

    n = 0

    def __eq__(self, other):
        Counted.n += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Counted.n += 1
        return str.__hash__(self)


@pytest.mark.parametrize("features", [("*",), None, "named"])
def test_many_columns_take_time_in_proportion(features):
    counts = []
    for n in (100, 1000):
        names = [Counted(f"c{i}") for i in range(n)]
        wanted = ColumnSpec(features=tuple(names) if features == "named" else features)
        Counted.n = 0
        columns = wanted.among(names, "rows.csv", numbers=names, texts={})
        assert columns.features == tuple(names)
        reader = CsvRows(
            Header(names, None), columns, CsvDialect(",", '"'), separator=None, skip_bad=True
        )
        row = ",".join(["1"] * n).encode()
        assert reader(row + b"\n" + row + b"\nbad\n", "rows.csv", 1).X.shape == (2, n)
        counts.append(Counted.n)
    assert counts[1] < 20 * counts[0]


@pytest.mark.slow
def test_twenty_thousand_columns_are_read_in_seconds(tmp_path):
    columns = {f"c{i}": [1.0, 2.0] for i in range(20_000)} | {"label": ["a", "b"]}
    for kind in ("csv", "jsonl", "parquet", "pandas", "polars"):
        source = stored(kind, tmp_path, columns)
        start = time.process_time()
        (batch,) = read.batches(source, keep=list(columns)[:10_000])
        assert batch.X.shape == (2, 10_000)
        assert time.process_time() - start < 12, kind  # 25 s and more where it is quadratic


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_texts_that_nobody_has_chosen_are_not_passed_over(kind: str, tmp_path: Path) -> None:
    rows = {**TEXTS, "id": list(range(40)), "label": TEXTS["stars"]}
    rows.pop("stars")
    source = stored(kind, tmp_path, rows)
    message = (
        r"(frame|t\.\w+).* must have a column 'text', got texts in 'body'.* such as text='body', "
        r"or the numeric columns: features=\['id', 'votes'\]\."
    )
    model = numbers().fit([[0.0, 1.0], [1.0, 0.0]], [1, 5])
    for go in (
        lambda: list(read.batches(source)),
        lambda: numbers().fit_stream(source),
        lambda: SureTextClassifier().fit_stream(source),
        lambda: list(predict(model, source)),
        lambda: evaluate(model, source),
    ):
        with pytest.raises(read.BadInput, match=message):
            go()
    assert evaluate(model, source, features=["id", "votes"]).n == 40
    (batch,) = read.batches(source, features="*")
    assert batch.X.shape == (40, 2)
    (batch,) = read.batches(source, text="body")
    assert batch.X.to_pylist() == rows["body"]


def test_a_column_with_one_value_that_is_no_number_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,size,label\n3,1,x\nn/a,2,y\n")
    with pytest.raises(read.BadInput, match=r"got texts in 'age' \(such as 'n/a'\)\."):
        read.batches(tmp_path / "a.csv").first(1)
    (tmp_path / "a.jsonl").write_text(
        '{"body": null, "size": 1, "label": 1}\n{"body": "a good film, a very good one"}\n'
    )
    with pytest.raises(read.BadInput, match=r"'body' \(such as 'a good film, a v \.\.\.'\)"):
        read.batches(tmp_path / "a.jsonl").first(1)


def test_of_many_columns_all_are_proposed() -> None:
    frame = pandas.DataFrame({f"x{i}": [1.0, 2.0] for i in range(20)})
    frame["name"], frame["label"] = ["a", "b"], [0, 1]
    with pytest.raises(read.BadInput, match=r"or the numeric columns: features=\['\*'\]\."):
        numbers().fit_stream(frame)
    assert numbers().fit_stream(frame, features=["*"]).n_features_in_ == 20
    with pytest.raises(read.BadInput, match=r"Name the one to learn from, such as text='name'\.$"):
        numbers().fit_stream(frame[["name", "label"]])
    with pytest.raises(read.BadInput, match=r"or name another by text, got 'name', 'label'\."):
        numbers().fit_stream(frame[["name", "label"]], features="*")


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ("ab", TypeError, "features must be a list of names of columns, got 'ab'"),
        ([0.5], TypeError, r"features must be a list of names of columns, got \[0.5\]"),
        ([], ValueError, r"features must name at least one column, got \[\]"),
    ],
)
def test_features_are_names(features: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        numbers().fit_stream(pandas.DataFrame(NUMBERS), label="kind", features=features)
