"""Learning row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from classifiers import spread
from surelearn import SureClassifier


def test_one_class_teaches_nothing_until_a_second_appears():
    clf = SureClassifier().partial_fit([[1.0, 2.0]], ["a"])
    assert clf.classes_.tolist() == ["a"]
    assert clf.predict([[1.0, 1.0], [0.0, 0.0]]).tolist() == ["a", "a"]
    assert clf.n_updates_ == 0
    with pytest.raises(ValueError, match="coef_ needs at least two known classes"):
        _ = clf.coef_
    with pytest.raises(ValueError, match="decision_function needs at least two known classes"):
        clf.decision_function([[1.0, 1.0]])
    clf.learn_one([1.0, 0.0], "b")
    fresh = SureClassifier(projection="covariance").partial_fit([[1.0, 0.0]], ["b"], ["a", "b"])
    np.testing.assert_array_equal(clf.coef_, fresh.coef_)


def test_one_row_of_pandas_is_dense():
    X = spread()[0]
    assert SureClassifier().learn_one(pd.Series(X[0]), 0).projection_ == "covariance"
    assert SureClassifier().learn_one(sparse.coo_array(X[0]), 0).projection_ == "precision"
