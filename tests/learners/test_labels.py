"""Labels as users hand them in: of one kind, whatever they come in."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from surelearn.learners.labels import as_labels, has_many, row_labels

FORMS = [list, tuple, np.array, pandas.Series, polars.Series]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__module__)
@pytest.mark.parametrize("labels", [["a", "bc", "a"], [3, 1, 3], [True, False], [1.0, 2.0]])
def test_labels_come_in_anything_that_holds_them(form, labels):
    found = as_labels(form(labels))
    assert found.tolist() == labels
    assert found.shape == (len(labels),)


def test_a_mixture_is_no_text():
    with pytest.raises(TypeError, match="y must hold labels of one type, got int and str"):
        as_labels([1, "a"])
    with pytest.raises(ValueError, match="y must have no missing labels, got None at row 1"):
        as_labels(["a", None])


def test_whole_numbers_do_not_become_doubles():
    assert as_labels([1, 2**63 + 1]).tolist() == [1, 2**63 + 1]
    with pytest.raises(ValueError, match="y must hold whole numbers"):
        as_labels([1, 2**64])


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        assert as_labels([["a"], ["b"]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("value", ["ab", 3, [["a"], ["b"]]])
def test_other_parameters_must_be_lists(value):
    with pytest.raises(ValueError, match="classes must be a list of labels, got "):
        as_labels(value, "classes")


# ------------------------------------------------------------------ many labels

SETS = [["b", "a"], [], ["c"], ["a"]]
TABLE = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        pandas.Series,
        polars.Series,
        pyarrow.array,
        lambda rows: [set(row) for row in rows],
        lambda rows: [np.array(row, dtype=object) for row in rows],
    ],
)
def test_lists_of_labels_come_in_anything_that_holds_them(form):
    found, came = row_labels(form(SETS))
    assert found.lists() == [("a", "b"), (), ("c",), ("a",)]
    assert (came, found.n_rows) == ("lists", 4)
    assert found.values.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (np.array, "dense"),
        (lambda table: table.astype(bool), "dense"),
        (lambda table: table.astype(np.float32), "dense"),
        (pandas.DataFrame, "dense"),
        (polars.DataFrame, "dense"),
        (np.ndarray.tolist, "dense"),
        (list, "dense"),
        (sparse.csr_matrix, "sparse"),
        (sparse.csc_array, "sparse"),
        (sparse.coo_array, "sparse"),
    ],
)
def test_a_matrix_numbers_its_labels(form, name):
    found, came = row_labels(form(TABLE))
    assert found.lists() == [(0, 1), (), (2,), (0,)]
    assert came == name
    assert found.values.tolist() == [0, 1, 2]


def test_some_rows_of_labels():
    for labels, form in (row_labels(SETS), row_labels(TABLE)):
        assert labels.take([3, 0]).lists() == [labels.lists()[3], labels.lists()[0]]
        assert labels.take(slice(0)).n_rows == 0
        assert labels.take(slice(1, None)).lists() == labels.lists()[1:]
        assert row_labels(labels, form=form) == (labels, form)
    assert row_labels(["x", "y", "x"])[0].take([2, 1]).y.tolist() == ["x", "y"]


def test_lists_of_zeros_and_ones_are_a_matrix_unless_told_otherwise():
    assert row_labels([[0, 1], [1, 1]])[1] == "dense"
    found, came = row_labels([[0, 1], [1, 0]], form="lists")
    assert (came, found.lists()) == ("lists", [(0, 1), (0, 1)])
    assert row_labels([[0, 1], [1]])[1] == "lists"
    assert row_labels([[0], [1]])[1] == "lists"
    assert row_labels([[0, 2], [1, 0]])[1] == "lists"
    assert row_labels([{0, 1}, {1}])[1] == "lists"


def test_a_label_that_a_list_repeats_counts_once():
    assert row_labels([["a"], ["b", "c", "b"]])[0].lists() == [("a",), ("b", "c")]
    assert row_labels([[7, 7], [1]])[0].lists() == [(7,), (1,)]


@pytest.mark.parametrize(
    "y", [["a", "b"], [1, 2], np.array([[1], [2]]), [], np.array(["ab"], object), "ab", None, 3]
)
def test_one_label_for_each_row_is_not_many(y):
    assert not has_many(y)


@pytest.mark.parametrize(
    ("y", "error", "said"),
    [
        ([["a"], "b"], TypeError, "y must have a list of labels for each row .*got 'b' at row 1"),
        ([["a"], None], TypeError, "y must have a list of labels for each row .*got None at row 1"),
        ([["a"], ["b", None]], ValueError, "y must have no missing labels, got None at row 1"),
        ([["a"], [1]], TypeError, "y must hold labels of one type, got int and str"),
        ([[1], [0, 0, 2]], ValueError, "0 and 1 once in a list of labels, got 0 twice at row 1"),
        ([["b"], [("a",)]], TypeError, r"texts, numbers or booleans in its lists, got .*at row 1"),
        (np.array([[0, 1], [2, 0]]), ValueError, "0 and 1 as an indicator matrix, got 2 at row 1"),
        (np.array([[0.0, 0.5], [1, 0]]), ValueError, "indicator matrix, got 0.5 at row 0"),
        (np.array([[0.0, np.nan]]), ValueError, "0 and 1 as an indicator matrix, got nan at row 0"),
        (np.array([["a", "b"]]), TypeError, "0 and 1 as an indicator matrix, got <U1 values"),
        (sparse.csr_array([[0, 0], [3, 0]]), ValueError, "indicator matrix, got 3 at row 1"),
        (sparse.csr_array([[1], [0]]), ValueError, r"two columns at least .*got shape \(2, 1\)"),
    ],
)
def test_bad_labels_of_many_are_named(y, error, said):
    with pytest.raises(error, match=said):
        row_labels(y)


def test_a_repeated_entry_of_a_sparse_matrix_counts_twice():
    entries = np.ones(2), (np.array([0, 0]), np.array([1, 1]))
    with pytest.raises(ValueError, match=r"as an indicator matrix, got 2\.0 at row 0"):
        row_labels(sparse.coo_array(entries, shape=(2, 3)))


@pytest.mark.parametrize("y", [TABLE, sparse.csr_array(TABLE), SETS, [["a", "b"], ["a", "c"]]])
def test_many_labels_are_refused_where_there_is_one(y):
    with pytest.raises(ValueError, match="y must have one label for each row here, got rows of"):
        as_labels(y)
