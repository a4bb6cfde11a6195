"""Columns whose kinds are decided, and the table that shows them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from surelearn.columns import Category, Columns, Date, Number, Text
from surelearn.columns.cells import Table
from surelearn.columns.known import Known, known_columns

TABLE = {
    "title": ["a great film", None, "how dull", "great fun"] * 5,
    "price": [1.0, 2.0, 3.0, 4.0] * 5,
    "when": ["2024-01-02", "2024-01-02 10:00", None, "2024-02-03"] * 5,
    "id": [f"u{i}" for i in range(20)],
}


def known(**given):
    return {one.name: one for one in known_columns(Table.of(TABLE), given)}


def test_what_is_left_to_the_first_rows_is_decided():
    found = known(price=Number(bins=4), title=Text(), id=Category())
    assert found["price"].column == Number(bins=(1.75, 2.5, 3.25), decimal=".")
    assert found["when"].column == Date(order="mdy")
    assert found["when"].has_hours
    assert (found["title"].why, found["title"].missing) == ("given", 0.25)
    assert (found["title"].example, found["price"].example) == ("a great film", "1")


def test_bins_need_enough_numbers():
    few, many = ({"x": np.arange(n) / 7} for n in (999, 1000))
    assert known_columns(Table.of(few), {})[0].column.bins is None
    assert len(known_columns(Table.of(many), {})[0].column.bins) == 15
    assert known_columns(Table.of(many), {"x": Number(bins=None)})[0].column.bins is None


def test_ids_are_left_out_with_a_warning():
    ids = {"id": [f"u{i}" for i in range(60)]}
    with pytest.warns(UserWarning, match="column 'id' is left out: .* as ids are"):
        known_columns(Table.of(ids), {})


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match=r"columns must be of the table, .*got 'colour'"):
        known(colour=Category())


def test_dicts_may_lack_a_column_that_is_given():
    (one, other) = known_columns(Table.one({"a": 1.5}), {"b": Number(bins=3)})
    assert (one.name, one.column.kind) == ("a", "number")
    assert (other.name, other.column, other.missing) == ("b", Number(bins=(), decimal="."), 1.0)


def test_keys_of_dicts_have_no_order():
    rows = [{"b": 1.5, "a": "x"}, {"a": "y", "c": None}]
    assert [one.name for one in known_columns(Table.of(rows), {})] == ["a", "b"]


def test_known_columns_are_stored_as_json():
    for one in known(price=Number(bins=4)).values():
        assert Known.of(json.loads(json.dumps(one.plain()))) == one
    damaged = replace(known()["price"], why=3).plain()
    with pytest.raises(TypeError, match="why of a column must be a str"):
        Known.of(damaged)


def test_the_table_of_columns():
    shown = Columns.of(list(known(title=Text(), id=Category()).values()))
    assert repr(shown).splitlines() == [
        "column  kind      example       missing  decided",
        "title   text      a great film     25 %  given",
        "price   number    1                      whole numbers",
        "when    date      2024-01-02       25 %  dates in texts",
        "id      category  u0                     given",
    ]
