"""What every estimator shares: its fitted state, and one model at a time."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from classifiers import spread
from surelearn import SureClassifier
from surelearn.learners.base import Estimator, is_fitted, put_model


def test_an_estimator_needs_a_model_and_no_rule():
    estimator = Estimator()
    assert not is_fitted(estimator)
    assert not hasattr(estimator, "rule")
    with pytest.raises(NotFittedError, match="classes_ must be learnt first"):
        _ = estimator.classes_
    model = SureClassifier().fit(*spread()).model_
    put_model(estimator, model)
    assert is_fitted(estimator)
    assert estimator.model_ is model
    assert estimator.classes_ is model.classes


def test_another_thread_meets_the_old_model_until_fit_is_done():
    X, y = spread(2000)
    wide = np.hstack([X] * 20)
    clf = SureClassifier(random_state=0).fit(X, y)
    want = clf.decision_function(X[:3])
    other = threading.Thread(target=SureClassifier.fit, args=(clf.set_params(passes=40), wide, y))
    other.start()
    answers = []
    while other.is_alive():
        with contextlib.suppress(ValueError):  # 6 features are too few once fit has ended
            answers.append(clf.decision_function(X[:3]))
    other.join()
    assert answers
    assert all(np.array_equal(answer, want) for answer in answers)
    assert clf.n_features_in_ == 120
