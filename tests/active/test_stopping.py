"""When to stop asking: budgets, stable predictions, estimated errors."""

from __future__ import annotations

import numpy as np
import pytest

from asked import digits, teach
from surelearn import SureClassifier
from surelearn.active import Budget, EstimatedError, Pool, Progress, Stable
from surelearn.active._stopping import kappa


def curve(pool: Pool, y, most: int) -> tuple[int, str]:
    """Labels until it stops, and why."""
    for n in range(most):
        if reason := pool.should_stop():
            return n, reason
        teach(pool, y, 1)
    return most, ""


def test_a_budget_stops_at_its_end():
    X, y = digits(3)
    start = {int(np.flatnonzero(y == k)[0]): k for k in range(3)}
    pool = Pool(SureClassifier(), X, labels=start, stop=Budget(20))
    assert curve(pool, y, 100) == (17, "20 labels of 20")
    pool.undo()
    assert pool.should_stop() == ""


def test_stable_predictions_stop_an_easy_pool_and_not_at_once():
    X, y = digits(2, n=360)
    pool = Pool(SureClassifier(), X, stop=Stable(window=10, times=2, watch=200), random_state=0)
    n, reason = curve(pool, y, 300)
    assert 20 < n < 200
    assert reason.startswith("predictions stable: kappa")
    assert "last 20 labels" in reason
    assert pool.model.score(X, y) > 0.97


def test_predictions_of_noise_are_not_stable():
    X, _ = digits(2, n=300)
    y = np.random.default_rng(0).integers(0, 2, 300)
    clf = SureClassifier("pa")
    pool = Pool(clf, X, strategy="random", stop=Stable(window=10, times=2), random_state=0)
    assert curve(pool, y, 150) == (150, "")


def test_one_label_for_all_is_no_decision():
    looks = [np.zeros(50, np.int32)] * 100
    none = np.zeros(0, bool)
    assert Stable(window=10).reason(Progress(100, none, none, looks)) == ""
    looks = [np.arange(50, dtype=np.int32) % 2] * 61
    assert "kappa 1.000" in Stable().reason(Progress(61, none, none, looks))
    assert Stable().reason(Progress(60, none, none, looks[:60])) == ""
    assert Stable().reason(Progress(61, none, none, [None, *looks[1:]])) == ""


def test_kappa_by_hand():
    """Agreement 3/4; by chance 1/2 1/4 + 1/2 3/4."""
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 1], np.int32)
    assert kappa(a, b) == pytest.approx(0.5)
    assert kappa(a, a) == 1.0
    assert kappa(a, 1 - a) == -1.0


def test_what_is_undone_does_not_count_as_stable():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, stop=Stable(window=5, times=2), random_state=0)
    teach(pool, y, 30)
    before = list(pool._predictions)
    teach(pool, y, 3)
    for _ in range(3):
        pool.undo()
    assert len(pool._predictions) == len(before) == 30


@pytest.mark.parametrize("explore", [0.0, 0.5])
def test_estimated_error_stops_where_the_error_is_low(explore):
    X, y = digits(3, n=500)
    rule = EstimatedError(0.1, window=30)
    pool = Pool(SureClassifier(), X, stop=rule, explore=explore, random_state=0)
    n, reason = curve(pool, y, 450)
    assert 30 < n < 450
    assert f"last 30 {'random' if explore else 'chosen'} questions" in reason
    assert 1 - pool.model.score(X, y) < 0.1


def test_estimated_error_counts_the_last_questions_before_they_are_learnt():
    missed = np.array([True] * 50 + [False] * 100)
    none = np.zeros(150, bool)
    rule = EstimatedError(0.02, window=100, z=1.0)
    assert "error at most 0.010" in rule.reason(Progress(150, missed, none, []))
    assert rule.reason(Progress(149, missed[:-3], none[:-3], [])) == ""
    assert rule.reason(Progress(150, np.ones(150, bool), none, [])) == ""
    odd = np.arange(150) % 2 == 1
    few = EstimatedError(0.02, window=50, z=0.0)
    assert "random questions" in few.reason(Progress(150, ~odd, odd, []))
    assert few.reason(Progress(150, odd, odd, [])) == ""


def test_the_first_reason_counts():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, stop=[Budget(5), Budget(3)], random_state=0)
    teach(pool, y, 3)
    assert pool.should_stop() == "3 labels of 3"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget(0), "n must be at least 1, got 0"),
        (lambda: Stable(threshold=1.5), r"threshold must be in \(0, 1\], got 1.5"),
        (lambda: Stable(window=0), "window must be at least 1, got 0"),
        (lambda: EstimatedError(0.0), r"error must be in \(0, 1\), got 0.0"),
        (lambda: EstimatedError(0.1, z=-1.0), r"z must be in \[0, inf\), got -1.0"),
    ],
)
def test_stopping_rules_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_stopping_rule_must_be_one():
    with pytest.raises(TypeError, match="stop must be Budget, Stable or EstimatedError, got 3"):
        Pool(SureClassifier(), digits(2)[0], stop=3)
