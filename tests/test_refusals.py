"""Promise 4: bad input is named before anything is learnt, and no bad row enters a model."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from classifiers import X4, Y4, fingerprint
from surelearn import SureClassifier, constraints


def _tuples():
    y = np.empty(4, object)
    y[:] = [(0, 1), (1, 0)] * 2
    return y


@pytest.mark.parametrize(
    ("X", "y", "weight", "error", "message"),
    [
        (X4 * np.nan, Y4, None, ValueError, "X must be finite, got NaN or infinity in row 0"),
        (np.where(X4 == 3, np.inf, X4), Y4, None, ValueError, "infinity in row 3"),
        (sparse.csr_matrix(X4 * np.nan), Y4, None, ValueError, "X must be finite"),
        (X4[:, :1], Y4, None, ValueError, "X has 1 features, but SureClassifier is expecting 2"),
        (X4, Y4[:3], None, ValueError, "y must have one label for each of 4 rows of X, got 3"),
        (X4, ["no", None, "yes", "no"], None, ValueError, "no missing labels, got None at row 1"),
        (X4, [0.0, np.nan, 1.0, 0.0], None, ValueError, "no missing labels, got nan at row 1"),
        (X4, [0.0, 0.5, 1.0, 0.0], None, ValueError, "y must hold classes, got 0.5 at row 1"),
        (X4, ["no", 1, "yes", "no"], None, TypeError, "labels of one type, got int and str"),
        (X4, [1, 2, 1, 2], None, TypeError, "labels of the same type as before, such as 'no'"),
        (X4, Y4, [1, 1, -1, 1], ValueError, "sample_weight must be .* got -1.0 at row 2"),
        (X4, Y4, [1, np.nan, 1, 1], ValueError, "sample_weight must be .* got nan at row 1"),
        (X4, Y4, [1, 1], ValueError, r"sample_weight must have shape \(4,\) like y"),
        (X4, Y4, ["a"] * 4, TypeError, "sample_weight must be numbers, got"),
        (X4, ["a", pd.NA, "b", "a"], None, ValueError, "no missing labels, got <NA> at row 1"),
        (X4, _tuples(), None, ValueError, "y must have one label for each row as before, got"),
        (
            X4,
            [date(2001, 2, 3)] * 4,
            None,
            TypeError,
            "y must hold texts, numbers or booleans, got",
        ),
    ],
)
def test_bad_input_is_named_and_leaves_the_model(X, y, weight, error, message):
    clf = SureClassifier().partial_fit(X4, Y4)
    before, attributes = fingerprint(clf), dict(clf.__dict__)
    with pytest.raises(error, match=message):
        clf.partial_fit(X, y, sample_weight=weight)
    assert fingerprint(clf) == before
    assert clf.__dict__.keys() == attributes.keys()
    if "1 features" not in message and "as before" not in message:
        with pytest.raises(error, match=message):
            clf.fit(X, y, sample_weight=weight)
        assert fingerprint(clf) == before
        assert clf.n_features_in_ == 2


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1.0, np.nan], "no", ValueError, "x must be finite, got NaN or infinity"),
        ([1.0, 2.0, 3.0], "no", ValueError, "x must have 2 features as in fit, got 3"),
        ({2: 1.0}, "no", ValueError, "x must have indices below its width"),
        ({-1: 1.0}, "no", ValueError, "x must have indices below its width"),
        ({"word": 1.0}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ({0: None}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ({2**70: 1.0}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ([], "no", ValueError, r"x must be one row of at least one feature, got shape \(1, 0\)"),
        (1.0, "no", ValueError, "x must be one row of at least one feature, got shape"),
        ([1j, 1.0], "no", TypeError, "x must be a row of numbers, got dtype complex128"),
        (["a", "b"], "no", TypeError, "x must be a row of numbers, got dtype <U1"),
        (np.eye(2), "no", ValueError, r"x must be one row .*, got shape \(2, 2\)"),
        ([1.0, 2.0], None, ValueError, "y must have no missing labels, got None"),
        ([1.0, 2.0], 3, TypeError, "labels of the same type as before"),
        ([1.0, 2.0], ["no", "yes"], ValueError, "y"),
    ],
)
def test_a_bad_row_is_named_and_leaves_the_model(x, y, error, message):
    clf = SureClassifier().partial_fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(error, match=message):
        clf.learn_one(x, y)
    assert fingerprint(clf) == before


def test_one_class_is_not_enough_for_fit():
    clf = SureClassifier().fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'no'"):
        clf.fit(X4, ["no"] * 4)
    with pytest.raises(ValueError, match="got 1 class: 'no'"):
        clf.fit(X4, Y4, sample_weight=(Y4 == "no").astype(float))
    assert fingerprint(clf) == before


@pytest.mark.parametrize("method", ["predict", "decision_function", "margin", "predict_proba"])
def test_predict_before_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(SureClassifier(), method)(X4)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SureClassifier().predict_one(X4[0])
    assert not hasattr(SureClassifier(), "coef_")
    with pytest.raises(NotFittedError, match="coef_ must be learnt first"):
        _ = SureClassifier().coef_


@pytest.mark.parametrize(
    "scheme",
    [constraints.Sequential(2), constraints.Parallel(mixing=[1, 1]), constraints.Exact(2)],
)
def test_fit_refuses_more_rivals_than_there_are(scheme):
    """A stream may still bring them: partial_fit uses those there are."""
    once = {"shuffle": False, "passes": 1, "scale": False}
    clf = SureClassifier("variance", constraints=scheme, **once)
    with pytest.raises(ValueError, match=r"needs at least 3 classes for 2 rivals, got 2\. Use"):
        clf.fit(X4, Y4)
    some = type(scheme)(1)
    want = SureClassifier("variance", constraints=some, **once).fit(X4, Y4)
    clf.partial_fit(X4, Y4, classes=np.unique(Y4))
    assert clf.coef_.tobytes() == want.coef_.tobytes()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"initial_variance": 10**400},
            ValueError,
            r"initial_variance must be in \(0, inf\), got 1",
        ),
        ({"class_weight": {0: 10**400}}, ValueError, r"class_weight\[0\] must be in \[0, inf\)"),
        ({"cost": [[0, 10**400], [1, 0]]}, TypeError, "cost must be a square matrix of numbers"),
    ],
)
def test_numbers_beyond_all_doubles_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        SureClassifier("arow", **params).fit(X4, [0, 1, 0, 1])


def test_weights_beyond_all_doubles_are_refused():
    with pytest.raises(TypeError, match="sample_weight must be numbers, got"):
        SureClassifier().fit(X4, Y4, sample_weight=[1, 2, 3, 10**400])
    with pytest.raises(TypeError, match="mixing must be a list of numbers, got"):
        constraints.Parallel(mixing=[1, 10**400])
