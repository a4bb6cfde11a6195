"""Coded problems in one pass: every column learns as the two-class learner it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from driver import learn, make, method
from reference.rules import FIRST_ORDER
from surelearn import decode
from surelearn.rows import rows_of
from surelearn.weights import Layout, Targets, weights_of


def columns(n_features, code, name, **options):
    layout = Layout(
        n_features,
        intercept=True,
        second_order=name not in FIRST_ORDER,
        averaged=options.get("average", False),
        dtype=np.dtype(options.get("dtype", np.float64)).name,
    )
    return weights_of(layout, code.n_problems, 1.0)


def learn_coded(weights, rule, problem, code, *, projection="precision", known=None):
    kept = problem.sample_weight > 0
    known = np.ones(code.n_classes, np.uint8) if known is None else known
    targets = Targets(
        problem.y[kept].astype(np.int32),
        np.ascontiguousarray(problem.sample_weight[kept]),
        None,
        known,
        None,
        np.ascontiguousarray(code.matrix).ravel(),
    )
    done = np.zeros(3, np.uint64)
    rows = rows_of(np.ascontiguousarray(problem.X[kept]))
    how = method(rule, projection=projection)
    refused = weights.learn(how, rows, targets, span=(0, len(rows)), done=done)
    return refused, done.tolist()


def codes(n_classes):
    made = [decode.one_vs_rest(n_classes), decode.all_pairs(n_classes)]
    if n_classes > 2:
        made.append(decode.error_correcting(n_classes))
    return st.sampled_from(made)


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@given(
    problem=strategies.problems(max_classes=4),
    rule=strategies.rules(),
    average=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    data=st.data(),
)
def test_every_column_is_a_two_class_learner(problem, rule, average, dtype, data, projection):
    """All problems of a row in one go, or each alone over the rows it is for: the same weights."""
    code = data.draw(codes(problem.n_classes))
    options = {"average": average, "dtype": dtype}
    weights = columns(problem.X.shape[1], code, rule[0], **options)
    refused, _ = learn_coded(weights, rule, problem, code, projection=projection)
    if refused:
        return
    for b, column in enumerate(code.matrix.T):
        own = column[problem.y] != 0
        alone = make(problem.X.shape[1], 2, rule[0], **options)
        rows = problem.X[own], (column[problem.y[own]] > 0).astype(int)
        weight = problem.sample_weight[own]
        if own.any():
            assert not learn(alone, rule, *rows, weight=weight, projection=projection).refused
        if (average and own.all()) or not average:
            np.testing.assert_allclose(weights.means[b], alone.means[0], rtol=1e-5, atol=1e-9)
        if rule[0] not in FIRST_ORDER:
            np.testing.assert_allclose(weights.variances[b], alone.variances[0], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_averages_are_those_of_the_numbers_kept(dtype):
    """To the bit: what is added to an average is the change of the mean after it was rounded."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.integers(0, 7, 200)
    code = decode.one_vs_rest(7)  # four columns at once, and three one by one
    options = {"average": True, "dtype": dtype}
    weights = columns(6, code, "perceptron", **options)
    problem = strategies.Problem(X, y, 7, np.ones(200))
    assert not learn_coded(weights, ("perceptron", {}), problem, code)[0]
    for b in range(7):
        alone = make(6, 2, "perceptron", **options)
        learn(alone, ("perceptron", {}), X, (y == b).astype(int))
        np.testing.assert_array_equal(
            weights.state()["cells"][:, [b, 7 + b]], alone.state()["cells"]
        )


@pytest.mark.parametrize("n_classes", [3, 7])
@pytest.mark.parametrize("average", [False, True])
def test_a_refused_row_moves_no_column(average, n_classes):
    """The means of one problem would overflow: the others are put back with them."""
    code = decode.one_vs_rest(n_classes)
    blank = columns(2, code, "perceptron", dtype=np.float32, average=average)
    cells = np.zeros((2, n_classes * (1 + average)), np.float32)
    cells[:, 1] = [3.3e38, -3.3e38]
    state = blank.state() | {"features": np.arange(2), "cells": cells}
    weights = type(blank).from_state(state)
    row = strategies.Problem(np.array([[1e38, 2e38]]), np.array([1]), n_classes, np.ones(1))
    refused, done = learn_coded(weights, ("perceptron", {}), row, code)
    assert refused
    assert done == [0, 0, 0]
    np.testing.assert_array_equal(weights.state()["cells"], cells)
    # Without that problem's past the same row is learnt.
    assert not learn_coded(blank, ("perceptron", {}), row, code)[0]


def test_problems_wait_until_both_their_sides_are_known():
    code = decode.all_pairs(3)  # columns 0-1, 0-2, 1-2
    weights = columns(2, code, "arow")
    known = np.array([1, 1, 0], np.uint8)
    rows = strategies.Problem(np.eye(2), np.array([0, 1]), 3, np.ones(2))
    learn_coded(weights, ("arow", {"r": 1.0}), rows, code, known=known)
    assert (np.abs(weights.means).sum(axis=1) > 0).tolist() == [True, False, False]
    third = strategies.Problem(np.eye(2)[:1], np.array([2]), 3, np.ones(1))
    learn_coded(weights, ("arow", {"r": 1.0}), third, code, known=known)
    assert known.tolist() == [1, 1, 1]
    assert (np.abs(weights.means).sum(axis=1) > 0).tolist() == [True, True, True]


def test_mistakes_are_those_of_the_summed_scores():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    code = decode.one_vs_rest(3)
    weights = columns(4, code, "arow")
    wrong = 0
    for x, label in zip(X, y, strict=True):
        s = weights.scores(rows_of(x[None]))[0]
        scores = s @ code.matrix.T
        wrong += not scores[label] > np.delete(scores, label).max()
        one = strategies.Problem(x[None], np.array([label]), 3, np.ones(1))
        _, done = learn_coded(weights, ("arow", {"r": 1.0}), one, code)
        wrong -= done[1]
    assert wrong == 0
