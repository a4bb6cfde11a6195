"""Crossed features against NumPy, and candidates by shared features against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from strategies import rows
from surelearn import candidates
from surelearn.candidates import by_shared_features, cross, match


@st.composite
def tables(draw):
    widths = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    heights = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    X, Z = (
        np.array([draw(rows(w)) for _ in range(h)], np.float32)
        for w, h in zip(widths, heights, strict=True)
    )
    label = st.integers(0, heights[1] - 1)
    lists = st.lists(st.lists(label, max_size=4), min_size=heights[0], max_size=heights[0])
    return X, Z, draw(lists)


@given(tables())
def test_crossed_features_are_outer_products(given):
    X, Z, lists = given
    found = cross(X, Z, lists, n_features=None)
    expected = [np.outer(X[i], Z[j]).ravel() for i, own in enumerate(lists) for j in own]
    shape = (sum(map(len, lists)), X.shape[1] * Z.shape[1])
    assert found.shape == shape
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), np.array(expected, np.float32).reshape(shape))
    as_sparse = cross(sparse.csr_array(X), sparse.csr_array(Z), lists, n_features=None)
    np.testing.assert_array_equal(found.toarray(), as_sparse.toarray())


@given(tables(), st.sampled_from([1, 7, 1024]))
def test_hashed_features_have_the_same_products_where_none_collide(given, width):
    X, Z, lists = given
    hashed, exact = cross(X, Z, lists, n_features=width), cross(X, Z, lists, n_features=None)
    assert hashed.shape == (exact.shape[0], width)
    own, other = (rows.toarray().astype(float) for rows in (hashed, exact))
    if np.count_nonzero(own.any(axis=0)) == np.count_nonzero(other.any(axis=0)):
        np.testing.assert_allclose(own @ own.T, other @ other.T, rtol=1e-9, atol=1e-6)


def test_the_same_pair_has_the_same_feature_in_every_row():
    X, Z = np.array([[0.0, 2.0], [1.0, 2.0]]), np.array([[3.0, 0.0], [3.0, 1.0]])
    found = cross(X, Z, [[0], [1]], n_features=2**20).tocsr()
    (j,) = found[[0]].indices
    assert found[[0], [j]] == 6.0
    assert found[[1], [j]] == 6.0


def test_no_candidates_at_all():
    assert cross(np.eye(2), np.eye(2), [[], []], n_features=8).shape == (0, 8)
    assert match(np.eye(2), np.eye(2), [[], []]).shape == (0, 2)


@given(tables())
def test_matches_are_products_of_the_same_feature(given):
    X, Z, lists = given
    width = min(X.shape[1], Z.shape[1])
    X, Z = X[:, :width], Z[:, :width]
    found = match(X, sparse.csr_array(Z), lists)
    expected = [X[i] * Z[j] for i, own in enumerate(lists) for j in own]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), np.array(expected).reshape(-1, width))


def test_blocks_of_candidates_change_nothing(monkeypatch):
    random = np.random.default_rng(0)
    X, Z = (sparse.random_array((n, 30), density=0.2, rng=random) for n in (20, 10))
    lists = [random.integers(0, 10, 7) for _ in range(20)]
    whole = match(X, Z, lists)
    monkeypatch.setattr("surelearn.candidates._ROWS", 9)
    assert (match(X, Z, lists) != whole).nnz == 0


# --------------------------------------------------------------- by shared features


@given(tables(), st.integers(1, 3))
def test_those_of_the_largest_sums(given, most):
    X, Z, _ = given
    width = min(X.shape[1], Z.shape[1])
    X, Z = X[:, :width], Z[:, :width]
    found = by_shared_features(X, Z, most=most)
    seen = np.count_nonzero(Z, axis=0)
    weight = np.log(len(Z) / np.maximum(seen, 1)) + 1e-9
    scores = np.abs(X).astype(float) @ (np.abs(Z).astype(float) * weight).T
    assert len(found) == len(X)
    for own, score in zip(found, scores, strict=True):
        assert len(own) == min(most, np.count_nonzero(score))
        assert (np.diff(own) > 0).all()
        left = np.setdiff1d(np.arange(len(Z)), own)
        if len(own) and len(left):
            assert score[own].min() >= score[left].max() - 1e-6 * (1 + score.max())


def test_blocks_change_nothing(monkeypatch):
    random = np.random.default_rng(0)
    X, Z = (sparse.random_array((n, 30), density=0.2, rng=random) for n in (50, 20))
    whole = by_shared_features(X, Z, most=4)
    monkeypatch.setattr("surelearn.candidates._BLOCK", 60)
    cut = by_shared_features(X, Z, most=4)
    assert [own.tolist() for own in whole] == [own.tolist() for own in cut]


@pytest.mark.parametrize("bad", [-1, 2])
def test_candidates_are_rows_of_the_labels(bad):
    message = f"candidates must be at least 0 and below 2, the rows of Z, got {bad} for row 0"
    with pytest.raises(ValueError, match=message):
        cross(np.eye(1), np.eye(2), [[bad]])


@pytest.mark.parametrize("value", [3, None])
def test_candidates_are_lists(value):
    with pytest.raises(TypeError, match=f"candidates must be a list of lists.*got {value}"):
        cross(np.eye(1), np.eye(2), value)


def test_different_widths_are_refused():
    with pytest.raises(ValueError, match="X must have 3 features as in Z, got 2"):
        by_shared_features(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="X must have 3 features as in Z, got 2"):
        match(np.eye(2), np.eye(3), [[0], [0]])
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        by_shared_features(np.eye(2), np.eye(2), most=0)
    with pytest.raises(ValueError, match="Z must be finite, got NaN or infinity in row 0"):
        by_shared_features(np.eye(2), np.full((1, 2), np.nan))


@pytest.mark.parametrize(
    ("lists", "kind", "message"),
    [
        ([[0]], ValueError, "candidates must have one list for each of 2 rows of X, got 1"),
        (
            [[0], [3]],
            ValueError,
            "candidates must be at least 0 and below 3, the rows of Z, got 3 for row 1",
        ),
        ([[0], [-1]], ValueError, "got -1 for row 1"),
        ([[0], [0.5]], TypeError, r"lists of row numbers of Z, got \[0\.5\] for row 1"),
    ],
)
def test_candidates_that_make_no_sense(lists, kind, message):
    with pytest.raises(kind, match=message):
        candidates.cross(np.eye(2), np.eye(3), lists)


def test_too_many_products_must_be_hashed():
    with pytest.raises(ValueError, match=r"must be a number to hash 10,000,000,000 products"):
        candidates.cross(np.zeros((1, 10**5)), np.zeros((1, 10**5)), [[0]], n_features=None)


def test_fifty_candidates_are_found_unless_told_otherwise():
    # A feature that all have weighs nearly nothing: labels without it make it rarer.
    Z = np.repeat([[1.0], [0.0]], [60, 9], axis=0)
    (found,) = by_shared_features([[1.0]], Z)
    assert len(found) == 50
