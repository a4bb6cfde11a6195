"""Cells of a tagger's table: listed, read and written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from surelearn.learners import batch
from surelearn.learners.batch import Cells
from surelearn.learners.tasks.sequence_training import SequenceSettings, encode_block
from surelearn.learners.tasks.sequences import LabelledSequences
from surelearn.weights import Diagonal, Layout
from tagged import PAIRED, tagger

tables = arrays.arrays(bool, st.tuples(st.integers(1, 4), st.integers(1, 9)))


def weights(n_rows, n_labels, dtype="float64"):
    layout = Layout(n_rows, intercept=False, second_order=True, averaged=False, dtype=dtype)
    return Diagonal(layout, n_labels, 2.0)


@given(tables)
def test_a_table_of_cells_lists_them_row_by_row(wanted):
    cells = Cells.where(wanted)
    assert np.array_equal(cells.mask(len(wanted)), wanted)
    assert cells.n_rows == wanted.shape[1]
    table = np.arange(wanted.size, dtype=float).reshape(wanted.shape)
    assert cells.read(table).tolist() == table.T[wanted.T].tolist()


@given(tables)
def test_written_cells_are_read_again_and_the_others_kept(wanted):
    n_labels, n_rows = wanted.shape
    made, cells, rows = weights(2 * n_rows, n_labels), Cells.where(wanted), np.arange(n_rows) * 2
    mean = np.arange(1.0, 1 + wanted.sum())
    cells.write(made, rows, mean, 1 / mean)
    np.testing.assert_array_equal(cells.read(made.means[:, rows]), mean)
    np.testing.assert_array_equal(cells.read(made.variances[:, rows]), 1 / mean)
    assert (made.means[:, rows][~wanted] == 0).all()
    assert (made.variances[:, rows][~wanted] == 2.0).all()
    assert not made.means[:, 1::2].any()


def test_large_tables_are_written_in_parts(monkeypatch):
    monkeypatch.setattr(batch, "_ROWS", 3)
    test_written_cells_are_read_again_and_the_others_kept()


def test_variances_too_small_for_their_type_stay_positive():
    made, cells = weights(2, 1, "float32"), Cells.all(2, 1)
    cells.write(made, np.arange(2), np.zeros(2), np.array([1e-60, 0.5]))
    assert made.variances[0].tolist() == [np.finfo(np.float32).tiny, 0.5]


def test_all_cells_are_the_whole_table():
    assert Cells.all(3, 2).mask(2).all()
    assert Cells.all(3, 2).offsets.tolist() == [0, 2, 4, 6]
    assert Cells.all(3, 2).listed(2) == (None, None)
    some = Cells.where(np.array([[True, False, True]]))
    assert some.listed(1) is some


@pytest.mark.parametrize("templates", [["w[0]"], PAIRED])
def test_observed_cells_are_those_of_the_right_paths(templates):
    X, y = [["a", "dog", "runs"], ["dog"]], [["D", "N", "V"], ["N"]]
    settings = SequenceSettings.of(tagger(templates=templates).get_params(deep=False))
    model, encoded = encode_block(settings, None, LabelledSequences.of(X, y))
    found = Cells.observed(encoded.batch(model), len(model.classes)).mask(len(model.classes))
    wanted = np.zeros(found.shape, dtype=bool)
    for i, tags in enumerate(y):
        path = np.searchsorted(model.classes, tags).astype(np.int32)
        wanted |= (model.joint_features(encoded.sequences.part(i, i + 1), path) != 0).toarray().T
    assert np.array_equal(found, wanted)
