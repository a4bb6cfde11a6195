"""Labels of records: one for each, or any number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
