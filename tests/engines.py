"""What the tests of Dask and Spark share: rows in parts, the same model by hand, its bytes."""

from __future__ import annotations

import numpy as np

from surelearn import SureTextClassifier, datasets
from surelearn.learners.partitions import (
    count_documents,
    counted,
    fitted,
    n_rounds,
    shard_state,
)

#: Rows of each part, one of them empty.
SIZES = (120, 60, 0, 90, 130)


def rows():
    """Texts of some libraries and their labels: four classes, at most two of them in a part."""
    texts, labels = datasets.load_docstrings(return_X_y=True)
    places = np.linspace(0, len(texts) - 1, sum(SIZES)).astype(int)
    kinds = np.array([str(label).split(".")[0] for label in labels])
    found, counts = np.unique(kinds, return_counts=True)
    common = found[np.argsort(counts)[-3:]]
    own = [str(kind) if kind in common else "other" for kind in kinds[places]]
    return [str(texts[i]) for i in places], own


def parts(values):
    """The values of each part."""
    ends = np.cumsum(SIZES)
    return [values[end - size : end] for end, size in zip(ends, SIZES, strict=True)]


def text_classifier(**params):
    """A small one that shuffles and counts documents, so that the number of a part and the texts
    of others matter."""
    given = {"n_features": 2**12, "passes": 3, "random_state": 7, "idf": True, **params}
    return SureTextClassifier(**given)


def by_hand(estimator, X, y):
    """Every part learnt here, one after the other, in rounds."""
    model = None
    shards = [(i, part) for i, part in enumerate(zip(parts(X), parts(y), strict=True)) if part[1]]
    documents = counted(count_documents(estimator, *part) for _, part in shards)
    same = {"classes": sorted(set(y)), "documents": documents}
    for _ in range(n_rounds(estimator)):
        states = [
            shard_state(estimator, *part, number=i, prior=model, **same) for i, part in shards
        ]
        model = fitted(estimator, states, prior=model, documents=documents)
    return model


def bytes_of(model, folder):
    """The model as it is saved."""
    model.save(folder / "model.sure")
    return (folder / "model.sure").read_bytes()
