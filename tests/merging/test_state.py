"""Merging: agreement with the fractions of the reference, and the laws of promise 6."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver import grouped
from merged import shards
from reference import merge as reference
from surelearn import SureClassifier, merge, rules
from surelearn.learners.tasks.rows import RowModel
from surelearn.merging import HOWS, Evidence, MergeState
from surelearn.weights import Diagonal, Layout

GAUSSIAN = ("bayes", "weighted", "kl", "evidence", Evidence(math.inf))


def learnt(model):
    """Everything that counts of a model, to the bit."""
    inner = model._model
    state = None if inner.weights is None else inner.weights.state()
    arrays = {} if state is None else {k: v for k, v in state.items() if k != "layout"}
    return (
        inner.classes.tolist(),
        inner.counts.tolist(),
        inner.mistakes,
        inner.updates,
        {k: (v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for k, v in arrays.items()},
    )


def gaussian(model):
    """All means as one vector and their covariance, column after column, as fractions."""
    weights = model._model.weights
    means = weights.state()["means"][0] if weights.arrays[0] == "means" else weights._own_means()
    sigma = reference.exact(np.asarray(weights.variances, float).tolist())
    if weights.arrays[0] != "means":
        sigma = reference.diagonal([x for column in sigma for x in column])
    return reference.exact(np.asarray(means, float).ravel().tolist()), sigma


def close(found, expected, dtype, scale=None):
    expected = np.array(expected, float)
    tolerance = 3e-7 if dtype == "float32" else 1e-11
    largest = np.abs(expected).max() if scale is None else scale
    np.testing.assert_allclose(np.array(found, float), expected, rtol=0, atol=tolerance * largest)


TAUS = [1.0, 16.0, 1e6, math.inf]


def expected(means, sigmas, how, prior):
    """What the reference merges models to, by any way."""
    if how == "evidence":
        how = Evidence()
    if not isinstance(how, Evidence):
        return reference.merged(means, sigmas, how, prior)
    tau = None if how.tau == math.inf else Fraction(how.tau)
    return reference.by_evidence(means, sigmas, prior, tau)


@pytest.mark.parametrize("how", [*HOWS, *map(Evidence, TAUS)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_merging_agrees_with_the_reference(covariance, K, dtype, how):
    n_features = 2 if covariance == "full" else 4
    models = shards(
        3, K=K, n_features=n_features, covariance=covariance, dtype=dtype, initial_variance=0.7
    )
    means, sigmas = zip(*map(gaussian, models), strict=True)
    n = len(means[0])
    prior = [Fraction(0)] * n, reference.diagonal([Fraction(float(np.dtype(dtype).type(0.7)))] * n)
    if covariance == "full" and how not in HOWS[1:]:
        how = "bayes"  # what every tau comes to
    mean, sigma = expected(list(means), list(sigmas), how, prior)
    found, spread = gaussian(merge(models, how))
    close(found, mean, dtype)
    close(spread, sigma, dtype)


@pytest.mark.parametrize("name", list(rules.RULES))
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
def test_every_rule_is_merged_and_goes_on_learning(name, average, multiclass):
    first_order = rules.get(name).first_order
    models = shards(3, K=3, rule=name, average=average, multiclass=multiclass)
    for how in ("uniform",) if first_order else HOWS:
        one = merge(models, how)
        assert one._model.counts.tolist() == sum(m._model.counts for m in models).tolist()
        assert one.n_updates_ == sum(model.n_updates_ for model in models)
        assert one.mistakes_.tolist() == [sum(int(model.mistakes_[0]) for model in models)]
        assert one.coef_.shape == models[0].coef_.shape
        before = one.coef_.copy()
        one.partial_fit(-models[0].coef_, [0, 1, 2])
        assert not np.array_equal(before, one.coef_)


@given(
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.sampled_from(["diagonal", "full"]),
    st.sampled_from(HOWS),
    st.sampled_from(["float32", "float64"]),
    st.booleans(),
    st.data(),
)
def test_order_and_grouping_change_no_bit(n, seed, covariance, how, dtype, average, data):
    params = {"covariance": covariance, "dtype": dtype, "average": average}
    models = [shards(1, K=2 + (seed + i) % 2, seed=seed + i, **params)[0] for i in range(n)]
    states = [MergeState.of(model._model, how) for model in models]
    once = reduce(add, states).result()
    other = grouped(data.draw(st.permutations(states)), data.draw).result()
    assert once.classes.tolist() == other.classes.tolist()
    assert once.counts.tolist() == other.counts.tolist()
    assert (once.mistakes, once.updates) == (other.mistakes, other.updates)
    assert pickle.dumps(once.weights.state()) == pickle.dumps(other.weights.state())
    assert learnt(merge(models, how)) == learnt(merge(models[::-1], how))


def wild(random, n_features=6, dtype="float32"):
    """A model with numbers of all sizes, as no rows would make it."""
    layout = Layout(n_features, intercept=False, second_order=True, averaged=False, dtype=dtype)
    kept = np.sort(
        random.choice(n_features, size=random.integers(1, n_features + 1), replace=False)
    )
    mu = random.normal(size=len(kept)) * 10.0 ** random.uniform(-20, 20, len(kept))
    sigma = 10.0 ** random.uniform(-30, 0, len(kept))
    state = {
        "layout": vars(layout),
        "n_columns": 1,
        "prior": 1.0,
        "rounds": 3,
        "features": kept.astype(np.int64),
        "cells": np.stack([mu, sigma], axis=1).astype(dtype),
    }
    return RowModel(layout, 1.0, "precision", np.array(["a", "b"]), Diagonal.from_state(state),
                 np.array([1, 2]), [1], 3)  # fmt: skip


@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from(GAUSSIAN), st.data())
def test_order_and_grouping_change_no_bit_of_wild_weights(n, seed, how, data):
    random = np.random.default_rng(seed)
    states = [MergeState.of(wild(random), how) for _ in range(n)]
    once = reduce(add, states).result()
    other = grouped(data.draw(st.permutations(states)), data.draw).result()
    assert pickle.dumps(once.weights.state()) == pickle.dumps(other.weights.state())


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("params", [{}, {"dtype": "float64"}, {"covariance": "full"},
                                    {"average": True, "rule": "stdev"}, {"multiclass": "ovo"},
                                    {"covariance": "full", "average": True}])  # fmt: skip
@pytest.mark.parametrize("K", [2, 3])
def test_one_model_merged_is_itself(K, params, how, tmp_path):
    [model] = shards(1, K=K, **params)
    same = merge([model], how)
    assert same is not model
    assert learnt(same) == learnt(model)
    model.save(tmp_path / "a.sure")
    same.save(tmp_path / "b.sure")
    assert (tmp_path / "a.sure").read_bytes() == (tmp_path / "b.sure").read_bytes()


def untrained(model):
    """Every way to have learnt nothing."""
    n, params = model.n_features_in_, model.get_params()
    unseen, one_class, no_rows = (SureClassifier(**params) for _ in range(3))
    one_class.partial_fit(np.ones((1, n)), [1])
    no_rows.partial_fit(np.ones((2, n)), [0, 1], classes=model.classes_, sample_weight=[0, 0])
    return [unseen, one_class, no_rows]


@pytest.mark.parametrize("how", ["evidence", "bayes"])
@given(
    seed=st.integers(0, 10**6),
    covariance=st.sampled_from(["diagonal", "full"]),
    dtype=st.sampled_from(["float32", "float64"]),
    K=st.integers(2, 3),
    n=st.integers(1, 3),
)
def test_an_untrained_model_adds_nothing(how, seed, covariance, dtype, K, n):
    models = shards(n, K=K, seed=seed, covariance=covariance, dtype=dtype)
    alone = merge(models, how)
    for nothing in untrained(models[0]):
        together = merge([nothing, *models], how)
        assert together.coef_.tobytes() == alone.coef_.tobytes()
        assert together.intercept_.tobytes() == alone.intercept_.tobytes()
        assert together.sigma_.tobytes() == alone.sigma_.tobytes()


def test_an_untrained_model_counts_where_priors_are_counted():
    models = shards(2)
    three = merge([*models, SureClassifier(**models[0].get_params())], "kl")
    expected = 3 / (1 / models[0].sigma_ + 1 / models[1].sigma_ + 1)
    np.testing.assert_allclose(three.sigma_, expected, rtol=1e-6)
    np.testing.assert_allclose(
        merge([*models, SureClassifier(**models[0].get_params())], "uniform").coef_,
        (models[0].coef_ + models[1].coef_) / 3,
        rtol=1e-6,
    )


@given(st.integers(0, 10**6), st.sampled_from(["bayes", "weighted"]), st.integers(2, 3))
def test_merging_merged_models_agrees_to_two_ulp(seed, how, K):
    models = shards(5, K=K, seed=seed, n_features=6)
    once = merge(models, how)
    twice = merge([merge(models[:2], how), merge(models[2:], how)], how)
    spacing = np.spacing(once.sigma_)
    assert (np.abs(twice.sigma_ - once.sigma_) <= 2 * spacing).all()
    # A mean may be a small difference of large ones: two ulp of the largest that went into it.
    halves = [np.abs(merge(part, how).coef_) for part in (models[:2], models[2:])]
    largest = np.maximum(np.abs(once.coef_), np.maximum(*halves))
    assert (np.abs(twice.coef_ - once.coef_) <= 2 * np.spacing(largest)).all()


def test_mistakes_are_added_pass_by_pass():
    short, long = shards(2)[0], shards(2, passes=3)[1]
    added = [int(short.mistakes_[0] + long.mistakes_[0]), *long.mistakes_[1:].tolist()]
    assert merge([short, long]).mistakes_.tolist() == added
    assert merge([long, short]).mistakes_.tolist() == added


def test_weighted_counts_the_prior_of_features_that_nobody_met():
    """As printed: with n models a weight that none has moved has a variance of a / n."""
    rows, labels = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0, 1]
    models = [SureClassifier(initial_variance=0.5, scale=False).fit(rows, labels) for _ in range(3)]
    sigma = {how: merge(models, how).sigma_[0, 2] for how in HOWS}
    third = np.float32(0.5 / 3)
    assert sigma == {"evidence": 0.5, "bayes": 0.5, "weighted": third, "kl": 0.5, "uniform": 0.5}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", HOWS)
def test_variances_far_below_the_prior_stay_positive(how, dtype):
    """1 - 1e-18 is 1: of the sum of such differences to the prior nothing is left."""
    rows = np.array([[0.0, 1e9, 0.0], [0.0, -1e9, 1.0]])
    model = SureClassifier("arow", projection="precision", dtype=dtype, scale=False).partial_fit(
        rows, [0, 1]
    )
    assert 0 < model.sigma_[0, 1] < 1e-17
    merged = merge([model, model], how)
    assert (merged.sigma_ > 0).all()
    assert np.isfinite(merged.explain().probability).all()


def test_a_merged_model_goes_on_where_its_only_part_was():
    [model] = shards(1, average=True)
    same = merge([model])
    X, y = np.eye(4), [0, 1, 0, 1]
    assert learnt(same.partial_fit(X, y)) == learnt(model.partial_fit(X, y))


@pytest.mark.parametrize("how", HOWS[1:])
def test_averages_are_merged_as_means_are(how):
    models = shards(3, K=3, average=True, dtype="float64")
    one = merge(models, how)
    assert one._model.weights.state()["rounds"] == 45
    means, sigmas = [m.coef_ for m in models], [m.sigma_ for m in models]
    weight = [np.ones_like(means[0])] * 3 if how == "uniform" else [1 / s for s in sigmas]
    total = sum(weight) - (2 if how == "bayes" else 0)
    expected = sum(w * mean for w, mean in zip(weight, means, strict=True)) / total
    np.testing.assert_allclose(one.coef_, expected, rtol=1e-12)
    plain = [part.set_params(average=False) for part in shards(3, K=3, dtype="float64")]
    np.testing.assert_allclose(
        one._model.weights._own_means()[:, :-1], merge(plain, how).coef_, rtol=1e-12
    )


def test_averages_of_the_updates_since_the_start_are_merged_as_means_are():
    """By hand: (R + 1) / R of an average, which counts the untrained weights, is that of R."""
    models = shards(3, K=3, average=True, dtype="float64")
    one = merge(models)
    assert one._model.weights.state()["rounds"] == 45
    growth = [1 / m.sigma_ - 1 for m in models]
    means = [m.coef_ * 16 / 15 for m in models]
    D, G = sum(means), sum(growth)
    X = sum(g * mean for g, mean in zip(growth, means, strict=True))
    np.testing.assert_allclose(one.coef_, (D + 16 * X) / (1 + 16 * G) * 45 / 46, rtol=1e-12)


# --------------------------------------------------------------------- the state


def test_a_state_can_be_pickled_and_is_small():
    models = shards(64, n_features=500)
    states = [MergeState.of(model._model) for model in models]
    leaf = len(pickle.dumps(states[0]))
    assert leaf < len(pickle.dumps(models[0]._model)) + 2000
    total = MergeState.combined(states)
    back = pickle.loads(pickle.dumps(total))
    assert len(pickle.dumps(total)) < 8 * leaf
    assert pickle.dumps(back.result().weights.state()) == pickle.dumps(
        total.result().weights.state()
    )
    more = reduce(add, [*states, *states, *states])
    assert len(pickle.dumps(more)) < len(pickle.dumps(total)) + 100


def test_more_models_than_a_state_has_room_for_are_refused():
    [model] = shards(1)
    state = MergeState.of(model._model)
    object.__setattr__(state, "n_models", 2**22 - 1)
    with pytest.raises(ValueError, match="number of models must be in"):
        state + state


# ----------------------------------------------------------------------- the rest


def test_variances_that_have_no_smaller_ones_stay_positive():
    random = np.random.default_rng(0)
    models = [wild(random, n_features=1) for _ in range(2)]
    for model in models:
        state = model.weights.state()
        state["cells"][:, 1] = 1e-45
        model.weights = Diagonal.from_state(state)
    found = reduce(add, [MergeState.of(model) for model in models]).result()
    assert found.weights.variances.ravel().tolist() == [np.float32(1e-45)]


def test_weights_that_overflow_are_refused():
    models = [wild(np.random.default_rng(0), n_features=1) for _ in range(3)]
    for model in models:
        state = model.weights.state()
        state["cells"][:] = [[3e38, 0.999999]]
        model.weights = Diagonal.from_state(state)
    state = reduce(add, [MergeState.of(model) for model in models])
    with pytest.raises(ValueError, match="merged weights must fit in float32"):
        state.result()
    tiny = wild(np.random.default_rng(0), n_features=1, dtype="float64")
    state = tiny.weights.state()
    state["cells"][:] = [[1.0, 1e-310]]
    tiny.weights = Diagonal.from_state(state)
    with pytest.raises(ValueError, match="whose inverse fits in float64"):
        MergeState.of(tiny) + MergeState.of(tiny)


def test_a_spoilt_covariance_is_refused():
    models = shards(2, covariance="full", n_features=2)
    state = models[0]._model.weights.state()
    state["sigma"][0, 1] = state["sigma"][1, 0] = 5.0
    models[0]._model.weights = type(models[0]._model.weights).from_state(state)
    with pytest.raises(ValueError, match="positive definite covariances"):
        merge(models)
    assert merge(models, "uniform").sigma_.shape == (3, 3)


def test_a_temperature_stays_with_the_variances_it_belongs_to():
    a, b = shards(2)
    a.calibrate(np.eye(4), [0, 1, 0, 1])
    assert merge([a]).temperature_ == a.temperature_
    assert merge([SureClassifier(**a.get_params()), a]).temperature_ == a.temperature_
    assert not hasattr(merge([SureClassifier(**a.get_params()), a], "kl"), "temperature_")
    assert not hasattr(merge([a, b]), "temperature_")


def test_no_states_are_refused():
    with pytest.raises(ValueError, match=r"^states must have at least one state, got none\.$"):
        MergeState.combined([])
