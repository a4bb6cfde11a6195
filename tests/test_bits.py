"""Promise 2: the same input gives the same bytes on every x86-64 machine.

The sums below were taken once. They hold for every build of one source: with AVX2 or without, as
released or slowed down by sanitizers (which run this file too). A change of the arithmetic that is
meant changes them; one that is not is a bug.
"""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from surelearn import SureClassifier, rules

SUMS = Path(__file__).parent / "data" / "bits.json"


def numbers(count, seed):
    """Whole numbers from a congruential generator, which no library will ever change."""
    out, x = [], seed
    for _ in range(count):
        x = (6364136223846793005 * x + 1442695040888963407) % 2**64
        out.append(x >> 33)
    return np.array(out)


def problem(n_classes):
    n, d, k = 400, 300, 17
    index = numbers(n * k, 1) % d
    value = (numbers(n * k, 2) % 1000 - 500) / 128 + 1 / 1024
    X = sparse.csr_matrix((value, index, np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    return X, (np.asarray(X[:, :n_classes].sum(axis=1)).ravel() * 8).astype(int) % n_classes


def digest(name, n_classes, dtype):
    X, y = problem(n_classes)
    clf = SureClassifier(name, projection="covariance", dtype=dtype, average=True, shuffle=False)
    clf.set_params(passes=2).fit(X, y)
    state = clf._model.weights.state()
    return hashlib.sha256(state["features"].tobytes() + state["cells"].tobytes()).hexdigest()[:16]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
@pytest.mark.parametrize("name", rules.RULES)
def test_bits_are_those_of_every_machine(name):
    known = json.loads(SUMS.read_text())
    for n_classes in (2, 5):
        for dtype in ("float32", "float64"):
            key = f"{name}, {n_classes} classes, {dtype}"
            assert digest(name, n_classes, dtype) == known[key], key
