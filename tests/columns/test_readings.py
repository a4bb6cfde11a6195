"""How numbers, dates and categories are written."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.columns import readings
from surelearn.columns.cells import cells_of


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["12.5", " 3", "-1e3"], [12.5, 3.0, -1000.0]),
        (["1,5", "2", "3,25"], [1.5, 2.0, 3.25]),
        (["1,500", "2,000,000", "3"], [1500.0, 2e6, 3.0]),
        (["1.500,5", "2,5"], [1500.5, 2.5]),
        (["1,500.5", "2.5"], [1500.5, 2.5]),
        ([".5", "5."], [0.5, 5.0]),
    ],
)
def test_numbers_in_texts(texts, wanted):
    assert readings.are_numbers(texts)
    assert readings.numbers(cells_of(texts), "auto").values.tolist() == wanted


@pytest.mark.parametrize(
    "texts", [["007"], ["1", "x"], ["1,2,3"], ["1,5", "2.5"], ["1_0"], ["nan"]]
)
def test_texts_that_are_no_numbers(texts):
    assert not readings.are_numbers(texts)


def test_what_cannot_be_read_is_missing_and_told():
    read = readings.numbers(cells_of(["1", None, "n/a", "2"]), ".")
    assert np.array_equal(read.values, [1.0, np.nan, np.nan, 2.0], equal_nan=True)
    assert read.unread == "n/a"
    assert readings.numbers(cells_of([["a"], ["b"]]), ".").unread is not None
    unread = readings.dates(cells_of([1.0, 2.0]), "mdy")
    assert np.isnat(unread.values).all()
    assert unread.unread == "1"
    # A value that no row has any more is not told.
    some = cells_of(["1", "n/a"]).take(np.array([0]))
    assert readings.numbers(some, ".").unread is None


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["2024-12-31", "2024-01-02 03:04"], ["2024-12-31T00:00", "2024-01-02T03:04"]),
        (["2024-12-31T03:04:05.5Z"], ["2024-12-31T03:04"]),
        (["31.12.2024", "1.2.2024"], ["2024-12-31T00:00", "2024-02-01T00:00"]),
        (["12/31/2024", "1/2/2024"], ["2024-12-31T00:00", "2024-01-02T00:00"]),
        (["31/12/2024", "1/2/2024"], ["2024-12-31T00:00", "2024-02-01T00:00"]),
        (["1/2/2024 3:04 PM"], ["2024-01-02T15:04"]),
        (["2024/1/2"], ["2024-01-02T00:00"]),
    ],
)
def test_dates_in_texts(texts, wanted):
    assert readings.are_dates(texts)
    found = readings.dates(cells_of(texts), "auto").values
    assert np.datetime_as_string(found, "m").tolist() == wanted


@pytest.mark.parametrize(
    "text", ["2024-13-01", "1/2/24", "2024", "1.2-2024", "2024-01-01 25:00", "x"]
)
def test_texts_that_are_no_dates(text):
    assert not readings.are_dates([text])


def test_parts_of_dates():
    days = np.array(["2024-05-06T07:08", "NaT", "1969-12-31"], "datetime64[us]")
    parts = {name: values.tolist() for name, values in readings.parts_of(days).items()}
    assert parts.pop("year") == [2024, -1, 1969]
    assert parts == {"month": [5, -1, 12], "weekday": [0, -1, 2], "hour": [7, -1, 0]}
    years = readings.years(np.array(["2023-07-02T12:00", "NaT"], "datetime64[us]"))
    assert years[0] == 2023.5
    assert np.isnan(years[1])


def test_categories_have_one_spelling():
    def of(values):
        made = readings.categories(cells_of(values))
        names = made.strings()
        return [None if code < 0 else names[code] for code in made.values.tolist()]

    assert of([3, 1, None]) == of([3.0, 1.0, None]) == of(["3", "1", None]) == ["3", "1", None]
    assert of([True, False, None]) == ["true", "false", None]
    assert of([["b", "a"], None]) == ["b a", None]
    assert of(np.array(["2024-01-02"], "datetime64[D]")) == ["2024-01-02 00:00:00"]


def test_lists_are_cut_at_a_separator():
    made = readings.lists(cells_of(["a; b", None, "b;", "c"]), ";")
    names = made.strings()
    assert np.diff(made.starts).tolist() == [2, 0, 1, 1]
    assert [names[code] for code in made.values] == ["a", "b", "b", "c"]
    assert made.missing.tolist() == [False, True, False, False]
    assert readings.lists(cells_of(["a;b"]), None).strings() == ["a;b"]
    assert len(readings.lists(cells_of([None, None]), ";")) == 2


def test_true_and_false():
    read = readings.booleans(cells_of(["Yes", "n", None, "maybe", "1"]))
    assert np.array_equal(read.values, [1, 0, np.nan, np.nan, 1], equal_nan=True)
    assert read.unread == "maybe"
    assert readings.are_flags(["TRUE", "no"])
    assert not readings.are_flags(["1", "0"])
