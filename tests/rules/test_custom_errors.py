"""Rules of the user's own that fail, alone and among threads."""

from __future__ import annotations

import faulthandler
import math
import pickle
import sys
import threading

import numpy as np
import pytest

from classifiers import fingerprint, spread
from custom_rules import Callable, arow, thing
from surelearn import SureClassifier, rules

# --------------------------------------------------------------------- errors


BAD = [
    (math.nan, 0.0),
    (0.5, math.inf),
    (-1e-9, 0.5),
    (0.5, -0.5),
    (0.5,),
    (0.5, 0.5, 0.5),
    0.5,
    None,
    "ab",
    ("0.5", "0.5"),
    (True, 0.5),
    (10**400, 0.5),
    np.array([0.5, np.nan]),
]


@pytest.mark.parametrize("got", BAD, ids=lambda got: repr(got)[:20])
def test_what_is_no_step_is_named_with_its_margin(got):
    X, y = spread()
    function = Callable(fails_at=40, got=got)
    clf = SureClassifier(function, scale=False)
    message = r"Custom\(.*Callable.*\) must return two finite numbers \(alpha, gain\)"
    with pytest.raises(ValueError, match=message) as caught:
        clf.partial_fit(X, y)
    m, v = function.seen[-1]
    assert str(caught.value).endswith(f"got {got!r} for m={m!r}, v={v!r}.")
    want = SureClassifier(rules.AROW(r=2.0), scale=False).partial_fit(
        X[: sum(clf._model.counts)], y[: sum(clf._model.counts)]
    )
    assert fingerprint(clf) == fingerprint(want)
    with pytest.raises(ValueError, match="must return two finite numbers"):
        rules.Custom(lambda m, v: got).step(0.0, 1.0)


@pytest.mark.parametrize("got", [(0, 1), [0.5, 0.25], np.array([0.5, 0.25]), (np.float32(1), 0),
                                 rules.Step(0.5, 0.5)], ids=repr)  # fmt: skip
def test_two_numbers_in_any_clothes_are_a_step(got):
    want = tuple(float(x) for x in got)
    assert rules.Custom(lambda m, v: got).step(0.0, 1.0) == want
    assert rules.Custom(lambda m, v: got, compiled=False).core().step(0.0, 1.0) == want


def test_a_first_order_function_must_not_gain():
    rule = rules.Custom(arow, first_order=True)
    with pytest.raises(
        ValueError, match=r"must return gain 0 with first_order=True, got \(0.25, 0.5"
    ):
        SureClassifier(rule, scale=False).partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="must return gain 0"):
        rule.step(0.0, 1.0)


class Trouble(Exception):
    """Somebody's own."""


@pytest.mark.parametrize("kind", [Trouble, KeyboardInterrupt, ZeroDivisionError])
def test_what_the_function_raises_comes_out_as_it_is(kind):
    X, y = spread(n=200)
    error = kind("at home")
    how = {"projection": "covariance", "constraints": "single"}  # one call for each row
    clf = SureClassifier(Callable(fails_at=100, error=error), **how, scale=False)
    with pytest.raises(kind, match="at home") as caught:
        clf.partial_fit(X, y)
    assert caught.value is error
    assert any(entry.name == "__call__" for entry in caught.traceback)
    n = int(clf._model.counts.sum())
    assert 100 <= n < 200
    want = SureClassifier(rules.AROW(r=2.0), **how, scale=False).partial_fit(X[:n], y[:n])
    assert fingerprint(clf) == fingerprint(want)


def test_a_failing_fit_keeps_the_old_model():
    X, y = spread(n=200)
    clf = SureClassifier(arow, random_state=0, scale=False).fit(X, y)
    before = fingerprint(clf)
    clf.rule = Callable(fails_at=150, error=Trouble("late"))
    with pytest.raises(Trouble, match="late"):
        clf.fit(X, y)
    assert fingerprint(clf) == before


def test_a_failing_row_is_not_learnt_by_learn_one():
    X, y = spread(n=50, n_classes=2)
    clf = SureClassifier(Callable(fails_at=60, error=Trouble("one")), scale=False).partial_fit(X, y)
    clf.learn_one(X[0], y[0])
    clf.rule.fails_at = len(clf.rule.seen)
    before = fingerprint(clf)
    with pytest.raises(Trouble, match="one"):
        clf.learn_one(X[1], y[1])
    assert fingerprint(clf) == before
    clf.learn_one(X[1], y[1])
    assert int(clf._model.counts.sum()) == 52


def test_a_failing_row_makes_no_class_known():
    X = np.eye(4)
    clf = SureClassifier(Callable(fails_at=2, error=Trouble("new")), scale=False)
    with pytest.raises(Trouble, match="new"):
        clf.partial_fit(X, [0, 1, 0, 2], classes=[0, 1])
    assert clf.classes_.tolist() == [0, 1]
    clf = SureClassifier(Callable(fails_at=3, error=Trouble("new")), scale=False)
    with pytest.raises(Trouble, match="new"):
        clf.partial_fit(X[[0, 1, 2, 3, 0]], [0, 1, 2, 3, 4], classes=[0, 1, 2])
    assert clf.classes_.tolist() == [0, 1, 2]


def test_a_collapse_is_still_one():
    """A refusal by the weights is not taken for an error of the function."""
    rule = rules.Custom(lambda m, v: (0.0, 1e308), compiled=False)
    with pytest.raises(ValueError, match="row 0 must leave finite weights and positive variances"):
        SureClassifier(rule, projection="precision", scale=False).partial_fit(
            [[1e3], [1.0]], [0, 1], [0, 1]
        )


# -------------------------------------------------------------------- threads


@pytest.mark.parametrize("rule", [rules.Custom(arow, compiled=False), rules.Custom(thing)])
def test_others_predict_and_copy_while_a_python_rule_learns(rule):
    """A Python rule waits for the interpreter and holds the model: nobody may do the reverse."""
    X, y = spread(n=300)
    clf = SureClassifier(rule, average=True, scale=False).partial_fit(X, y)
    want = SureClassifier(rules.AROW(r=2.0), average=True, scale=False).partial_fit(X, y)
    weights = clf._model.weights
    # Whatever waits for the model, each in a thread of its own, so that none shields another.
    looks = [
        lambda: clf.predict(X[:5]),
        lambda: clf.predict_one(X[0]),
        lambda: clf.margin(X[:5]),
        lambda: clf.coef_,
        lambda: weights.prior,
        lambda: weights.with_columns([0, 1, 2]),
        lambda: pickle.dumps(clf),
    ]
    done, errors, counts = threading.Event(), [], [0] * len(looks)

    def read(place):
        try:
            while not done.is_set():
                looks[place]()
                counts[place] += 1
        except BaseException as error:
            errors.append(error)

    def learn():
        for _ in range(20):
            clf.partial_fit(X, y)

    readers = [threading.Thread(target=read, args=(i,), daemon=True) for i in range(len(looks))]
    learner = threading.Thread(target=learn, daemon=True)
    # A deadlock holds the interpreter, so only a watchdog outside it can end the run.
    faulthandler.dump_traceback_later(120, exit=True, file=sys.__stderr__)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # the learner asks for the interpreter at every row
    try:
        for thread in [*readers, learner]:
            thread.start()
        learner.join(60)
        done.set()
        for thread in readers:
            thread.join(60)
    finally:
        done.set()
        sys.setswitchinterval(switch)
        faulthandler.cancel_dump_traceback_later()
    assert not learner.is_alive()
    assert not any(thread.is_alive() for thread in readers)
    assert errors == []
    assert min(counts) > 0
    for _ in range(20):
        want.partial_fit(X, y)
    assert fingerprint(clf) == fingerprint(want)


def test_threads_that_share_a_rule_get_their_own_errors():
    """`learn_one` keeps one rule of the core for all who call it."""

    def step(m, v):
        raise Trouble(threading.get_ident())

    core = rules.Custom(step, compiled=False).core()
    found = {}

    def fail():
        assert math.isnan(core.step(0.0, 1.0)[0])

    def fail_and_ask():
        fail()
        found["other"] = core.take_error().args, threading.get_ident()

    fail()
    other = threading.Thread(target=fail_and_ask)
    other.start()
    other.join()
    assert found["other"][0] == (found["other"][1],)
    assert core.take_error().args == (threading.get_ident(),)
    assert core.take_error() is None


@pytest.mark.parametrize(
    "got", [None, 1.0, (1.0,), (1.0, 2.0, 3.0), (True, 1.0), ("1", 1.0), (math.nan, 0.0), (-1, 0)]
)
def test_a_step_is_two_numbers_that_keep_the_laws(got):
    with pytest.raises(ValueError, match=r"must return two finite numbers .* for m=1\.0, v=2\.0"):
        rules.Custom(lambda m, v: got, compiled=False).step(1.0, 2.0)


def test_steps_of_first_order_gain_nothing():
    answers = [(1, np.float32(0)), (1, 2)]
    rule = rules.Custom(lambda m, v: answers.pop(0), compiled=False, first_order=True)
    assert rule.step(1.0, 2.0) == (1.0, 0.0)
    with pytest.raises(ValueError, match=r"must return gain 0 with first_order=True, got \(1, 2\)"):
        rule.step(1.0, 2.0)
