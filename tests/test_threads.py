"""Promise 9: predictions and copies during learning see a block boundary, never a mixture."""

from __future__ import annotations

import copy
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

from surelearn import SureClassifier, SureTagger, SureTextClassifier, _core, rules
from surelearn.text import HashingVectorizer, _native


def test_predictions_during_learning_see_whole_blocks():
    """A hundred equal features move together, so a mixture would show as unequal weights."""
    d, n = 100, 40_000
    X = np.ones((n, d))
    y = np.tile([0, 1, 1], n)[:n]
    clf = SureClassifier("pa1", fit_intercept=False, projection="precision")
    clf.partial_fit(X[:2], y[:2], classes=[0, 1])
    halves = np.zeros((2, d))
    halves[0, : d // 2] = 1.0
    halves[1, d // 2 :] = 1.0
    unequal, seen, done = [], [], threading.Event()

    def look():
        while not done.is_set():
            a, b = clf.decision_function(halves)
            seen.append(a)
            if a != b:
                unequal.append((a, b))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(5):
        clf.partial_fit(X, y)
    done.set()
    for reader in readers:
        reader.join()
    assert not unequal
    assert len(seen) > 10


@pytest.mark.slow
def test_a_copy_during_learning_is_of_one_moment():
    """Two features always move together; a copy taken in the midst must have them equal."""
    n = 30_000
    X = np.ones((n, 64))
    y = np.tile([0, 1, 1], n)[:n]
    clf = SureClassifier(rules.Probit(), fit_intercept=False).partial_fit(X[:2], y[:2])
    learner = threading.Thread(target=lambda: [clf.partial_fit(X, y) for _ in range(3)])
    learner.start()
    copies = []
    while learner.is_alive():
        copies.append(copy.deepcopy(clf._model.weights))
    learner.join()
    assert copies
    for weights in copies:
        assert len(set(weights.means[0].tolist())) == 1
        assert len(set(weights.variances[0].tolist())) == 1


# ------------------------------------------------------------------------------- forks


def forked(work: Callable[[], object]) -> str:
    """What a child of this process says of some work: what it raises, or nothing."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for ever
        try:
            work()
        except Exception as error:
            os.write(into, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(into)
    _, status = os.waitpid(child, 0)
    with open(out, "rb") as said:
        assert os.waitstatus_to_exitcode(status) == 0, "hung"
        return said.read().decode()


X = np.random.default_rng(0).normal(size=(4000, 30))
TEXTS = [f"w{i} w{i * 7 % 1000} {'good' if i % 2 else 'bad'}" for i in range(2000)]
WORDS = [["the", f"w{i}"] for i in range(1000)]
#: A model, what it learns and what it predicts.
LEARNERS = {
    "rows": (SureClassifier(), X, X[:, 0] > 0),
    "full": (SureClassifier(covariance="full"), X, X[:, 0] > 0),
    "texts": (SureTextClassifier(n_features=2**12), TEXTS, [i % 2 for i in range(2000)]),
    "sequences": (SureTagger(), WORDS, [["D", "N"]] * 1000),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("does", ["predict", "partial_fit"])
def test_a_child_forked_while_another_thread_learns_works_or_says_why_not(kind, does):
    """It waited for ever for a lock of a thread that it did not have."""
    blank, rows, y = LEARNERS[kind]
    model = copy.deepcopy(blank).partial_fit(rows[:10], y[:10])
    given = (rows[:5],) if does == "predict" else (rows[:5], y[:5])
    done = threading.Event()

    def learn():
        while not done.is_set():
            model.partial_fit(rows, y)

    learner = threading.Thread(target=learn)
    learner.start()
    try:
        said = {forked(lambda: getattr(model, does)(*given)) for _ in range(12)}
    finally:
        done.set()
        learner.join()
    assert said <= {"", f"RuntimeError: {HALF_DONE}"}
    assert forked(lambda: model.predict(rows[:5])) == ""


HALF_DONE = (
    "a model must be at rest when a process is forked, got one that another thread was changing. "
    "Load it from a file here, or start processes with 'spawn'."
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_model_that_is_half_done_in_a_child_is_refused_there_alone():
    inside, go_on = threading.Event(), threading.Event()

    def rule(m, v):
        inside.set()
        go_on.wait(20)
        return 1.0, 0.0

    go_on.set()
    model = SureClassifier(rules.Custom(rule, compiled=False)).partial_fit(X[:2], [0, 1])
    go_on.clear()
    inside.clear()
    learner = threading.Thread(target=model.partial_fit, args=(X[:5], [0, 1, 0, 1, 0]))
    learner.start()
    assert inside.wait(20)
    uses = [
        lambda: model.predict(X[:2]),
        lambda: model.partial_fit(X[:2], [0, 1]),
        lambda: copy.deepcopy(model),
    ]
    said = [forked(use) for use in uses]
    anew = forked(lambda: SureClassifier().fit(X[:2], [0, 1]).predict(X[:2]))
    go_on.set()
    learner.join()
    assert said == [f"RuntimeError: {HALF_DONE}"] * len(uses)
    assert anew == ""
    assert len(model.predict(X[:2])) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_makes_vectorizers_though_its_parent_was_making_one():
    with _native._MAKING:
        said = []
        other = threading.Thread(
            target=lambda: said.append(forked(lambda: HashingVectorizer().transform(["a b"])))
        )
        other.start()
        other.join()
    assert said == [""]


def test_one_thread_at_a_time_is_inside_a_lock():
    lock, inside, errors = _core.Lock(), [], []

    def work():
        for _ in range(2000):
            with lock:
                inside.append(1)
                if len(inside) > 1:
                    errors.append("two are inside")
                inside.pop()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert not errors
