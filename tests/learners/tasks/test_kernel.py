"""The state of a kernel classifier as classes come."""

from __future__ import annotations

import numpy as np
import pytest

import kernelled
from surelearn import SureKernelClassifier
from surelearn.dual import KernelRows

X, Y = kernelled.rows(n=60, n_classes=3)


def model(n_classes, **params):
    rows = n_classes > Y
    return SureKernelClassifier(random_state=0, **params).fit(X[rows], Y[rows]).model_


def test_the_sides_of_classes_are_their_code_words():
    assert model(2).sides(np.array([0, 1, 1])).tolist() == [[-1], [1], [1]]
    three = model(3, multiclass="ovo")
    assert three.sides(np.array([2, 0])).tolist() == [[0, -1, -1], [1, 1, 0]]


def test_a_third_class_leaves_the_scores_of_two():
    two = model(2)
    three = two.with_classes(np.array([0, 1, 2]))
    mean, variance = two.weights.margin(KernelRows(X))
    means, variances = three.weights.margin(KernelRows(X))
    np.testing.assert_allclose(means, np.hstack([-mean, mean, 0 * mean]), atol=1e-12)
    np.testing.assert_allclose(variances[:, :2], np.hstack([variance, variance]))
    assert three.counts.tolist() == [*two.counts.tolist(), 0]


def test_a_class_between_two_keeps_the_problem_of_both():
    rows = Y != 1
    pair = SureKernelClassifier(multiclass="ovo", random_state=0).fit(X[rows], Y[rows]).model_
    three = pair.with_classes(np.array([0, 1, 2]))
    mean, _ = pair.weights.margin(KernelRows(X))
    means, _ = three.weights.margin(KernelRows(X))
    np.testing.assert_allclose(means[:, [0, 2]], 0.0)
    # A pair has its first class on the positive side, and two classes have it on the negative one.
    np.testing.assert_allclose(means[:, 1], -mean[:, 0], atol=1e-12)


def test_the_same_classes_are_the_same_model():
    one = model(3)
    assert one.with_classes(np.array([0, 1, 2])) is one


@pytest.mark.parametrize("n_classes", [0, 1])
def test_fewer_than_two_classes_have_no_weights(n_classes):
    one = SureKernelClassifier().partial_fit(X[:3], [0, 0, 0]).model_
    assert one.weights is None
    assert one.with_classes(np.arange(n_classes)).weights is None


def test_a_copy_counts_for_itself():
    one = model(2)
    other = one.copy()
    other.counts += 1
    other.mistakes.append(7)
    assert one.counts.sum() == np.count_nonzero(Y < 2)
    assert len(one.mistakes) == 1
    assert one.initial_variance == 1.0
