"""Passes over rows, and batches with new classes, make a new model."""

from __future__ import annotations

import numpy as np

import kernelled
from surelearn import SureKernelClassifier
from surelearn.dual import KernelRows
from surelearn.learners.tasks.kernel import KernelSettings, KernelTraining, absorbed
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.read import Labels

X, Y = kernelled.rows(n=60, n_classes=3)


def settings(**params):
    return KernelSettings.of(SureKernelClassifier(**params).get_params(deep=False))


def block(X, y, weight=None, numbers=None):
    return RowBlock(KernelRows(X, numbers), Labels.of(y), weight, X, numbers)


def test_a_pass_is_counted_and_leaves_the_model():
    how = settings(multiclass="ovo")
    start = how.untrained(KernelRows(X)).with_classes(np.arange(3))
    training = KernelTraining(start, how, block(X, Y))
    told = []
    training.learn_pass(None, told.append)
    training.learn_pass(np.arange(60)[::-1], None)
    model = training.result()
    assert start.weights.n_points == 0
    assert start.counts.tolist() == [0, 0, 0]
    assert model.counts.tolist() == np.bincount(Y).tolist()
    assert len(model.mistakes) == 2
    assert told[0].rows == 60
    assert told[0].mistakes == model.mistakes[0]
    assert 0 < told[0].updates <= model.updates


def test_mistakes_are_those_of_predict_before_each_row():
    how = settings()
    start = how.untrained(KernelRows(X)).with_classes(np.arange(3))
    model, wrong = start, 0
    for i in range(60):
        scores = model.weights.scores(KernelRows(X[i : i + 1]))[0]
        wrong += not scores[Y[i]] > np.delete(scores, Y[i]).max()
        model = absorbed(model, how, block(X[i : i + 1], Y[i : i + 1]))
    assert absorbed(start, how, block(X, Y)).mistakes == model.mistakes == [wrong]


def test_support_rows_are_numbered_as_the_user_does():
    how = settings()
    start = how.untrained(KernelRows(X)).with_classes(np.arange(3))
    training = KernelTraining(start, how, block(X[::2], Y[::2], numbers=np.arange(60)[::2]))
    training.learn()
    support = training.result().support
    assert len(support) > 5
    assert not (support % 2).any()


def test_rows_of_a_single_class_are_only_counted():
    how = settings()
    start = how.untrained(KernelRows(X))
    model = absorbed(start, how, block(X[:4], np.zeros(4, int)))
    assert model.weights is None
    assert model.counts.tolist() == [4]
    assert model.mistakes == [0]
