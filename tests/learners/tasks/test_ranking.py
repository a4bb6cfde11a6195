"""Blocks of groups, and the state of a ranker: probabilities against draws, copies, merging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import ndtr

from ranked import candidates
from surelearn import SureRanker
from surelearn.learners.tasks.ranking import GroupBlock, best_of, differs
from surelearn.rows import rows_of


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=6))
def test_groups_tell_where_costs_differ(costs):
    bounds = np.cumsum([0, *map(len, costs)])
    flat = np.array([c for own in costs for c in own], np.float64)
    assert differs(bounds, flat).tolist() == [len(set(own)) > 1 for own in costs]


def block(weight=None):
    rows = rows_of(sparse.csr_array(np.eye(6)))
    bounds, cost = np.array([0, 2, 2, 4, 6]), np.array([0.0, 1, 0, 0, 1, 0])
    return GroupBlock.of(rows, bounds, cost, weight, is_sparse=True)


def test_a_block_knows_what_can_be_learnt():
    whole = block(np.array([1.0, 1.0, 1.0, 0.0]))
    assert whole.size == 4
    assert whole.n_skipped == 2
    assert whole.to_learn(None).tolist() == [0]
    assert block().to_learn(None).tolist() == [0, 3]
    assert block().to_learn(np.array([3, 1, 0, 2])).tolist() == [0, 2]


def test_a_part_keeps_rows_and_numbers():
    part = block(np.arange(4.0)).part(2, 4)
    assert part.bounds.tolist() == [2, 4, 6]
    assert part.weight.tolist() == [2.0, 3.0]
    assert part.tells.tolist() == [False, True]
    assert part.first == 2
    assert part.part(1, 2).first == 3


# --------------------------------------------------------------------- probabilities


def covariances(n, K, seed=0):
    roots = np.random.default_rng(seed).normal(size=(n, K, K))
    return roots @ roots.transpose(0, 2, 1)


def test_two_candidates_are_exact():
    mean, spread = np.array([[0.3, -0.2], [1.0, 1.5]]), covariances(2, 2)
    p = best_of(mean, spread, noise=0.5)
    gap = spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1] + 0.5
    np.testing.assert_allclose(p[:, 0], ndtr((mean[:, 0] - mean[:, 1]) / np.sqrt(gap)), rtol=1e-9)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_candidates_that_always_move_together_keep_their_order():
    p = best_of(np.array([[0.1, 0.0]]), np.ones((1, 2, 2)), noise=0.0)
    assert p.tolist() == [[1.0, 0.0]]


def test_independent_candidates_are_exact_and_others_are_drawn():
    mean, spread = np.array([[0.3, -0.2, 0.0]] * 2), covariances(2, 3)
    spread[0] = np.diag([1.0, 2.0, 0.5])
    p = best_of(mean, spread, noise=0.0)
    random = np.random.default_rng(7)
    for i in range(2):
        drawn = random.multivariate_normal(mean[i], spread[i], 200_000).argmax(axis=1)
        share = np.bincount(drawn, minlength=3) / 200_000
        np.testing.assert_allclose(p[i], share, atol=0.005 if i == 0 else 0.05)


@settings(max_examples=10)
@given(st.integers(0, 100))
def test_probabilities_of_mixed_groups(seed):
    X, y, group = candidates(20, seed=seed, size=5)
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    sizes = [*group, 1, 0, 2]
    more = np.vstack([X, X[:3]])
    p = ranker.predict_proba(more, group=sizes)
    ends = np.cumsum(sizes)
    for a, b in zip(ends - sizes, ends, strict=True):
        if b > a:
            assert p[a:b].sum() == pytest.approx(1.0)
            own = ranker.predict_proba(more[a:b])
            np.testing.assert_allclose(own, p[a:b], atol=1e-12)


# -------------------------------------------------------------------- copies, merging


def test_a_copy_is_independent():
    X, y, group = candidates()
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    before = ranker.coef_.copy()
    copied = ranker.model_.copy()
    ranker.partial_fit(X, y, group=group)
    assert (copied.weights.means[0] == before).all()
    assert copied.mistakes == ranker.model_.mistakes[:-1] + copied.mistakes[-1:]


def test_counts_of_a_common_start_are_counted_once():
    X, y, group = candidates()
    start = SureRanker(random_state=0).fit(X, y, group=group)
    start.partial_fit(X[:2], [0, 0], group=[2])
    parts = [start.model_.copy() for _ in range(3)]
    prior = start.model_.merge_state("evidence")
    total = sum(
        (part.merge_state("evidence", start.model_) for part in parts[1:]),
        parts[0].merge_state("evidence", start.model_),
    )
    merged = start.model_.merged(total, prior)
    assert merged.skipped == 1
    assert merged.updates == start.n_updates_
    assert (merged.weights.means == start.model_.weights.means).all()
