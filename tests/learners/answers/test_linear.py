"""Fitted attributes and what is predicted from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags

from classifiers import X4, Y4, spread
from reference.rules import FIRST_ORDER
from surelearn import SureClassifier


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_predictions_are_those_of_the_coefficients(n_classes, average, fit_intercept):
    X, y = spread(n_classes=n_classes)
    clf = SureClassifier(
        average=average, fit_intercept=fit_intercept, random_state=0, scale=False
    ).fit(X, y)
    scores = X @ clf.coef_.T.astype(float) + clf.intercept_
    variance = X**2 @ clf.sigma_.T.astype(float) + clf.intercept_sigma_
    if n_classes == 2:
        scores, variance = scores[:, 0], variance[:, 0]
        assert clf.coef_.shape == clf.sigma_.shape == (1, 6)
    np.testing.assert_allclose(clf.decision_function(X), scores, rtol=1e-6, atol=1e-9)
    mean, v = clf.margin(X)
    np.testing.assert_array_equal(mean, clf.decision_function(X))
    np.testing.assert_allclose(v, variance, rtol=1e-6)
    winners = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert clf.predict(X).tolist() == clf.classes_[winners].tolist()
    assert [clf.predict_one(x) for x in X] == clf.predict(X).tolist()
    csr = sparse.csr_matrix(X)
    assert [clf.predict_one(csr[i]) for i in range(9)] == clf.predict(X[:9]).tolist()
    assert clf.predict_one(dict(enumerate(X[0]))) == clf.predict(X[:1])[0]
    assert not fit_intercept or clf.intercept_.any()
    assert fit_intercept or not clf.intercept_.any()


@pytest.mark.parametrize("name", sorted(FIRST_ORDER))
def test_first_order_rules_lack_what_needs_variances(name):
    clf = SureClassifier(name, scale=False).fit(X4, Y4)
    for attribute in ("margin", "predict_proba", "predict_log_proba", "sigma_"):
        assert not hasattr(clf, attribute)
    with pytest.raises(AttributeError, match="has no attribute 'margin'") as caught:
        _ = clf.margin
    assert "rule must keep variances for this" in str(caught.value.__cause__)


def test_coef_is_a_read_only_view():
    clf = SureClassifier(scale=False).fit(X4, Y4)
    view = clf.coef_
    for array in (view, clf.sigma_, clf.intercept_, clf.intercept_sigma_):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    before = view.copy()
    clf.partial_fit(10 * X4, np.where(Y4 == "no", "yes", "no"))
    assert not np.array_equal(view, before)


def test_names_of_features_are_kept():
    X, y = spread()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    clf = SureClassifier(scale=False).fit(frame, y)
    assert clf.feature_names_in_.tolist() == list("uvwxyz")
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[list("zyxwvu")])


def test_scikit_learn_is_told_that_rows_may_be_sparse():
    assert get_tags(SureClassifier(scale=False)).input_tags.sparse
