"""Columns that decide the label alone."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.columns import Category
from surelearn.columns.cells import Table
from surelearn.columns.known import known_columns
from surelearn.columns.leaks import LeakWatch, leaks, warn_of_leaks
from surelearn.read import Labels

N = 100
RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 3, N)
TABLE = {
    "label": np.array(["a", "b", "c"])[Y],
    "stars": 2 * Y + RANDOM.integers(0, 2, N),
    "score": Y + RANDOM.random(N),
    "noise": RANDOM.random(N),
    "hint": np.where(RANDOM.random(N) < 0.9, Y, 0).astype(str),
    "key": [f"k{i // 2}" for i in range(N)],
}


NAMES = np.array(["a", "b", "c"])


def labels(codes):
    return Labels.of(NAMES[codes])


def test_columns_made_of_the_label():
    table = Table.of(TABLE)
    known = known_columns(table, {})
    assert leaks(table, known, labels(Y)) == ["label", "stars", "score"]
    assert leaks(table.take(np.arange(40)), known, labels(Y[:40])) == []
    assert leaks(table, known, labels(0 * Y)) == []
    with pytest.warns(UserWarning, match="column 'stars' decides the label alone"):
        warn_of_leaks(Table.of({"stars": TABLE["stars"]}), known[1:2], labels(Y))


def test_kinds_say_how_values_are_read():
    table = Table.of({name: list(map(str, values)) for name, values in TABLE.items()})
    assert leaks(table, known_columns(table, {}), labels(Y)) == ["label", "stars", "score"]
    code = Table.of({"code": np.array([3, 1, 2])[Y] % 3})
    assert leaks(code, known_columns(code, {"code": Category()}), labels(Y)) == ["code"]
    day = np.datetime64("2024-01-01") + 40 * Y + RANDOM.integers(0, 40, N)
    days = Table.of({"day": day})
    assert leaks(days, known_columns(days, {}), labels(Y)) == ["day"]


def test_a_missing_value_and_a_contradiction_decide_nothing():
    for at in (3, 77):
        given = {name: list(map(str, TABLE[name])) for name in ("label", "score")}
        given["label"][at] = given["score"][at] = None
        table = Table.of(given)
        assert leaks(table, known_columns(table, {}), labels(Y)) == []
    other = Y.copy()
    other[77] = (Y[77] + 1) % 3
    table = Table.of(TABLE)
    assert leaks(table, known_columns(table, {}), labels(other)) == []


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("size", [1, 7, 30, 100])
def test_blocks_in_any_order_find_the_same(size, order):
    table = Table.of(TABLE)
    known = known_columns(table, {})
    watch = LeakWatch(lambda: known)
    for begin in range(0, N, size)[::order]:
        rows = np.arange(begin, min(N, begin + size))
        watch.add(table.take(rows), labels(Y[rows]))
    assert watch.found() == ["label", "stars", "score"]


def test_memory_stays_as_it_is():
    known = known_columns(Table.of({"key": ["a", "b", "a", "b"]}), {"key": Category()})
    watch = LeakWatch(lambda: known)
    for block in range(30):
        keys = [f"k{block}-{i}" for i in range(500)] * 6
        watch.add(Table.of({"key": keys}), labels(np.zeros(3000, int)))
    assert watch._open == {}
    watch.add(Table.of({"key": keys}), labels(np.ones(3000, int)))
    assert watch.found() == []
