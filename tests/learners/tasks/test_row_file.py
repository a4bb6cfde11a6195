"""Models of rows in files: what is stored must fit together."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureClassifier, files
from surelearn._check import FormatError
from surelearn.learners.tasks.row_file import model_in
from surelearn.learners.tasks.row_task import ROWS

X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.arange(30) % 3


def parts(**params):
    clf = SureClassifier(random_state=0, **params).fit(X, Y)
    settings, tensors = ROWS.packed(clf)
    settings |= {"mistakes": clf.model_.mistakes, "updates": clf.model_.updates}
    settings["layout"] = {
        name: getattr(clf.model_.layout, name)
        for name in ("n_features", "intercept", "second_order", "averaged", "dtype", "covariance")
    }
    return clf, settings, tensors


def read(settings, tensors, budget=10**6):
    fields = files.Fields(settings, "header")
    return model_in(fields, tensors, budget, multiclass="joint")


@pytest.mark.parametrize("params", [{}, {"scale": False}, {"covariance": "full"}])
def test_a_model_comes_back(params):
    clf, settings, tensors = parts(**params)
    model = read(settings, tensors)
    assert model.counts.tolist() == [10, 10, 10]
    assert (model.weights.means == clf.model_.weights.means).all()
    assert (model.scale is None) == (clf.model_.scale is None)
    assert (model.weights.units is None) == (params == {"scale": False})


def test_what_does_not_fit_is_refused():
    _, settings, tensors = parts()
    settings["weights"] = {**settings["weights"], "n_columns": 2}
    with pytest.raises(FormatError, match="n_columns must fit 3 classes, got 2"):
        read(settings, tensors)
    _, settings, tensors = parts()
    with pytest.raises(FormatError, match="within max_bytes"):
        read(settings, tensors, budget=1)
