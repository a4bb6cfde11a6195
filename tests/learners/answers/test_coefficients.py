"""Weights as users see them: per unit of the columns as they are given."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureClassifier
from surelearn.layout import Layout
from surelearn.learners.answers.coefficients import (
    last_column,
    means_as_given,
    means_of,
    variances_of,
)
from surelearn.units import Units
from surelearn.weights import weights_of

UNITS = Units(np.array([10.0, -1.0]), np.array([0.5, 4.0]), whole=True)


def weights(covariance="diagonal", units=UNITS):
    layout = Layout(2, True, True, False, "float64", covariance)
    made = weights_of(layout, 2, 1.0)
    state = made.state()
    if covariance == "full":
        state |= {"means": np.arange(1.0, 7.0)[np.newaxis], "sigma": np.diag(np.arange(1.0, 7.0))}
    else:
        cells = np.hstack([np.arange(1.0, 7.0).reshape(2, 3).T, np.full((3, 2), 2.0)])
        state |= {"features": np.arange(3), "cells": np.ascontiguousarray(cells)}
    return type(made).from_state({**state, "units": units})


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_means_are_per_unit(covariance):
    own = weights(covariance)
    assert means_of(own).tolist() == [[0.5, 8.0, 3.0], [2.0, 20.0, 6.0]]
    assert means_as_given(own)[:, 2].tolist() == [3 - 5 + 8, 6 - 20 + 20]
    assert not means_as_given(own).flags.writeable
    plain = weights(covariance, None)
    assert means_as_given(plain).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_variances_are_per_unit_squared():
    assert variances_of(weights()).tolist() == [[0.5, 32.0, 2.0]] * 2
    full = variances_of(weights("full"))
    assert np.diagonal(full).tolist() == [0.25, 32.0, 3.0, 1.0, 80.0, 6.0]
    assert np.count_nonzero(full) == 6


def test_covariances_are_symmetric_to_the_bit():
    X = np.random.default_rng(0).normal(size=(90, 4))
    clf = SureClassifier(covariance="full", random_state=0).fit(X, X[:, :3].argmax(axis=1))
    assert (clf.sigma_ == clf.sigma_.T).all()


def test_the_intercept_is_the_last_column():
    table = np.array([[1.0, 2.0]])
    assert last_column(table, 1).tolist() == [2.0]
    assert last_column(table, 2).tolist() == [0.0]
