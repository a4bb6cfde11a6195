"""Promise 9: predictions and copies during learning see a block boundary, never a mixture."""

from __future__ import annotations

import copy
import threading

import numpy as np

from surelearn import SureClassifier, rules


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
