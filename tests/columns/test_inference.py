"""What a column is, told from its values."""

from __future__ import annotations

import datetime

import numpy as np
import pandas
import pytest

from surelearn.columns import Boolean, Categories, Category, Date, Ignore, Number, Text
from surelearn.columns.cells import cells_of
from surelearn.columns.inference import EACH_CODE, MOST_CODES, infer

N = 200
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "column", "why"),
    [
        ([None] * N, Ignore(), "all missing"),
        (["a"] * N, Ignore(), "constant"),
        ([2.5] * N, Ignore(), "constant"),
        (["a", None] * N, Category(), "1 distinct values"),
        ([True, False] * N, Boolean(), "true or false"),
        (["yes", "no"] * N, Boolean(), "words for true and false"),
        ([["a"], ["b", "c"]] * N, Categories(), "lists"),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)] * N, Date(), "dates"),
        (["1/2/2024", "3/4/2024"] * N, Date(order="mdy"), "dates in texts"),
        (["25/2/2024", "3/4/2024"] * N, Date(order="dmy"), "dates in texts"),
        (RANDOM.normal(size=N), Number(), "numbers"),
        (RANDOM.integers(0, 1000, N), Number(), "whole numbers"),
        ([1, 2, 3] * N, Number(bins="values"), "3 whole numbers, maybe codes"),
        ([1.0, 2.0, 3.0] * N, Number(bins="values"), "3 whole numbers, maybe codes"),
        (np.arange(5, N + 5), Ignore(), "row numbers"),
        (["1.5", "2.25"] * N, Number(decimal="."), "numbers"),
        (["1,5", "2,25"] * N, Number(decimal=","), "numbers"),
        (["1", "2", "3"] * N, Number("values", decimal="."), "3 whole numbers, maybe codes"),
        (["007", "012"] * N, Category(), "2 distinct values"),
        (["Acme", "Bell Co"] * N, Category(), "2 distinct values"),
        (pandas.Series([f"v{i}" for i in range(N)], dtype="category"), Category(), "categories"),
        ([f"u{i}" for i in range(N)], Ignore(), "nearly all different, as ids are"),
        ([f"u{i % 150}" for i in range(N)], Category(), "150 distinct values"),
        ([f"some words of {i}" for i in range(N)], Text(), "4.0 words on average"),
    ],
)
def test_kinds(values, column, why):
    told = infer(cells_of(values))
    assert (told.column, told.why) == (column, why)
    assert told.warns == why.startswith("nearly")


def test_codes_are_few_and_repeat():
    codes = np.arange(MOST_CODES)
    assert infer(cells_of(np.tile(codes, EACH_CODE))).column == Number(bins="values")
    assert infer(cells_of(np.tile(codes, EACH_CODE - 1))).column == Number()
    more = np.arange(MOST_CODES + 1)
    assert infer(cells_of(np.tile(more, 2 * EACH_CODE))).column == Number()


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (3, Number()),
        ("1.5", Number()),
        ("Acme", Category()),
        ("two words", Text()),
        (True, Boolean()),
        ("yes", Boolean()),
        ("2024-01-01", Date()),
        (["a"], Categories()),
        (None, Ignore()),
    ],
)
def test_one_value_tells_little(value, column):
    assert infer(cells_of([value])).column == column
