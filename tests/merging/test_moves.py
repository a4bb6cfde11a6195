"""Models that went on from one: what each has moved since is merged, the start is counted once."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver import grouped
from merged import shards
from merging.test_state import TAUS, close, expected, gaussian, wild
from reference import merge as reference
from surelearn.merging import Evidence, MergeState
from surelearn.merging._exact import ExactSums
from surelearn.merging._learnt import ModelSum, Move
from surelearn.merging._moves import DiagonalMoves, FewMoves
from surelearn.weights import Layout


def gone_on(start, seed, n_rows=10):
    """A model that has learnt some rows more than another one."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, start.n_features_in_))
    labels = random.integers(0, len(start.classes_), n_rows)
    later = pickle.loads(pickle.dumps(start))
    return later.partial_fit(rows, labels) if n_rows else later


@pytest.mark.parametrize("how", ["bayes", *map(Evidence, TAUS)], ids=str)
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_common_start_is_counted_once(K, covariance, how):
    """Shards that went on from one model: the reference with that model as the prior."""
    params = {"covariance": covariance, "dtype": "float64", "average": True, "n_features": 2}
    [start] = shards(1, K=K, **params)
    further = [gone_on(start, seed) for seed in range(3)]
    state = MergeState.combined(
        MergeState.of(model._model, how, start=start._model) for model in further
    )
    found = state.result(prior=MergeState.of(start._model, how))
    means, sigmas = zip(*map(gaussian, further), strict=True)
    how = "bayes" if covariance == "full" else how
    mean, sigma = expected(list(means), list(sigmas), how, gaussian(start))
    close(found.weights.state()["means"][0] if covariance == "full" else
          found.weights._own_means().ravel(), mean, "float64")  # fmt: skip
    spread = found.weights.variances
    close(spread if covariance == "full" else np.diag(spread.ravel()), sigma, "float64")
    assert found.weights.state()["rounds"] == found.counts.sum() == 15 + 3 * 10
    assert found.updates == sum(m.n_updates_ for m in further) - 2 * start.n_updates_
    assert found.mistakes == [int(sum(m.mistakes_[0] for m in further) - 2 * start.mistakes_[0])]
    close(found.weights.means.ravel(), average_of(start, further, how), "float64")


def average_of(start, further, how):
    """Averaged means by hand. By evidence those of the updates since the start are merged."""
    _, sigmas = zip(*map(gaussian, further), strict=True)
    (own, spread), first = gaussian(start), averaged(start)
    if how == "bayes":
        averages = [averaged(model) for model in further]
        return reference.merged(averages, list(sigmas), how, (first, spread))[0]
    since = [
        [(26 * late - 16 * early) / 10 for late, early in zip(averaged(model), first, strict=True)]
        for model in further
    ]
    merged, _ = expected(since, list(sigmas), how, (own, spread))
    return [(16 * early + 30 * late) / 46 for early, late in zip(first, merged, strict=True)]


def averaged(model):
    return reference.exact(model._model.weights.means.ravel().tolist())


def test_states_of_another_start_are_not_mixed():
    start, other = shards(2)
    later = gone_on(start, 0)
    state = MergeState.of(later._model, start=start._model)
    said = "models must be merged from the start that their states were made with"
    with pytest.raises(ValueError, match=said):
        state + MergeState.of(other._model)
    with pytest.raises(ValueError, match=said):
        state.result()
    with pytest.raises(ValueError, match=said):
        MergeState.of(later._model).result(MergeState.of(start._model))


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans(), st.sampled_from(TAUS), st.data())
def test_order_and_grouping_change_no_bit_from_a_start(seed, n, average, tau, data):
    """Classes that come later too, and models that learnt nothing more."""
    params = {"average": average, "dtype": "float64" if seed % 2 else "float32"}
    [start] = shards(1, seed=seed, K=2 + seed % 3 // 2, **params)
    further = [gone_on(start, seed + i, n_rows=5 * (i % 3)) for i in range(n)]
    for model in further[::2]:
        model.partial_fit(np.eye(4), [0, 1, 7, 8])
    states = [MergeState.of(model._model, Evidence(tau), start=start._model) for model in further]
    prior = MergeState.of(start._model, Evidence(tau))
    once = reduce(add, states).result(prior)
    other = grouped(data.draw(st.permutations(states)), data.draw).result(prior)
    assert once.classes.tolist() == other.classes.tolist()
    assert pickle.dumps(once.weights.state()) == pickle.dumps(other.weights.state())
    if n == 1:
        assert pickle.dumps(once.weights.state()) == pickle.dumps(further[0]._model.weights.state())


@pytest.mark.parametrize("params", [{"K": 2}, {"K": 3, "average": True}], ids=str)
@pytest.mark.parametrize("rule", ["arow", "pa1"])
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from(TAUS))
def test_a_few_models_are_merged_to_the_bits_of_their_sums(rule, params, seed, n, tau):
    """Feature by feature, or as arrays of digits; from an untrained start and a trained one."""
    [start] = shards(1, seed=seed, rule=rule, **params)
    further = [gone_on(start, seed + i, n_rows=6 * (i % 3)) for i in range(n)]
    for begun in (None, start._model):
        prior = None if begun is None else MergeState.of(begun, Evidence(tau))
        total = MergeState.combined(
            MergeState.of(model._model, Evidence(tau), start=begun) for model in further
        )
        if not isinstance(total.trained, ModelSum):
            continue
        assert isinstance(total.trained.sums, FewMoves)
        summed = replace(total.trained, sums=total.trained.sums.summed())
        digits = replace(total, trained=summed).merged(prior)
        for threads in (1, 3):
            found = total.merged(prior, threads=threads)
            assert pickle.dumps(found.weights.state()) == pickle.dumps(digits.weights.state())


def test_many_features_are_merged_to_the_same_bits_in_threads():
    """So many that threads are worth it, each with a stretch of its own."""
    random = np.random.default_rng(0)
    models = [wild(random, n_features=1 << 17) for _ in range(3)]
    total = MergeState.combined(MergeState.of(model) for model in models)
    assert len(total.trained.sums.models) == 3
    one, three = (total.merged(threads=threads).weights.state() for threads in (1, 3))
    assert pickle.dumps(one) == pickle.dumps(three)
    summed = replace(total.trained, sums=total.trained.sums.summed(threads=2))
    digits = replace(total, trained=summed).merged(threads=2).weights.state()
    assert pickle.dumps(one) == pickle.dumps(digits)


def test_more_than_a_few_models_are_kept_as_sums():
    models = shards(9)
    states = [MergeState.of(model._model) for model in models]
    few, many = MergeState.combined(states[:4]), MergeState.combined(states)
    assert isinstance(few.trained.sums, FewMoves)
    assert isinstance(many.trained.sums, DiagonalMoves)
    assert isinstance((few + few).trained.sums, DiagonalMoves)
    doubles = [MergeState.of(model._model) for model in shards(2, dtype="float64")]
    assert isinstance(MergeState.combined(doubles).trained.sums, DiagonalMoves)


@pytest.mark.parametrize("damage", ["features", "cells", "start"])
def test_states_that_do_not_fit_the_weights_are_refused(damage):
    [start] = shards(1)
    total = MergeState.combined(
        MergeState.of(gone_on(start, seed)._model, start=start._model) for seed in range(2)
    )
    moved = total.trained.sums.models[0]
    spoilt = {
        "features": moved._replace(state={**moved.state, "features": moved.state["features"] + 99}),
        "cells": moved._replace(state={**moved.state, "cells": moved.state["cells"][1:]}),
        "start": moved._replace(start={**moved.start, "cells": moved.start["cells"][1:]}),
    }[damage]
    sums = FewMoves((spoilt, total.trained.sums.models[1]))
    spoilt_total = replace(total, trained=replace(total.trained, sums=sums))
    with pytest.raises((ValueError, IndexError), match=r"out of range|do not fit"):
        spoilt_total.result(prior=MergeState.of(start._model))


def test_shards_that_learnt_nothing_more_come_to_their_start():
    [start] = shards(1, K=3)
    prior = MergeState.of(start._model)
    state = MergeState.of(start._model, start=start._model)
    found = (state + state + state).result(prior=prior)
    assert pickle.dumps(found.weights.state()) == pickle.dumps(start._model.weights.state())
    state = MergeState.of(start._model, "bayes")
    found = (state + state + state).result(prior=state)
    assert found.counts.tolist() == start._model.counts.tolist()
    np.testing.assert_array_max_ulp(found.weights.means, start._model.weights.means, 1)
    np.testing.assert_array_max_ulp(found.weights.variances, start._model.weights.variances, 1)


def test_a_prior_that_is_surer_than_the_models_is_refused():
    models = shards(2)
    states = [MergeState.of(model._model, "bayes") for model in models]
    [surer] = shards(1, passes=50)
    with pytest.raises(ValueError, match="models must be surer of every weight than their prior"):
        (states[0] + states[1]).result(prior=MergeState.of(surer._model, "bayes"))
    with pytest.raises(ValueError, match="start must be the model that all others went on from"):
        MergeState.of(models[0]._model, start=surer._model)


def test_a_state_is_not_changed_by_what_is_added_to_it():
    [start] = shards(1)
    further = [gone_on(start, seed) for seed in range(3)]
    states = [MergeState.of(model._model, start=start._model) for model in further]
    pair = states[0] + states[1]
    before = pickle.dumps(pair)
    pair + states[2]
    pair.result(prior=MergeState.of(start._model))
    assert pickle.dumps(pair) == before


@pytest.mark.parametrize("second_order", [True, False])
def test_under_other_columns_all_sums_take_the_sign_but_those_of_variances(second_order):
    """The sums are D, X, G; without variances D and those of averaged means."""
    numbers = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    sums = ExactSums.of(numbers, 3)
    moves = DiagonalMoves(np.array([0, 7]), sums, np.array([1, 2], np.int32), 1)
    layout = Layout(8, False, second_order, True, "float64", "diagonal")
    found = moves.moved(Move([0, 0, -1], [-1, 1, 1], False), layout)
    assert found.places.tolist() == [0, 1, 21, 22]
    assert found.counts.tolist() == [1, 1, 2, 2]
    assert found.n_columns == 3
    flipped = numbers * [-1.0, -1.0, 1.0 if second_order else -1.0]
    expected = [flipped[0], numbers[0], flipped[1], numbers[1]]
    np.testing.assert_array_equal(found.sums.values(), expected)


def test_the_room_for_the_moves_of_both_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr("surelearn.merging._moves.check_memory", lambda *of: asked.append(of))
    counts = np.ones(2, np.int32)
    one, other = (
        DiagonalMoves(np.array(places), ExactSums.zeros((2, 3), 2), counts, 1)
        for places in ([0, 1], [1, 4])
    )
    assert one.plus(other).places.tolist() == [0, 1, 4]
    ((n_sums, n_digits, more),) = asked
    assert (n_sums, n_digits) == (4 * 3, 2)
    assert more == 4 * (8 + 4)
