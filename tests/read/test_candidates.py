"""Candidates with the features that they share, beside sums and products of dense rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from surelearn.read import _candidates
from surelearn.read._candidates import Candidates
from surelearn.read._vw import parse_candidates
from surelearn.rows import crossed

N = 40
TEXT = b"""shared |s red:2 round
1:0 |l hot:3
2:1.5 |l cold warm:-1

5:1 |l a

shared |s blue
6:0 |l b
"""


def dense(line):
    return parse_candidates(line, n_features=N).X.toarray()


def test_shared_features_are_added_to_each_candidate():
    found = Candidates(parse_candidates(TEXT, n_features=N), cross=False)
    red, blue = dense(b"|s red:2 round\n"), dense(b"|s blue")
    hot, cold, a, b = (dense(x) for x in (b"|l hot:3", b"|l cold warm:-1", b"|l a", b"|l b"))
    np.testing.assert_array_equal(
        found.X.toarray(), np.vstack([hot + red, cold + red, a, b + blue])
    )
    assert found.costs.tolist() == [0, 1.5, 1, 0]
    assert found.names.tolist() == [1, 2, 5, 6]
    assert found.groups.tolist() == [0, 0, 1, 2]
    assert found.wrong is None


def test_shared_features_are_crossed_with_those_of_each_candidate():
    parsed = parse_candidates(TEXT, n_features=N)
    found = Candidates(parsed, cross=True).X - Candidates(parsed, cross=False).X
    rows = parsed.X.toarray()
    expected = np.zeros((4, N), np.float32)
    for i, (shared, own) in enumerate([(0, 1), (0, 2), (None, 3), (4, 5)]):
        if shared is not None:
            left, right = csr_array(rows[[shared]]), csr_array(rows[[own]])
            expected[i] = crossed(left, right, ([0], [0]), N, hashed=True).toarray()
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    assert np.count_nonzero(expected) >= 5


def test_candidates_that_share_nothing_are_not_copied():
    parsed = parse_candidates(b"1:0 |l a\n2:1 |l b\n", n_features=N)
    assert Candidates(parsed, cross=True).X is parsed.X


@pytest.mark.parametrize(("cross", "n"), [(False, 3 + 4), (True, 3 + 4 + 2 * 1 + 2 * 2)])
def test_the_entries_of_a_group_are_counted_before_they_are_made(monkeypatch, cross, n):
    parsed = parse_candidates(TEXT, n_features=2**20)
    monkeypatch.setattr(_candidates, "MOST_ENTRIES", n)
    assert Candidates(parsed, cross).wrong is None
    monkeypatch.setattr(_candidates, "MOST_ENTRIES", n - 1)
    assert Candidates(parsed, cross).wrong == (
        f"expected a group of at most {n - 1} entries with its shared features, got {n}. "
        "They are repeated for each candidate."
    )
