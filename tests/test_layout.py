"""What weights store for each feature, in numbers and bytes."""

from __future__ import annotations

import pytest

from surelearn.layout import Layout


@pytest.mark.parametrize(
    ("how", "parts", "nbytes"),
    [
        ({}, 2, 2 * 3 * 5 * 4),
        ({"second_order": False}, 1, 3 * 5 * 4),
        ({"averaged": True, "dtype": "float64"}, 3, 3 * 3 * 5 * 8),
        ({"intercept": False}, 2, 2 * 3 * 4 * 4),
        ({"covariance": "full"}, 2, 15 * (15 + 1) * 4),
        ({"covariance": "full", "averaged": True}, 3, 15 * (15 + 2) * 4),
    ],
)
def test_numbers_and_bytes_of_three_columns(how, parts, nbytes):
    known = {"intercept": True, "second_order": True, "averaged": False, "dtype": "float32"}
    layout = Layout(4, **known | how)
    assert layout.parts == parts
    assert layout.nbytes(3) == nbytes
    assert layout.n_rows == 4 + layout.intercept
