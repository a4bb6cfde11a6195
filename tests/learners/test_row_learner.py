"""Rows into a model, one by one and in passes: weights, counts, and what an interruption leaves."""

from __future__ import annotations

import re
import signal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from classifiers import fingerprint, spread
from surelearn import SureClassifier


def test_one_pass_of_fit_is_partial_fit():
    X, y = spread()
    one = SureClassifier(passes=1, shuffle=False, scale=False).fit(X, y)
    other = SureClassifier(scale=False).partial_fit(X, y, classes=[0, 1, 2])
    assert fingerprint(one) == fingerprint(other)


def test_many_classes_in_a_small_chunk_are_nothing_to_warn_of():
    X, y = np.eye(31), np.array([f"c{i}" for i in range(31)])
    clf = SureClassifier(scale=False).partial_fit(X, y, classes=y)
    clf.partial_fit(X[:9], y[:9])
    assert len(clf.classes_) == 31


def test_counts_are_of_rows_not_of_passes():
    X, y = spread()
    clf = SureClassifier(passes=5, random_state=0, scale=False).fit(X, y)
    assert clf._model.counts.tolist() == np.bincount(y).tolist()


def test_interrupted_learning_counts_what_it_learnt():
    X = np.ones((600_000, 2))
    y = np.tile([0, 1], 300_000)
    clf = SureClassifier("arow", scale=False).partial_fit(X[:10], y[:10], classes=[0, 1])

    def interrupt(*_):
        raise KeyboardInterrupt

    def learn_for_long():
        for _ in range(100):
            clf.partial_fit(X, y)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        with pytest.raises(KeyboardInterrupt):
            learn_for_long()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    rounds = clf._model.weights.state()["rounds"]
    assert rounds == clf._model.counts.sum()


def test_verbose_reports_every_pass(capsys):
    X, y = spread()
    SureClassifier(passes=2, verbose=1, random_state=0, scale=False).fit(X, y, calibrate=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("pass 1/2: 200 of 200 rows, ")
    assert second.startswith("pass 2/2: ")
    assert " mistakes (" in second
    assert second.endswith(" rows/s")


def test_mistakes_have_one_entry_a_pass():
    X, y = spread()
    clf = SureClassifier(passes=3, random_state=0, scale=False).fit(X, y)
    assert len(clf.mistakes_) == 3
    last = clf.mistakes_[-1]
    clf.partial_fit(X, (y + 1) % 3)
    assert len(clf.mistakes_) == 3
    assert clf.mistakes_[-1] > last


def test_one_class_teaches_nothing_until_a_second_appears():
    clf = SureClassifier(scale=False).partial_fit([[1.0, 2.0]], ["a"])
    assert clf.classes_.tolist() == ["a"]
    assert clf.predict([[1.0, 1.0], [0.0, 0.0]]).tolist() == ["a", "a"]
    assert clf.n_updates_ == 0
    with pytest.raises(ValueError, match="coef_ needs at least two known classes"):
        _ = clf.coef_
    with pytest.raises(ValueError, match="decision_function needs at least two known classes"):
        clf.decision_function([[1.0, 1.0]])
    clf.learn_one([1.0, 0.0], "b")
    fresh = SureClassifier(projection="covariance", scale=False).partial_fit(
        [[1.0, 0.0]], ["b"], ["a", "b"]
    )
    np.testing.assert_array_equal(clf.coef_, fresh.coef_)


def test_one_row_of_pandas_is_dense():
    X = spread()[0]
    assert SureClassifier(scale=False).learn_one(pd.Series(X[0]), 0).projection_ == "covariance"
    assert (
        SureClassifier(scale=False).learn_one(sparse.coo_array(X[0]), 0).projection_ == "precision"
    )


def test_a_part_without_rows_has_a_width():
    clf = SureClassifier(scale=False)
    for X in (np.zeros((0, 3)), sparse.csr_array((0, 3)), pd.DataFrame(columns=list("abc"))):
        assert clf._n_features_of(X) == 3
    for shape in ((0,), (0, 0), (0, 3, 3)):
        with pytest.raises(ValueError, match=re.escape(f"has no rows, got shape {shape}.")):
            clf._n_features_of(np.zeros(shape))
