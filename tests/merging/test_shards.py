"""Shards are merged in their order: to the bits of a plain loop, in any number of threads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import merge as reference
from surelearn import _core
from surelearn.merging import (
    Evidence,
    MergeState,
    ShardRuns,
    ShardState,
    go_on_from,
    merged_in_order,
    merged_round,
)
from surelearn.merging._shards import Entries
from surelearn.weights import Diagonal, Layout

TAUS = [1.0, 16.0, math.inf]


def table(random, layout, K, start=None, features=None):
    """Weights at random; those of a shard have moved from `start` in some places."""
    weights = Diagonal(layout, K, 1.0)
    if start is not None:
        go_on_from(weights, start, features)
    cells = _core.runs(weights.core)[0].copy()
    moved = random.random((len(cells), K)) < 0.6
    for part in range(layout.parts):
        own = cells[:, part * K : (part + 1) * K]
        is_variance = layout.second_order and part == 1
        if is_variance:
            own[moved] *= random.uniform(0.2, 1.0, moved.sum()).astype(own.dtype)
        else:
            own[moved] += random.normal(size=moved.sum()).astype(own.dtype)
    rounds = 0 if start is None else _core.runs(start.core)[1]
    rounds += int(random.integers(1, 9))
    places = np.arange(len(cells))
    return weights.put_features({"features": places, "cells": cells, "rounds": rounds})


def problem(seed, n_shards, K, **more):
    """A base, shards that went on from it, and the features of each."""
    random = np.random.default_rng(seed)
    settings = {"intercept": False, "second_order": True, "averaged": False, "dtype": "float32"}
    layout = Layout(n_features=11, **{**settings, **more})
    base = table(random, layout, K)
    shards, features = [], []
    for number in range(n_shards):
        own = np.flatnonzero(random.random(11) < 0.6) if number % 3 else None
        width = replace(layout, n_features=11 if own is None else len(own))
        shards.append(table(random, width, K, base, own))
        features.append(own)
    return base, shards, features


def runs_of(base, shards, features):
    return [ShardRuns.of(shard, base, own) for shard, own in zip(shards, features, strict=True)]


def cells_of(weights):
    return _core.runs(weights.core)[0]


def copied(weights):
    return Diagonal.from_state(weights.state())


@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 9),
    st.sampled_from(TAUS),
    st.sampled_from(["float32", "float64"]),
)
def test_it_is_a_plain_loop_over_shards(seed, n_shards, K, tau, dtype):
    base, shards, features = problem(seed, n_shards, K, dtype=dtype)
    start = cells_of(base).copy()
    own = [np.tile(start, 1) for _ in shards]
    for cells, shard, some in zip(own, shards, features, strict=True):
        cells[slice(None) if some is None else some] = cells_of(shard)
    found = cells_of(merged_in_order(base, runs_of(base, shards, features), tau))
    for j in range(11):
        for k in range(K):
            first, *others = [
                (float(cells[j, k]), float(cells[j, K + k])) for cells in (start, *own)
            ]
            expected = np.array(reference.in_order(first, others, tau)).astype(dtype)
            assert found[j, [k, K + k]].tolist() == expected.tolist()


@pytest.mark.parametrize("tau", TAUS)
def test_the_loop_is_right(tau):
    base, shards, _ = problem(0, 4, 1, dtype="float64")
    points = [[tuple(map(float, line)) for line in cells_of(one)] for one in (base, shards[0])]
    for start, own in zip(*points, strict=True):
        others = [own, (own[0] - 0.3, own[1] / 2), start]
        means = [reference.exact([mu]) for mu, _ in others]
        sigmas = [reference.exact([[sigma]]) for _, sigma in others]
        first = reference.exact([start[0]]), reference.exact([[start[1]]])
        rational = None if math.isinf(tau) else reference.exact(tau)
        mean, sigma = reference.by_evidence(means, sigmas, first, rational)
        found = reference.in_order(start, others, tau)
        np.testing.assert_allclose(found, [float(mean[0]), float(sigma[0][0])], rtol=1e-12)


@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_threads_and_what_is_sent_change_no_bit(seed, n_shards, K, averaged, second_order):
    more = {"averaged": averaged, "second_order": second_order}
    base, shards, features = problem(seed, n_shards, K, **more)
    runs = runs_of(base, shards, features)
    sent = [run.moved(base) for run in runs]
    found = []
    for parts, threads in ((runs, 1), (runs, 3), (sent, 1), (sent, 2)):
        other = copied(base)
        shown = [(run.features, run.cells, float(run.since)) for run in parts]
        assert _core.merge_shards(other.core, shown, 16.0, threads)
        found.append((cells_of(other).tobytes(), _core.runs(other.core)[1]))
    assert len(set(found)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("second_order", [True, False])
@pytest.mark.parametrize("averaged", [True, False])
def test_it_agrees_with_sums_without_an_order(averaged, second_order, tau, dtype):
    more = {"averaged": averaged, "second_order": second_order, "dtype": dtype}
    base, shards, _ = problem(3, 4, 3, **more)
    shards = [table(np.random.default_rng(i), base.layout, 3, base) for i in range(4)]
    same = {"layout": base.layout, "initial_variance": 1.0, "n_columns": 3}
    same |= {"mistakes": [], "updates": 0}
    states = [MergeState.of_columns(one, Evidence(tau), start=base, **same) for one in shards]
    prior = MergeState.of_columns(base, Evidence(tau), **same)
    expected = MergeState.combined(states).merged(prior).weights
    found = merged_in_order(copied(base), runs_of(base, shards, [None] * 4), tau)
    ulp = np.finfo(dtype).eps
    np.testing.assert_allclose(cells_of(found), cells_of(expected), rtol=8 * ulp, atol=8 * ulp)
    assert found.state()["rounds"] == expected.state()["rounds"]


def test_a_shard_that_has_moved_nothing_adds_nothing():
    base, shards, features = problem(5, 3, 4)
    idle = Diagonal(base.layout, 4, 1.0)
    go_on_from(idle, base)
    none = np.zeros(0, np.int64)
    empty = ShardRuns(none, np.zeros((0, 8), np.float32), 0, 1.0)
    runs = runs_of(base, shards, features)
    others = [runs[0], ShardRuns.of(idle, base), runs[1], empty, runs[2]]
    found, same = (merged_in_order(copied(base), some, 4.0) for some in (runs, others))
    assert cells_of(found).tobytes() == cells_of(same).tobytes()
    alone = merged_in_order(copied(base), [ShardRuns.of(idle, base)], 4.0)
    assert cells_of(alone).tobytes() == cells_of(base).tobytes()


@pytest.mark.parametrize("K", [1, 2, 5])
def test_a_shard_goes_on_where_the_base_is(K):
    base, shards, features = problem(8, 2, K)
    for shard, own in zip(shards, features, strict=True):
        go_on_from(shard, base, own)
        expected = cells_of(base) if own is None else cells_of(base)[own]
        assert cells_of(shard).tobytes() == expected.tobytes()
        assert _core.runs(shard.core)[1] == _core.runs(base.core)[1]


def test_shards_of_other_scales_are_merged_in_one():
    """A rule that is free of scale multiplies means by 2^p and variances by 4^p."""
    base, *_ = problem(2, 0, 3, dtype="float64")
    shards = [table(np.random.default_rng(i), base.layout, 3, base) for i in range(2)]
    runs = runs_of(base, shards, [None, None])
    scaled = cells_of(shards[1]) * np.repeat([4.0, 16.0], 3)
    other = [runs[0], replace_cells(runs[1], scaled, 16.0)]
    found = merged_in_order(copied(base), other, 16.0)
    same = merged_in_order(copied(base), runs, 16.0)
    assert found.prior == 16.0
    assert (cells_of(found) == cells_of(same) * np.repeat([4.0, 16.0], 3)).all()
    with pytest.raises(ValueError, match="shards must have variances of a known scale"):
        merged_in_order(copied(base), [replace_cells(runs[0], scaled, 3.0)], 16.0)


def replace_cells(run, cells, prior):
    return run._replace(cells=cells, prior=prior)


def test_what_does_not_fit_is_refused():
    base, *_ = problem(0, 0, 2)
    cells = cells_of(base).copy()
    cells[0, 0] = np.finfo(np.float32).max
    shards = [ShardRuns(None, cells, 1, 1.0)] * 3
    cells[:, 2:] /= 2
    state = [ShardState(run, [0], 0, np.zeros(0, np.int64)) for run in shards]
    with pytest.raises(ValueError, match="merged weights must fit in float32, got an overflow"):
        merged_round(Started(base), state, Evidence(1e-6))
    wrong = ShardRuns(np.array([1, 0]), cells[:2], 1, 1.0)
    with pytest.raises(IndexError, match="features must ascend within the weights"):
        merged_in_order(copied(base), [wrong], 1.0)
    with pytest.raises(ValueError, match="runs do not fit the features"):
        merged_in_order(copied(base), [ShardRuns(None, cells[:2], 1, 1.0)], 1.0)


class Started:
    """A model that has made two mistakes in its first pass."""

    def __init__(self, weights):
        self.weights, self.mistakes, self.updates = weights, [2], 5


def test_in_rounds_evidence_counts_as_much_as_rows_are_long():
    base, shards, features = problem(1, 2, 3)
    runs = runs_of(base, shards, features)
    counts = np.ones(1, np.int64)
    entries = [Entries(10, 30), Entries(30, 90)]
    states = [
        ShardState(run, [1, 1], 4, counts, own) for run, own in zip(runs, entries, strict=True)
    ]
    found = merged_round(Started(copied(base)), states, Evidence(math.inf))
    assert (found.mistakes, found.updates, found.counts.tolist()) == ([2, 2, 2], 13, [2])
    by_three = merged_in_order(copied(base), runs, 3.0)
    assert cells_of(found.weights).tobytes() == cells_of(by_three).tobytes()
    dense = [replace(state, entries=None) for state in states]
    found = merged_round(Started(copied(base)), dense, Evidence(math.inf))
    average = merged_in_order(copied(base), runs, math.inf)
    assert cells_of(found.weights).tobytes() == cells_of(average).tobytes()
