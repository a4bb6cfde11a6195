"""Designed codes: rows and columns far apart, the same for the same number."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.decode import (
    Code,
    _design,
    error_correcting,
)


@pytest.mark.parametrize("K", [2, 3, 4, 5, 6])
def test_few_classes_have_every_problem(K):
    code = error_correcting(K)
    assert code.kind == "ecoc"
    assert code.n_problems == 2 ** (K - 1) - 1
    assert code.dmin == max(1, 2 ** (K - 2))


def best_of_random(K, B, seed):
    codes = 2 * np.random.default_rng(seed).integers(0, 2, (1000, K, B)) - 1
    near = (codes @ codes.transpose(0, 2, 1)).astype(float)
    near[:, np.arange(K), np.arange(K)] = -np.inf
    return int((B - near.max(axis=(1, 2)).min()) / 2)


def column_distance(matrix):
    """The least one, also to complements and to the constant column."""
    every = np.column_stack([np.ones(len(matrix), int), matrix]).astype(int)
    near = np.abs(every.T @ every) - np.diag(np.full(every.shape[1], len(matrix)))
    return (len(matrix) - near.max()) // 2


@pytest.mark.parametrize("K", [7, 10, 20, 43])
def test_designed_codes_beat_random_ones(K):
    code = error_correcting(K)
    assert code.n_problems == int(np.ceil(10 * np.log2(K)))
    assert code.kind == "ecoc"
    assert (code.matrix != 0).all()
    # Not merely as good: random codes would be.
    assert code.dmin > best_of_random(K, code.n_problems, seed=K)
    assert column_distance(code.matrix) >= {7: 1, 10: 1, 20: 4, 43: 10}[K]


def test_flips_lose_no_distance(monkeypatch):
    """The best code on the way is kept, so more flips are never worse; columns cost no distance."""
    start = _design._best_of_random(15, 20, np.random.default_rng(3))
    found = []
    for flips in range(60):
        monkeypatch.setattr(_design, "_FLIPS", flips)
        draft = _design._rows_apart(_design._Draft(start))
        found.append(_design._merit(draft))
        monkeypatch.setattr(_design, "_FLIPS", 1000)
        assert _design._least_distance(_design._columns_apart(draft)) >= found[-1][0]
    assert found == sorted(found)
    assert found[0][0] == _design._least_distance(start) < found[-1][0]


def test_the_start_is_the_best_of_a_thousand(monkeypatch):
    """Each draw of a smaller number is one of the larger; and it is a code, however short."""
    found = []
    for n in (1, 10, 100, 1000):
        monkeypatch.setattr(_design, "_RANDOM", n)
        start = _design._best_of_random(15, 20, np.random.default_rng(3))
        found.append(_design._least_distance(start))
    assert found == sorted(found)
    assert found[0] < found[-1]
    assert Code(_design._best_of_random(64, 6, np.random.default_rng(0))).dmin == 1
    assert Code(_design._best_of_random(100, 8, np.random.default_rng(0))).n_problems == 8


def test_columns_are_parted():
    """What the second search does to a code that the first has left."""
    start = _design._best_of_random(20, 30, np.random.default_rng(1))
    draft = _design._rows_apart(_design._Draft(start))
    before = column_distance(draft.code)
    assert column_distance(_design._columns_apart(draft)) > before


def test_a_draft_keeps_its_sums():
    random = np.random.default_rng(0)
    draft = _design._Draft(error_correcting(9, 12).matrix)
    for k, b in zip(random.integers(9, size=60), random.integers(12, size=60), strict=True):
        draft.flip(int(k), int(b))
        fresh = _design._Draft(draft.code.astype(np.int8))
        np.testing.assert_array_equal(draft.distance, fresh.distance)
        np.testing.assert_array_equal(draft.product, fresh.product)


@pytest.mark.parametrize(
    ("K", "B"), [(3, 2), (4, 2), (8, 3), (8, 100), (16, 4), (33, 6), (64, 6), (100, 9), (7, 62)]
)
def test_codes_of_any_length(K, B):
    code = error_correcting(K, B)
    assert code.matrix.shape == (K, B)
    assert code.dmin >= 1


def test_more_classes_than_a_number_has_bits():
    code = error_correcting(80, 30, random_state=1)
    assert code.dmin > best_of_random(80, 30, seed=0)


def test_the_same_number_gives_the_same_code():
    assert error_correcting(9, random_state=4) == error_correcting(9, random_state=4)
    assert error_correcting(9, random_state=4) != error_correcting(9, random_state=5)


def test_lengths_that_make_no_code():
    with pytest.raises(ValueError, match="n_problems must be at least 4, got 3"):
        error_correcting(9, 3)
    with pytest.raises(ValueError, match="n_problems must be at most 7, got 8"):
        error_correcting(4, 8)
    with pytest.raises(ValueError, match="random_state must be at least 0, got -1"):
        error_correcting(9, random_state=-1)
