"""Reviews in a file, and a model to train on them, for the tests of streams."""

from __future__ import annotations

import json

import numpy as np

from surelearn import SureTextClassifier

TRAIN = """
import sys
from surelearn import SureTextClassifier
from surelearn.read import _lines
_lines.BLOCK = 700
model = SureTextClassifier(n_features=2**10, random_state=0, idf=True, passes={passes})
print("ready", flush=True)
model.fit_stream({source!r}, checkpoint={out!r}, checkpoint_every={every!r}, **{more!r})
"""


WORDS = ["good", "fine", "great", "dull", "bad", "film", "plot", "the", "of", "étude", "naïve"]


def model(**params):
    """It counts documents, so that the texts before each one matter."""
    return SureTextClassifier(
        n_features=2**10, random_state=0, **{"passes": 1, "idf": True, **params}
    )


def records(n, *, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(n):
        k = int(random.integers(n_classes))
        words = [*random.choice(WORDS, 6).tolist(), f"w{k}{random.integers(9)}"]
        yield {"text": " ".join(words), "label": f"class {k}", "weight": float(random.integers(3))}


def topical(n, *, n_labels=4, seed=0):
    """Records with any number of labels, each of which has words of its own."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        own = np.flatnonzero(random.random(n_labels) < 0.35).tolist()
        words = random.choice(WORDS, 5).tolist() + [f"w{k}{random.integers(9)}" for k in own]
        yield {"text": " ".join(words), "label": [f"topic {k}" for k in own]}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def bits(estimator):
    """What was learnt, without the settings that must not matter to it."""
    arrays = [estimator.coef_, estimator.intercept_, estimator.mistakes_, estimator._model.counts]
    if hasattr(estimator, "sigma_"):
        arrays.append(estimator.sigma_)
    if getattr(estimator, "idf", False):
        arrays += map(np.asarray, estimator.vectorizer_.documents_met())
    return [array.tobytes() for array in arrays] + [estimator.classes_.tolist()]


def saved(estimator, path):
    estimator.save(path)
    return path.read_bytes()
