"""A classifier whose answers are given, for the tests of evaluations."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


class Oracle:
    """A classifier whose answers are given: a row is the number of its answer."""

    def __init__(self, classes, p=None, answers=None):
        self.classes_ = np.asarray(classes)
        self.p = p
        self.answers = p.argmax(axis=1) if answers is None else np.asarray(answers)
        if p is not None:
            self.predict_proba = lambda X: self.p[np.asarray(X)[:, 0]]

    def predict(self, X):
        return self.classes_[self.answers[np.asarray(X)[:, 0]]]


def rows(n):
    return np.arange(n)[:, None]


@st.composite
def answered(draw, unknown=True):
    """Classes, labels, answers and probabilities of some rows."""
    n_classes = draw(st.integers(2, 6))
    n = draw(st.integers(1, 40))
    names = [f"c{k}" for k in range(n_classes)] if draw(st.booleans()) else list(range(n_classes))
    strange = ["x", "a"] if isinstance(names[0], str) else [17, -3]
    pool = [*names, *strange] if unknown else names
    y = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    answers = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    seed = draw(st.integers(0, 2**32 - 1))
    p = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.3), n)
    return names, np.array(y), np.array(answers), p
