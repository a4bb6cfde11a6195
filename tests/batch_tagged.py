"""Batch taggers next to the slow losses of the reference, for their tests."""

from __future__ import annotations

import numpy as np

from reference import losses
from surelearn import CRFTagger, SVMTagger
from tagged import PAIRED

SMALL = ["w[0]", "w[-1]"]
TEMPLATES = {"steps": SMALL, "pairs": PAIRED}
TAGGERS = {"crf": CRFTagger, "svm": SVMTagger}


def crf(**options):
    return CRFTagger(**{"templates": SMALL, "dtype": "float64", "tol": 1e-10, **options})


def svm(**options):
    given = {"templates": SMALL, "dtype": "float64", "tol": 1e-6, "max_iter": 10_000}
    return SVMTagger(**{**given, "random_state": 0, **options})


def examples(model, X, y, *, weight=None, cost=None):
    """All paths of each sequence, as the reference lists them."""
    weight = np.ones(len(X)) if weight is None else weight
    chains = [_chain(model, *one) for one in zip(X, y, weight, strict=True)]
    return losses.of_chains(chains, len(model.classes_), cost=cost)


def _chain(model, x, tags, weight):
    found = model.features_.transform([x])
    pairs = np.zeros((len(x), 0)) if found.pairs is None else found.pairs.toarray()
    labels = model.classes_.tolist()
    return losses.Chain(found.X.toarray(), pairs, [labels.index(tag) for tag in tags], weight)


def flat(model, what="means"):
    """Means or variances of a model, as the reference numbers its weights."""
    return getattr(model.model_.weights, what).T.astype(float).ravel()
