"""Pools of digits and of texts, and answers to their questions."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from surelearn.active import Pool

WORDS = ["great", "dull", "odd", "film", "new", "plot", "fine", "poor", "cast", "long"]


def digits(n_classes: int, n: int = 300):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order] / 16, y[order]


def teach(pool: Pool, y, n: int, at_once: int = 1) -> list[int]:
    asked: list[int] = []
    for _ in range(n):
        rows = pool.ask(at_once)
        pool.tell(rows, np.asarray(y)[rows])
        asked += rows.tolist()
    return asked


def texts(n: int = 60):
    words = np.random.default_rng(1).choice(WORDS, (n, 4))
    return [" ".join(row) for row in words], ["fine" in row or "great" in row for row in words]


def bytes_of(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    return path.read_bytes()
