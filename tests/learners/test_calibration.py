"""Rows kept back, and the temperature that follows a stream."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from surelearn import SureClassifier, _core
from surelearn.learners.answers.classifier import scorer
from surelearn.learners.calibration import Follower, class_positions, kept_back, kept_in_block
from surelearn.read import Labels
from surelearn.rows import rows_of

#: The largest log of a temperature.
BOUND = np.log(1e4)


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


@st.composite
def stream_blocks(draw):
    """Scores of kept rows, their classes, the factor of the scores, and what earlier blocks say."""
    n, width = draw(st.integers(1, 30)), draw(st.sampled_from([1, 2, 3, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = rng.normal(size=(n, width)) * 10 ** rng.uniform(-4, 4)
    best = scores.argmax(axis=1) if width > 1 else (scores[:, 0] > 0).astype(int)
    y = np.where(rng.random(n) < rng.random(), best, rng.integers(0, max(width, 2), n))
    start = draw(st.sampled_from([0.0, -9.21, 9.3, -11.5]) | st.floats(-9, 9))
    return scores, y.astype(np.int64), rng.uniform(0.1, 3), start, 10 ** rng.uniform(-3, 4)


@example((np.array([[1e200, -1e200]]), np.array([1]), 1.7, 0.0, 1.0))
@example((np.array([[0.0, 0.0, 0.0]]), np.array([1]), 1.7, 0.5, 1.0))
@example((np.zeros((0, 3)), np.zeros(0, np.int64), 1.7, 0.5, 1.0))
@given(stream_blocks())
def test_a_temperature_moves_to_the_minimum_that_slow_steps_find(block):
    scores, y, factor, start, precision = block
    t, curvature = _core.followed_temperature(*block)
    loss, slope = slow_loss(scores, y, factor)

    def total(t):
        return loss(t) + 0.5 * precision * (t - start) ** 2

    def slope_of_total(t):
        return slope(t) + precision * (t - start)

    assert abs(t) <= BOUND
    least = min(total(x) for x in np.linspace(-BOUND, BOUND, 301))
    assert total(t) <= least + 1e-12 * max(1.0, abs(least))
    if 0.0 < curvature < np.inf and abs(t) < BOUND:  # halve until it is known to the last digit
        low, high = t - 1e-3, t + 1e-3
        assert slope_of_total(low) < 0 < slope_of_total(high)
        while (middle := 0.5 * (low + high)) not in (low, high):
            low, high = (middle, high) if slope_of_total(middle) < 0 else (low, middle)
        assert t == pytest.approx(low, abs=1e-9)
    second = (loss(t + 0.1) - 2 * loss(t) + loss(t - 0.1)) / 0.01
    assert curvature == pytest.approx(second, rel=1e-6, abs=1e-9 * (1 + loss(t)) / 0.01)


def slow_loss(scores, y, factor):
    """The log loss of some rows as a function of log tau, and its derivative."""
    if scores.shape[1] == 1:
        scores = np.concatenate([0 * scores, scores], axis=1)
    rows = np.arange(len(y))
    own = scores[rows, y][:, None] if len(y) else np.zeros((0, 1))
    gaps = factor * (scores - own)

    def powers(t):
        return gaps * np.exp(-t)

    def loss(t):
        return float(logsumexp(powers(t), axis=1).sum())

    def slope(t):
        return float(-np.exp(-t) * (softmax(powers(t), axis=1) * gaps).sum())

    return loss, slope


def test_scores_beyond_doubles_are_clipped():
    most = np.finfo(float).max
    ties = np.array([[np.inf, np.inf], [most, -np.inf], [-most, most]])
    right = _core.followed_temperature(ties, np.array([0, 0, 1]), 1e4, 0.0, 1.0)
    assert right == pytest.approx((0.0, 0.0))
    assert _core.followed_temperature(ties, np.array([0, 1, 1]), 1e4, 0.0, 1.0)[0] > 9


def test_unknown_scores_are_refused_by_a_follower(noisy, monkeypatch):
    clf, _, y = noisy
    asked = scorer(clf)
    monkeypatch.setattr(type(asked), "class_scores", lambda *_: np.array([[np.nan]]))
    with pytest.raises(ValueError, match=r"finite, got an overflow in double precision in row 0"):
        Follower().after(asked, None, y[:1])
