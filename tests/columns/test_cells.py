"""Cells of all containers become the same arrays."""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from surelearn.columns.cells import DATES, FLAGS, LISTS, NUMBERS, STRINGS, Table, cells_of

DAY = datetime.datetime(2024, 5, 6, 7, 8)
COLUMNS = {
    "number": ([1.5, None, -2.0], NUMBERS, [1.5, None, -2.0]),
    "whole": ([3, None, 4], NUMBERS, [3.0, None, 4.0]),
    "flag": ([True, None, False], FLAGS, [1.0, None, 0.0]),
    "text": (["a b", None, "  "], STRINGS, ["a b", None, None]),
    "date": ([DAY, None, DAY], DATES, [DAY, None, DAY]),
    "list": ([["x", "y"], None, []], LISTS, [["x", "y"], None, []]),
}


def plain(cells):
    """The values of cells as a list."""
    if cells.form == LISTS:
        names, starts = cells.strings(), cells.starts
        rows = [cells.values[a:b] for a, b in itertools.pairwise(starts)]
        lists = [[names[code] for code in row] for row in rows]
        return [None if gone else row for row, gone in zip(lists, cells.absent, strict=True)]
    values = cells.values.tolist()
    if cells.form == STRINGS:
        values = [None if code < 0 else cells.strings()[code] for code in values]
    gone = cells.missing.tolist()
    return [None if no else value for value, no in zip(values, gone, strict=True)]


MAKERS = {
    "list": lambda name, values: values,
    "array": lambda name, values: pandas.Series(values, dtype=object).to_numpy(),
    "pandas": lambda name, values: pandas.Series(values),
    "polars": lambda name, values: polars.Series(name, values),
    "Arrow": lambda name, values: pyarrow.array(values),
    "chunks": lambda name, values: pyarrow.chunked_array(
        [pyarrow.array(values[:1]), pyarrow.array(values[1:], pyarrow.array(values[:1]).type)]
    ),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", COLUMNS)
def test_all_containers_hold_the_same(name, maker):
    values, form, wanted = COLUMNS[name]
    cells = cells_of(MAKERS[maker](name, values))
    assert (cells.form, plain(cells)) == (form, wanted)
    taken = cells.take(np.array([2, 0]))
    assert plain(taken) == [wanted[2], wanted[0]]
    assert len(taken) == 2


@pytest.mark.parametrize(
    ("values", "form", "wanted"),
    [
        (np.array([1, 2], np.int8), NUMBERS, [1.0, 2.0]),
        (np.array([np.inf, 2.0]), NUMBERS, [None, 2.0]),
        (np.array(["2024-01-02", "NaT"], "datetime64[D]"), DATES, ["2024-01-02", None]),
        ([Decimal("1.5"), 2, True], NUMBERS, [1.5, 2.0, 1.0]),
        ([float("nan"), "a"], STRINGS, [None, "a"]),
        ([3, "a", 2.0, b"c", True], STRINGS, ["3", "a", "2", "c", "true"]),
        ([datetime.date(2024, 1, 2), float("nan")], DATES, ["2024-01-02", None]),
        (["x", ["y"]], LISTS, [["x"], ["y"]]),
        ([None, None], NUMBERS, [None, None]),
        (pandas.Categorical(["b", None, "a"], ["a", "b", "c"]), STRINGS, ["b", None, "a"]),
        (pandas.Series([1, None], dtype="Int64"), NUMBERS, [1.0, None]),
        (pandas.Series([True, None], dtype="boolean"), FLAGS, [1.0, None]),
        (pandas.Series(pandas.to_datetime(["2024-01-02"]).tz_localize("CET")), DATES, None),
        (polars.Series(["b", None], dtype=polars.Categorical), STRINGS, ["b", None]),
        (pyarrow.array([DAY], pyarrow.timestamp("s", "CET")), DATES, None),
        (pyarrow.array([None, None]), NUMBERS, [None, None]),
        (pyarrow.chunked_array([], pyarrow.string()), STRINGS, []),
        (pyarrow.array(["a", ""], pyarrow.string_view()), STRINGS, ["a", None]),
    ],
)
def test_types_of_cells(values, form, wanted):
    if isinstance(values, pandas.Categorical):
        values = pandas.Series(values)
    cells = cells_of(values)
    assert cells.form == form
    if form == DATES and wanted is not None:
        shown = np.datetime_as_string(cells.values, "D").tolist()
        assert [None if text == "NaT" else text for text in shown] == wanted
    elif wanted is not None:
        assert plain(cells) == wanted


ROWS = [{"a": "x", "b": 1.0}, {"a": "y", "b": 2.0}]


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        {"a": ["x", "y"], "b": [1.0, 2.0]},
        pandas.DataFrame(ROWS),
        polars.DataFrame(ROWS),
        pyarrow.Table.from_pylist(ROWS),
        pyarrow.RecordBatch.from_pylist(ROWS),
    ],
    ids=lambda X: type(X).__module__,
)
def test_tables_of_all_kinds(X):
    table = Table.of(X)
    assert (table.names, len(table)) == (["a", "b"], 2)
    assert plain(table.cells("a")) == ["x", "y"]
    assert plain(table.take(np.array([1])).cells("b")) == [2.0]
    assert plain(table[:1].cells("b")) == [1.0]
    assert Table.of(table) is table


def test_a_key_that_a_dict_lacks_is_missing():
    table = Table.of([{"a": "x"}, {"b": 2.0}])
    assert table.may_lack
    assert plain(table.cells("a")) == ["x", None]
    assert plain(Table.one({"a": 3}).cells("a")) == [3.0]


def test_what_is_no_table():
    two = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="columns of different names, got 2 of 'a'"):
        Table.of(two)
    with pytest.raises(TypeError, match="X must be a table"):
        Table.of(np.eye(2))
    with pytest.raises(TypeError, match="x must be a dict of"):
        Table.one(["a"])
    with pytest.raises(ValueError, match="one length, got 2 and 1 of 'b'"):
        Table.of({"a": [1, 2], "b": [1]}).cells("b")


def test_some_cells_forget_the_values_that_none_of_them_has():
    values = [f"text {i}" for i in range(50)] + [None]
    cells = cells_of(values)
    few = cells.take(np.array([50, 7, 3, 7]))
    assert few.plain() == [None, "text 7", "text 3", "text 7"]
    assert sorted(few.strings()) == ["text 3", "text 7"]
    arrow = cells_of(pyarrow.array(values)).take(np.array([50, 7, 3, 7]))
    assert arrow.plain() == few.plain()


def test_plain_values():
    table = Table.of(
        {
            "number": [1.5, None],
            "flag": [True, None],
            "day": [datetime.date(2024, 5, 1), None],
            "time": [datetime.datetime(2024, 5, 1, 8, 30), None],
            "list": [["a", "b"], None],
            "text": ["x", " "],
        }
    )
    first, second = table.records()
    assert first == {
        "number": 1.5,
        "flag": True,
        "day": "2024-05-01",
        "time": "2024-05-01T08:30:00.000000",
        "list": ["a", "b"],
        "text": "x",
    }
    assert second == dict.fromkeys(first)
