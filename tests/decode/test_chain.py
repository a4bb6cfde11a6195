"""Chains against the enumeration of their paths: best, k best, marginals, draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import strategies
from reference.chain import Paths, augmented, hamming
from surelearn.decode import Chain
from surelearn.decode._chain import _fitting

# Scores further apart than this are told apart by any order of summation.
APART = 1e-9


def as_path(labels):
    return tuple(int(label) for label in labels)


def random_chain(seed, length=5, n_labels=4, own_tables=True, scale=2.0):
    rng = np.random.default_rng(seed)
    shape = (length - 1, n_labels, n_labels) if own_tables else (n_labels, n_labels)
    return scale * rng.normal(size=(length, n_labels)), scale * rng.normal(size=shape)


# -------------------------------------------------------------------- search


@given(strategies.chains(), st.data())
def test_score_is_the_sum_along_the_path(chain, data):
    paths = Paths(*chain)
    path = data.draw(st.sampled_from(paths.ranked))
    assert Chain(*chain).score(path) == pytest.approx(paths.score(path), rel=1e-12, abs=1e-12)


@given(strategies.chains(whole=True), st.integers(1, 9))
def test_best_paths_are_those_of_enumeration_and_ties_go_to_the_lowest_label(chain, k):
    paths = Paths(*chain)
    assert as_path(Chain(*chain).best()) == paths.best()
    assert [as_path(path) for path in Chain(*chain).k_best(k)] == paths.k_best(k)


@given(strategies.chains(), st.integers(1, 20))
def test_k_best_scores_are_those_of_enumeration(chain, k):
    paths = Paths(*chain)
    found = [as_path(path) for path in Chain(*chain).k_best(k)]
    assert len(set(found)) == len(found) == min(k, len(paths.ranked))
    scores = [paths.score(path) for path in found]
    np.testing.assert_allclose(scores, paths.scores[:k], rtol=0, atol=APART)
    gaps = -np.diff(paths.scores)
    apart = np.append(gaps, np.inf) > APART
    apart[1:] &= gaps > APART
    for rank, path in enumerate(found):
        assert not apart[rank] or path == paths.ranked[rank]


@given(strategies.chains(), st.data())
def test_best_wrong_path_is_among_the_two_best(chain, data):
    paths = Paths(*chain)
    y = data.draw(st.sampled_from(paths.ranked))
    wrong = [path for path in map(as_path, Chain(*chain).k_best(2)) if path != y]
    rival = paths.best_wrong(y)
    assert bool(wrong) == (rival is not None)
    if wrong:
        assert paths.score(wrong[0]) == pytest.approx(paths.score(rival), abs=APART)


@given(strategies.chains(whole=True), st.data())
def test_best_other_path_is_that_of_enumeration(chain, data):
    paths = Paths(*chain)
    y = data.draw(st.sampled_from(paths.ranked))
    found = Chain(*chain).best_other(y)
    assert (found if found is None else as_path(found)) == paths.best_wrong(y)


@pytest.mark.parametrize("own_tables", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_cost_is_added_to_the_scores(seed, own_tables):
    U, A = random_chain(seed, own_tables=own_tables, scale=0.3)
    paths = Paths(U, A)
    y = paths.best()
    dear = [
        score + hamming(y, path) for path, score in zip(paths.ranked, paths.scores, strict=True)
    ]
    found = as_path(Chain(augmented(U, y), A).best())
    assert found == as_path(Chain(U, A).augmented(y).best())
    assert found == paths.ranked[int(np.argmax(dear))]
    assert found != y
    assert as_path(Chain(U, A).augmented(y, cost=0.0).best()) == y


@given(strategies.chains())
def test_a_chain_is_made_again_of_its_own_scores(chain):
    one = Chain(*chain)
    again = Chain(one.U, one.A)
    assert np.array_equal(again.marginals(), one.marginals())
    assert as_path(one.augmented(one.best(), cost=0.0).best()) == as_path(one.best())


def test_every_path_is_found():
    paths = Paths(*random_chain(1, length=4, n_labels=3))
    found = [as_path(path) for path in Chain(paths.U, paths.A).k_best(1000)]
    assert found == paths.ranked
    assert len(found) == 81


def test_ties_by_hand():
    """The last label is settled first, then the one before it."""
    found = Chain(np.zeros((2, 2)), np.zeros((2, 2))).k_best(4)
    assert [as_path(path) for path in found] == [(0, 0), (1, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize("own_tables", [False, True])
def test_long_chain_keeps_the_order(own_tables):
    U, A = random_chain(3, length=60, n_labels=6, own_tables=own_tables)
    chain = Chain(U, A)
    found = [as_path(path) for path in chain.k_best(30)]
    scores = np.array([chain.score(path) for path in found])
    assert found[0] == as_path(chain.best())
    assert len(set(found)) == 30
    assert (np.diff(scores) <= APART).all()
    # The first is better than all its neighbours with one label changed; so is the second, but one.
    for rank, path in enumerate(found[:2]):
        better = 0
        for t, label in np.ndindex(U.shape):
            changed = (*path[:t], label, *path[t + 1 :])
            better += chain.score(changed) > scores[rank] + APART
        assert better <= rank


# ------------------------------------------------------------- probabilities


@given(strategies.chains())
def test_sums_over_paths_are_those_of_enumeration(chain):
    paths = Paths(*chain)
    got = Chain(*chain)
    assert got.log_partition() == pytest.approx(paths.log_partition(), rel=1e-12, abs=1e-11)
    assert np.shape(got.marginals()) == paths.U.shape
    assert np.shape(got.pair_marginals()) == paths.A.shape
    np.testing.assert_allclose(got.marginals(), paths.marginals(), rtol=0, atol=1e-11)
    np.testing.assert_allclose(got.pair_marginals(), paths.pair_marginals(), rtol=0, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0, 1e5])
def test_marginals_sum_to_one_at_any_scale(scale):
    chain = Chain(*random_chain(6, length=50, n_labels=5, scale=scale))
    marginals, pairs = chain.marginals(), chain.pair_marginals()
    assert np.isfinite(chain.log_partition())
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-8)
    np.testing.assert_allclose(pairs.sum(axis=2), marginals[:-1], atol=1e-8)
    np.testing.assert_allclose(pairs.sum(axis=1), marginals[1:], atol=1e-8)


@pytest.mark.parametrize("offset", [-1e4, 800.0, 1e4])
def test_a_score_for_all_labels_moves_only_the_partition(offset):
    U, A = random_chain(7)
    moved = U.copy()
    moved[2] += offset
    plain, high = Chain(U, A), Chain(moved, A)
    assert high.log_partition() == pytest.approx(plain.log_partition() + offset, abs=1e-8)
    np.testing.assert_allclose(high.marginals(), plain.marginals(), rtol=1e-9, atol=1e-10)
    assert as_path(high.best()) == as_path(plain.best())


def test_pair_marginals_are_the_slope_of_the_log_partition():
    U, A = random_chain(8, own_tables=False)
    pairs = Chain(U, A).pair_marginals().sum(axis=0)
    h = 1e-5
    for i, j in np.ndindex(A.shape):
        step = h * (np.outer(np.eye(4)[i], np.eye(4)[j]))
        slope = Chain(U, A + step).log_partition() - Chain(U, A - step).log_partition()
        assert slope / (2 * h) == pytest.approx(pairs[i, j], abs=1e-8)


# --------------------------------------------------------------------- draws


@pytest.mark.parametrize(("length", "n_labels"), [(1, 4), (2, 3), (4, 2), (3, 3)])
def test_draws_follow_the_distribution_of_paths(length, n_labels):
    U, A = random_chain(9, length=length, n_labels=n_labels, scale=0.7)
    n = 20_000
    drawn = Chain(U, A).sample(n, random_state=0)
    assert np.shape(drawn) == (n, length)
    counts = Counter(as_path(path) for path in drawn)
    chances = Paths(U, A).distribution()
    assert set(counts) <= set(chances)
    expected = [n * p for p in chances.values()]
    observed = [counts[path] for path in chances]
    assert stats.chisquare(observed, expected, sum_check=False).pvalue > 1e-4


def test_draws_of_a_sure_chain_are_its_best_path():
    U, A = random_chain(10, scale=1e4)
    chain = Chain(U, A)
    assert {as_path(path) for path in chain.sample(50, random_state=1)} == {as_path(chain.best())}


def test_same_seed_same_draws():
    chain = Chain(*random_chain(11, scale=0.1))
    first, again, other = (chain.sample(40, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (np.asarray(first) != np.asarray(other)).any()


# ------------------------------------------------------------- smallest ones


def test_one_label_has_one_path():
    chain = Chain(np.ones((3, 1)), np.full((1, 1), 2.0))
    assert [as_path(path) for path in chain.k_best(5)] == [(0, 0, 0)]
    assert chain.log_partition() == pytest.approx(7.0)
    np.testing.assert_allclose(chain.marginals(), 1.0)
    np.testing.assert_allclose(chain.pair_marginals(), np.ones((2, 1, 1)))


def test_one_token_has_no_steps():
    chain = Chain(np.log([[1.0, 3.0, 4.0]]), np.full((3, 3), 99.0))
    assert as_path(chain.best()) == (2,)
    assert chain.log_partition() == pytest.approx(np.log(8.0))
    np.testing.assert_allclose(chain.marginals(), [[0.125, 0.375, 0.5]])
    assert np.shape(chain.pair_marginals()) == (0, 3, 3)


@pytest.mark.parametrize(
    ("length", "shape"),
    [(0, (2, 2)), (0, (0, 2, 2)), (1, (0, 2, 2)), (3, (2, 2, 2)), (3, (1, 2, 2))],
)
def test_transitions_are_one_matrix_or_one_for_each_step(length, shape):
    U, A = _fitting(np.zeros((length, 2)), np.ones(shape))
    assert U.shape == (length, 2)
    assert A.shape == (max(1, shape[0] if len(shape) == 3 else 1), 2, 2)


@pytest.mark.parametrize(
    ("length", "shape"), [(3, (2, 1)), (3, (3, 2, 2)), (1, (2, 2, 2)), (0, (2, 2, 2)), (3, (4,))]
)
def test_transitions_of_another_shape_are_refused(length, shape):
    said = rf"A must be of shape \(2, 2\) or \({max(length - 1, 0)}, 2, 2\) as U has {length} tok"
    with pytest.raises(ValueError, match=said):
        _fitting(np.zeros((length, 2)), np.ones(shape))
