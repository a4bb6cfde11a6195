"""Rows of many labels for tests: numbers and texts, in every form that labels come in."""

from __future__ import annotations

import io

import numpy as np
from scipy import sparse

from surelearn import SureClassifier, load

#: Labels of texts, in the order of the columns of `indicators`.
NAMES = ["corn", "gold", "oil", "ship", "wheat"]


def data(n=120, *, n_features=12, n_labels=5, seed=0):
    """Rows whose labels follow from their features; some rows have no label."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features)) * (random.random((n, n_features)) < 0.5)
    scores = X @ random.normal(size=(n_features, n_labels)) - 0.8
    return X, (scores > 0).astype(np.int64)


def lists(Y, names=None):
    """The lists of labels of an indicator matrix."""
    names = list(range(Y.shape[1])) if names is None else names
    return [[names[k] for k in np.flatnonzero(row)] for row in Y]


#: The forms of the same labels.
FORMS = {
    "dense": lambda Y: Y,
    "sparse": sparse.csr_array,
    "lists": lists,
}


def texts(n=150, seed=0):
    """Texts about some of the topics, and these topics."""
    random = np.random.default_rng(seed)
    X, topics = [], []
    for _ in range(n):
        about = [name for name in NAMES if random.random() < 0.35]
        words = [*about, *about, *random.choice(["the", "price", "of", "rose", "fell"], 4)]
        X.append(" ".join(random.permutation(words)))
        topics.append(about)
    return X, topics


def model(rule="probit", **params):
    return SureClassifier(rule, **{"random_state": 0, "passes": 3, **params}, scale=False)


def saved(clf):
    """What a file gives back."""
    file = io.BytesIO()
    clf.save(file)
    return load(io.BytesIO(file.getvalue()))


def bits(clf):
    """All that a model has learnt."""
    state = clf.model_.weights.state()
    arrays = [state[name].tobytes() for name in clf.model_.weights.arrays]
    counts = clf.model_.counts.tolist(), clf.mistakes_.tolist(), clf.n_updates_
    return clf.classes_.tolist(), arrays, state["prior"], *counts
