"""Updates without checks, while bounds on all weights show that none can fail: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from driver import learn, make
from reference.rules import FIRST_ORDER
from surelearn.weights import Diagonal

#: From here on, tables are large enough that weights are prefetched.
MANY = 1 << 17
MOST = float(np.finfo(np.float32).max)


def some_rows(seed, n_features, *, unit=False, dtype=np.float32, index=np.int32, powers=(0,)):
    """Sorted rows of up to 40 entries, one of them empty, each of some order of magnitude."""
    random = np.random.default_rng(seed)
    lengths = np.append(random.integers(1, min(40, n_features) + 1, 60), 0)
    start = np.append(0, np.cumsum(lengths))
    columns = [np.sort(random.choice(n_features, n, replace=False)) for n in lengths]
    value = random.normal(size=start[-1]) * np.repeat(10.0 ** random.choice(powers, 61), lengths)
    X = sparse.csr_matrix((value.astype(dtype), np.concatenate(columns), start))
    X.resize(61, n_features)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    if unit:
        X.data[:] = 1.0
    return X, random.integers(0, 4, 61), random.permutation(61)


def numbers(weights):
    """Means and variances, without the sums for averaging."""
    return [np.array(weights.core.part(part)).tobytes() for part in (0, 1)]


def agree(rule, X, y, order, *, n_classes=2, dtype="float32", **how):
    """Weights with sums for averaging are always checked; their other numbers are the same."""
    learnt = []
    for average in (False, True):
        weights = make(X.shape[1], n_classes, rule[0], average=average, dtype=dtype)
        for _ in range(2):
            done = learn(weights, rule, X, y % n_classes, n_classes=n_classes, order=order, **how)
        learnt.append((done.refused, done.rows, done.mistakes, done.updates, numbers(weights)))
    assert learnt[0] == learnt[1]


# Without Stdev, whose weights are rescaled: the sums for averaging count there.
second_order = strategies.rules().filter(lambda rule: rule[0] not in {*FIRST_ORDER, "stdev"})


@given(
    rule=second_order,
    seed=st.integers(0, 999),
    n_features=st.integers(1, 90),
    n_classes=st.sampled_from([2, 2, 3, 4]),
    form=st.fixed_dictionaries(
        {
            "unit": st.booleans(),
            "dtype": st.sampled_from([np.float32, np.float64]),
            "index": st.sampled_from([np.int32, np.int64]),
            "powers": st.sampled_from([(0,), (-3, 0, 3), (0, 0, 12), (0, 17)]),
        }
    ),
    dtype=st.sampled_from(["float32", "float64"]),
    projection=st.sampled_from(["precision", "covariance"]),
)
def test_bits_do_not_depend_on_the_checks(
    rule, seed, n_features, n_classes, form, dtype, projection
):
    X, y, order = some_rows(seed, n_features, **form)
    agree(rule, X, y, order, n_classes=n_classes, dtype=dtype, projection=projection)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("shuffled", [False, True])
def test_bits_do_not_depend_on_the_checks_of_large_tables(unit, n_classes, shuffled):
    X, y, order = some_rows(7, MANY, unit=unit)
    for rule in (("probit", {"noise": 1.0}), ("variance", {"phi": 0.5})):
        agree(rule, X, y, order if shuffled else None, n_classes=n_classes)


def extreme(n_features=3, n_classes=2):
    """Weights whose next step on their row overflows the mean of feature 0."""
    weights = make(n_features, n_classes, "sop", dtype="float32", fit_intercept=False)
    state = weights.state()
    run = np.zeros((3, state["cells"].shape[1]), np.float32)
    run[:, 0] = MOST, -MOST, -1e37
    half = run.shape[1] // 2
    run[:, 1:half] = -run[:, :1] / 1e3
    run[:, half:] = 1.0
    return Diagonal.from_state(state | {"features": np.arange(3), "cells": run})


def refuses(weights, n_classes=2):
    before = numbers(weights)
    X = sparse.csr_matrix(np.ones((1, weights.layout.n_features), np.float32))
    y = np.array([1 if n_classes == 2 else 0])
    assert learn(weights, ("sop", {}), X, y, n_classes=n_classes).refused
    assert numbers(weights) == before


CHANGES = {
    "loaded": lambda weights: weights,
    "more features": lambda weights: weights.with_features(np.array([0, 1, 2, -1])),
    "other columns": lambda weights: weights.with_columns(range(weights.n_columns)),
    "mirrored": lambda weights: weights.mirrored().with_columns([1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_weights_are_measured(change):
    refuses(CHANGES[change](extreme()))


def test_more_classes_are_measured():
    refuses(extreme(n_classes=3), 3)
    refuses(extreme(n_classes=3).with_columns([0, 1, 2, -1]), 4)
