"""Threads that learn with and read one model, for the thread sanitizer to watch.

Run by run.sh with a core built for it. There is little to assert here: what is wrong, the sanitizer
says and ends the process.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from surelearn import SureClassifier

_SECONDS = 2.0


def _problem(n_classes: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    random = np.random.default_rng(0)
    X = sparse.random_array((5000, 40), density=0.2, format="csr", rng=random, dtype=np.float64)
    return sparse.csr_matrix(X), random.integers(0, n_classes, 5000)


def _run(actions: list[Callable[[], object]]) -> int:
    """Each action in a thread of its own, again and again; how often all of them were called."""
    calls = [0] * len(actions)
    errors: list[Exception] = []
    until = time.monotonic() + _SECONDS

    def work(i: int) -> None:
        try:
            while time.monotonic() < until and not errors:
                actions[i]()
                calls[i] += 1
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    assert min(calls) > 0, calls
    return sum(calls)


def _watch(n_classes: int, average: bool) -> int:
    X, y = _problem(n_classes)
    model = SureClassifier(average=average).partial_fit(X, y)
    dense = X.toarray()[:500]
    return _run(
        [
            lambda: model.partial_fit(X, y),
            lambda: model.partial_fit(dense, y[:500]),
            lambda: model.predict(X),
            lambda: model.margin(X),
            lambda: model.coef_.sum(),
            lambda: pickle.dumps(model),
        ]
    )


def _watch_growth() -> int:
    """Classes that come one by one, now in the memory of the model before, now in a new one."""
    X, y = _problem(3)
    model = SureClassifier().partial_fit(X, y)
    labels = iter(range(3, 1_000_000))
    return _run(
        [
            lambda: model.learn_one(X[:1], -next(labels)),
            lambda: model.predict(X[:50]),
            lambda: model.margin(X[:50]),
            lambda: pickle.dumps(model),
        ]
    )


def _watch_full() -> int:
    """A covariance large enough for several threads in one update."""
    X = np.random.default_rng(0).normal(size=(20, 1200))
    y = np.arange(20) % 2
    model = SureClassifier("stdev", covariance="full", n_jobs=2).partial_fit(X, y)
    return _run(
        [
            lambda: model.partial_fit(X, y),
            lambda: model.predict_proba(X[:2]),
            lambda: model.sigma_[0].sum(),
        ]
    )


def main() -> None:
    calls = _watch(2, average=False) + _watch(3, average=True) + _watch_growth() + _watch_full()
    print(f"{calls} calls passed")


if __name__ == "__main__":
    main()
