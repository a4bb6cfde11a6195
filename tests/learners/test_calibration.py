"""Rows kept back, and the temperature that follows a stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn import SureClassifier
from surelearn.learners.answers.classifier import scorer
from surelearn.learners.calibration import Follower, class_positions, kept_back, kept_in_block
from surelearn.read import Labels
from surelearn.rows import rows_of


def labels(codes, n_classes=2):
    return Labels(np.asarray(codes, np.int32), np.arange(n_classes))


def test_one_row_in_twenty_is_kept_back_and_two_thousand_at_most():
    sizes = [len(kept_back(labels(np.arange(n) % 2))) for n in (19, 40, 1000, 100_000)]
    assert sizes == [0, 2, 50, 2000]


def test_rows_kept_back_differ_and_are_drawn_at_random():
    rows = kept_back(labels(np.arange(10_000) % 2))
    assert len(set(rows.tolist())) == len(rows) == 500
    assert abs(rows.mean() - 5000) < 500


def test_rows_of_rare_classes_are_never_kept_back():
    codes = np.zeros(2000, np.int32)
    drawn = kept_back(labels(codes))
    codes[drawn[:4]] = 1
    assert kept_back(labels(codes)).tolist() == drawn[4:].tolist()
    codes[drawn[4]] = 1
    assert kept_back(labels(codes)).tolist() == drawn.tolist()


@given(st.integers(0, 10_000))
def test_a_block_keeps_back_a_twentieth_of_its_second_half(n):
    rows = kept_in_block(labels(np.arange(n) % 2))
    assert (rows >= n // 2).all()
    assert (rows < n).all()
    assert abs(len(rows) - n / 20) <= 1


def test_a_block_never_keeps_back_all_rows_of_a_class():
    codes = np.zeros(100, np.int32)
    every = kept_in_block(labels(codes)).tolist()
    codes[every[1]] = 1
    assert kept_in_block(labels(codes)).tolist() == [every[0], *every[2:]]
    codes[0] = 1
    assert kept_in_block(labels(codes)).tolist() == every


def test_places_are_those_of_the_model_and_minus_one_for_an_unknown_class():
    clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["b", "d"])
    found = class_positions(scorer(clf), Labels(np.array([0, 1, 2]), np.array(["d", "c", "b"])))
    assert found.tolist() == [1, -1, 0]


@pytest.fixture
def noisy():
    """Rows whose labels a linear model predicts in part, and a model of half of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = (X @ [1.0, 2.0, -1.0] + rng.logistic(size=4000) > 0).astype(int)
    clf = SureClassifier(random_state=0).fit(X[:2000], y[:2000], calibrate=False)
    return clf, rows_of(X[2000:]), y[2000:]


def test_a_follower_comes_to_the_temperature_of_many_rows(noisy):
    clf, rows, y = noisy
    asked = scorer(clf)
    followed = Follower().after(asked, rows, y)
    assert followed.temperature == pytest.approx(asked.fitted_temperature(rows, y), rel=1e-3)
    assert followed.precision > 100


def test_a_sure_follower_hardly_moves(noisy):
    clf, rows, y = noisy
    sure = Follower(1.0, 1e9).after(scorer(clf), rows, y)
    assert sure.log_temperature == pytest.approx(1.0, abs=1e-4)
    assert sure.precision == pytest.approx(0.5e9, rel=1e-5)
