"""Blocks of labelled rows: rows of weight zero, and the block that others ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import strategies
from classifiers import X4, Y4, classifier, fingerprint
from surelearn import SureClassifier
from surelearn.learners.answers.linear import whole_block


def test_a_block_keeps_the_numbers_of_its_rows():
    clf = SureClassifier(class_weight="balanced", scale=False)
    weight = [1.0, 0.0, 2.0, 1.0]
    block = whole_block(clf, X4, Y4, weight, who="test")
    kept = np.array([0, 2, 3])
    np.testing.assert_array_equal(block.numbers, kept)
    np.testing.assert_array_equal(block.X, np.asarray(X4)[kept])
    np.testing.assert_array_equal(block.labels.values, np.unique(Y4))
    labels = np.asarray(Y4)[kept]
    of_class = {label: 3 / (2 * np.sum(labels == label)) for label in block.labels.values}
    np.testing.assert_allclose(
        block.weight, [of_class[y] * weight[i] for y, i in zip(labels, kept, strict=True)]
    )


@given(problem=strategies.problems(), rule=strategies.rules())
def test_zero_weight_changes_nothing(problem, rule):
    kept = problem.sample_weight > 0
    options = {"passes": 2, "shuffle": False, "projection": "covariance"}
    with_zeros = classifier(rule, **options)
    without = classifier(rule, **options)
    with_zeros.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    without.fit(problem.X[kept], problem.y[kept], sample_weight=problem.sample_weight[kept])
    assert fingerprint(with_zeros) == fingerprint(without)


def test_no_weight_at_all_is_refused_by_fit_and_nothing_to_a_stream():
    clf = SureClassifier(scale=False).partial_fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="sample_weight must have a positive entry, got zero"):
        clf.fit(X4, Y4, sample_weight=np.zeros(4))
    clf.partial_fit(X4, Y4, sample_weight=np.zeros(4))
    clf.learn_one(X4[0], "yes", sample_weight=0.0)
    assert fingerprint(clf) == before
    fresh = SureClassifier(scale=False).partial_fit(X4, Y4, sample_weight=np.zeros(4))
    assert fingerprint(fresh.partial_fit(X4, Y4)) == before
