"""Columns that decide the label alone."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.columns import Table, known_columns, warn_of_leaks
from surelearn.columns.leaks import leaks

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


def test_columns_made_of_the_label():
    table = Table.of(TABLE)
    known = known_columns(table, {})
    assert leaks(table, known, Y) == ["label", "stars", "score"]
    assert leaks(table[:40], known, Y[:40]) == []
    assert leaks(table, known, 0 * Y) == []
    with pytest.warns(UserWarning, match="column 'stars' decides the label alone"):
        warn_of_leaks(Table.of({"stars": TABLE["stars"]}), known[1:2], Y)
