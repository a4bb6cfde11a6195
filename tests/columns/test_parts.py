"""Rows put together from columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surelearn import _core
from surelearn.columns import parts
from surelearn.columns.parts import Part


def dense(arrays, width):
    starts, features, values = arrays
    return sparse.csr_matrix((values, features, starts), (len(starts) - 1, width)).toarray()


def drawn(seed, width=4, n=6):
    rows = sparse.random(n, width, 0.5, random_state=seed, format="csr", dtype=np.float32)
    rows.sort_indices()
    return (rows.indptr.astype(np.int64), rows.indices, rows.data), rows.toarray()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_are_joined(dtype):
    (a, first), (b, second), (c, third) = map(drawn, range(3))
    joined = parts.joined([Part(a, 2), Part(b, 0, 2.0), Part(c, 6)], 6, dtype)
    wanted = np.zeros((6, 10))
    wanted[:, 2:6] += first
    wanted[:, :4] += 2 * second
    wanted[:, 6:] += third
    assert joined[2].dtype == dtype
    assert np.allclose(dense(joined, 10), wanted)
    assert _core.Rows.csr(*joined, 10).fault is None
    inside = np.diff(joined[1]) > 0
    inside[joined[0][1:-1] - 1] = True  # features ascend in each row
    assert inside.all()


def test_parts_of_other_rows_are_refused():
    (a, _), (b, _) = drawn(0), drawn(1, n=5)
    with pytest.raises(ValueError, match="the same rows"):
        parts.joined([Part(a, 0), Part(b, 0)], 6, np.float32)


def test_numbers_keep_zeros_and_leave_out_what_is_missing():
    made = parts.of_numbers([np.array([0.0, np.nan]), np.array([2.0, -1.0])])
    assert [x.tolist() for x in made[:2]] == [[0, 2, 3], [0, 1, 1]]
    assert made[2].tolist() == [parts.ZERO, 2.0, -1.0]


def test_rows_are_taken_and_scaled():
    arrays, table = drawn(3)
    taken = parts.taken(arrays, np.array([4, -1, 0, 4]))
    assert np.array_equal(dense(taken, 4), np.vstack([table[4], 0 * table[0], table[0], table[4]]))
    assert parts.taken(arrays, np.arange(6))[1] is arrays[1]
    lengths = np.linalg.norm(dense(parts.of_length_one(arrays), 4), axis=1)
    assert np.allclose(lengths[table.any(axis=1)], 1)


def test_lists_have_length_one():
    starts, codes = np.array([0, 3, 3, 4]), np.array([0, 1, 0, 1])
    made = dense(parts.of_lists(starts, codes, np.array([5, 2]), 8), 8)
    assert np.allclose(made[0, [2, 5]], 2**-0.5)
    assert not made[1].any()
    assert made[2, 2] == 1


def test_products_of_columns():
    left = Part(parts.one_a_row(np.array([1, 2, 1], np.int32)), 0)
    right = Part(parts.some_rows(np.array([True, False, True]), 3), 4)
    made = dense(parts.crossed(left, right, 10, 64), 64)
    assert made.sum(axis=1).tolist() == [1, 0, 1]
    own, other = parts.pairs_of(left, right)
    assert (own.tolist(), other.tolist()) == ([1], [7])
    (place,) = parts.places_of_pairs((own, other), 10, 64)
    assert made[0, place] == 1
