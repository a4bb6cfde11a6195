"""Matrices that make no code are refused by row and column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn.decode import (
    Code,
    all_pairs,
    one_vs_rest,
)
from surelearn.decode._checks import opposite_signs


def test_complementary_rows_are_fine():
    code = Code([[1, 1], [-1, -1], [1, -1]])
    assert code.dmin == 1


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        ("ovr?", TypeError, "^coding matrix must hold -1, 0 and \\+1, got 'ovr\\?'.$"),
        ([[1, -1], [1]], TypeError, "must hold -1, 0 and \\+1, got \\[\\[1, -1\\], \\[1\\]\\]"),
        (None, TypeError, "got None"),
        ([1, -1], ValueError, "must have two dimensions.* got shape \\(2,\\)"),
        (np.ones((2, 2, 2)), ValueError, "got shape \\(2, 2, 2\\)"),
        ([[1, -1]], ValueError, "at least two rows and one column, got shape \\(1, 2\\)"),
        (np.ones((3, 0)), ValueError, "at least two rows and one column, got shape \\(3, 0\\)"),
        ([[1, 1], [-1, 2]], ValueError, "got 2 in row 1, column 1"),
        ([[1, 0.5], [-1, 1]], ValueError, "got 0.5 in row 0, column 1"),
        ([[1, -1], [np.nan, 1]], ValueError, "got nan in row 1, column 0"),
        ([[1, 1], [-1, 1]], ValueError, "a -1 in every column, got no -1 in column 1.$"),
        ([[-1, 0], [1, -1]], ValueError, "got no \\+1 in column 1.$"),
        ([[1, 0], [0, 1]], ValueError, "no -1 in column 0. Write -1 for the negative side"),
        ([[1, 1], [-1, -1], [1, 1]], ValueError, "classes, got equal rows 0 and 2.$"),
        ([[1, 1], [-1, -1], [1, 0]], ValueError, "no column with opposite signs in rows 0 and 2"),
        ([[1, -1], [-1, 1], [0, 0]], ValueError, "no column with opposite signs in rows 0 and 2"),
        ([[1, -1, 1], [-1, 1, -1]], ValueError, "got complementary columns 0 and 1.$"),
        ([[1, 1, 1], [1, -1, 1], [-1, 1, -1]], ValueError, "got equal columns 0 and 2.$"),
        ([[0, 1, 0], [1, -1, -1], [-1, -1, 1]], ValueError, "complementary columns 0 and 2"),
    ],
)
def test_matrices_that_are_no_code(matrix, error, message):
    with pytest.raises(error, match=message):
        Code(matrix)


def test_kinds_that_do_not_fit():
    with pytest.raises(ValueError, match=r"kind must be one of 'ovr', 'ovo', .* got 'one'"):
        Code([[1], [-1]], kind="one")
    with pytest.raises(TypeError, match=r"kind must be one of .* got 3"):
        Code([[1], [-1]], kind=3)
    with pytest.raises(ValueError, match="must be that of the coding matrix, got 'ovr' for an"):
        Code(all_pairs(3).matrix, kind="ovr")
    with pytest.raises(ValueError, match="must be that of the coding matrix, got 'ovo' for an"):
        Code(one_vs_rest(3).matrix, kind="ovo")


@given(st.integers(2, 6), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_signs_are_opposite_in_so_many_problems(K, B, seed):
    matrix = np.random.default_rng(seed).integers(-1, 2, (K, B)).astype(np.int8)
    want = [[int((one * other == -1).sum()) for other in matrix] for one in matrix]
    np.testing.assert_array_equal(opposite_signs(matrix), want)
