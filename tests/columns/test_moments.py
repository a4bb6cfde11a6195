"""Numbers in units of their own deviation."""

from __future__ import annotations

import numpy as np

from surelearn.columns import moments, parts


def test_moments_of_rows_with_gaps():
    columns = [np.array([1.0, np.nan, 3.0]), np.array([5.0, 5.0, 5.0])]
    arrays = parts.of_numbers(columns)
    found = moments.moments_of(arrays, 2)
    assert found[0].tolist() == [2.0, 5.0]
    moments.standardise(arrays, found)
    assert np.allclose(arrays[2], [-(0.5**0.5), 0, 0, 0.5**0.5, 0])
    assert (arrays[2] != 0).all()
