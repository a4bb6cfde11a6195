"""Labels as users hand them in: of one kind, whatever they come in."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest
from sklearn.exceptions import DataConversionWarning

from surelearn.estimators.labels import as_labels

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
