"""Blocks of labelled rows: parts and copies keep rows, labels and weights together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surelearn.learners.tasks.row_block import Features, RowBlock
from surelearn.read import Labels
from surelearn.units import Units

X = np.arange(1.0, 13.0).reshape(4, 3)
LABELS = Labels(np.array([0, 1, 1, 0], np.int32), np.array(["a", "b"]))
WEIGHT = np.array([1.0, 2.0, 3.0, 4.0])


def block(*, is_sparse=False):
    rows = sparse.csr_matrix(X)
    arrays = (rows.indptr, rows.indices, rows.data) if is_sparse else (X,)
    return RowBlock.read(Features(arrays, 3), LABELS, WEIGHT)


def values(rows):
    """The rows as numbers: one weight vector for each column scores them."""
    from surelearn.layout import Layout
    from surelearn.weights import Diagonal

    layout = Layout(3, intercept=False, second_order=True, averaged=False, dtype="float64")
    weights = Diagonal(layout, 3, 1.0)
    state = weights.state() | {
        "features": np.arange(3),
        "cells": np.ascontiguousarray(np.hstack([np.eye(3), np.ones((3, 3))])),
    }
    return Diagonal.from_state(state).scores(rows)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_parts_and_copies(is_sparse):
    whole = block(is_sparse=is_sparse)
    assert whole.is_sparse == is_sparse
    assert whole.size == 4
    part = whole.part(1, 3)
    assert part.size == 2
    assert (values(part.rows) == X[1:3]).all()
    assert part.labels.y.tolist() == ["b", "b"]
    assert part.weight.tolist() == [2.0, 3.0]
    some = whole.take(np.array([3, 0]))
    assert (values(some.rows) == X[[3, 0]]).all()
    assert some.weight.tolist() == [4.0, 1.0]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_block_in_other_units_remembers_them(is_sparse):
    units = Units(np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 0.0]), whole=True)
    scaled = block(is_sparse=is_sparse).in_units(units)
    assert scaled.units is units
    assert (values(scaled.rows) == (X - units.centre) * units.factor).all()


def test_rows_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="finite"):
        RowBlock.read(Features((np.full((2, 3), np.nan),), 3), LABELS, None)
