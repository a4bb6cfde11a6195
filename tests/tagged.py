"""Sentences with tags, in tokens of every kind, and what is in a tagger, for its tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from surelearn import SureTagger, load, rules
from surelearn.constraints import Sequential

TAGS = {
    "the": "D", "a": "D", "old": "A", "big": "A", "dog": "N", "cat": "N", "run": "N",
    "barks": "V", "sleeps": "V", "runs": "V",
}  # fmt: skip
LABELS = ["A", "D", "N", "V"]
PAIRED = ["w[0]", "B:w[0]", "B:w[-1]|w[0]"]
KINDS = ["words", "tuples", "dicts", "lists"]


def corpus(n=30, seed=0):
    """Short sentences; "run" is a verb after a noun."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = [rng.choice(["the", "a"]), *rng.choice(["old", "big"], rng.integers(0, 3))]
        words += [rng.choice(["dog", "cat", "run"]), rng.choice(["barks", "sleeps", "runs"])]
        tags = [TAGS[str(word)] for word in words]
        if rng.random() < 0.4:
            words, tags = [*words[:-1], "run"], [*tags[:-1], "V"]
        X.append([str(word) for word in words])
        y.append(tags)
    return X, y


def as_kind(X, kind):
    """The same sentences in other tokens."""
    make = {
        "words": str,
        "tuples": lambda w: (w, w[-1]),
        "dicts": lambda w: {"w": w, "bias": 1.0, "length": len(w) / 4, "ends": {"s": w[-1] == "s"}},
        "lists": lambda w: [f"w={w}", f"last={w[-1]}", "bias"],
    }[kind]
    return [[make(word) for word in words] for words in X]


def tagger(rule="variance", **options):
    return SureTagger(rule, **{"shuffle": False, "passes": 1, **options})


def content(model):
    """The bytes of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.sure"
        model.save(path)
        return path.read_bytes()


def by_name(model):
    """Every mean, and every variance, by what it is the weight of."""
    labels, found = model.classes_.tolist(), {}
    rounds = model._model.weights.state()["rounds"]
    parts = {"mean": ("coef_", "start_", "end_", "transitions_")}
    if model._model.layout.second_order:
        parts["sigma"] = ("sigma_", "start_sigma_", "end_sigma_", "transitions_sigma_")
    for what, (tokens, start, end, steps) in parts.items():
        for label, row in zip(labels, getattr(model, tokens), strict=True):
            for name, value in zip(model.features_.names, row, strict=True):
                found[what, name, label] = float(value)
        for k, label in enumerate(labels):
            found[what, "start", label] = float(getattr(model, start)[k])
            found[what, "end", label] = float(getattr(model, end)[k])
            for j, after in enumerate(labels):
                found[what, "step", label, after] = float(getattr(model, steps)[k, j])
    return found, rounds


def pieces(X, y, cuts):
    for a, b in zip([0, *cuts], [*cuts, len(X)], strict=True):
        yield X[a:b], y[a:b]


def opened(whole):
    """The model of such bytes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.sure").write_bytes(whole)
        return load(Path(folder) / "m.sure")


def halfway(m, v):
    """A rule of a user: the margin becomes 1, half of the certainty is gained."""
    return (max(0.0, 1.0 - m) / (v + 1.0), 0.5 if m < 1.0 else 0.0)


WAYS = {
    "default": {},
    "pairs": {"templates": PAIRED},
    "hashed pairs": {"templates": PAIRED, "n_features": 64},
    "sequential": {"rule": "arow", "constraints": Sequential(3), "average": False},
    "first order": {"rule": "perceptron", "dtype": "float64"},
    "free of scale": {"rule": "sop", "projection": "covariance", "initial_variance": 2.0},
    "value": {"rule": rules.Stdev(phi=0.5), "n_jobs": 2, "random_state": 3},
    "columns": {"columns": ["v"], "templates": ("v[0]", "v[-1]")},
}
