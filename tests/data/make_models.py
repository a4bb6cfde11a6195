"""Files of every kind of model as this version writes them, and what they answer.

    python tests/data/make_models.py

Files that are there already stay as they are: they are what a version wrote at its time.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from surelearn import (
    CRFTagger,
    GraphCRF,
    GraphSVM,
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureKernelClassifier,
    SureTableClassifier,
    SureTagger,
    SureTextClassifier,
    SVMTagger,
    __version__,
    rules,
)
from surelearn.files import FORMAT_VERSION
from surelearn.graph import Graph
from surelearn.learners import Tagger

FOLDER = Path(__file__).parent / "models"

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "so odd", "an odd plot"]
TOKENS = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "run"], ["dogs", "run"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"], ["N", "V"]]

ROWS = [
    {"title": "a great film", "brand": "Acme", "price": 12.5, "sold": "2024-01-02"},
    {"title": "great fun", "brand": "Acme", "price": 7.0, "sold": "2024-02-03"},
    {"title": "a dull film", "brand": None, "price": 3.25, "sold": "2023-12-24"},
    {"title": "how dull", "brand": "Bell", "price": None, "sold": "2023-11-30"},
]

GRAPHS = [
    {"nodes": [[1.0], [0.5], [-0.2]], "edges": [[0, 1], [1, 2]], "edge_types": ["same", "other"]},
    {"nodes": [[-1.0], [0.0], [0.1]], "edges": [[0, 1], [0, 2]], "edge_types": ["same", "same"]},
]


def numbers(n_classes):
    """Rows of four features, rounded, and labels that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(3)
    return X, np.digitize(X @ [1.0, -1.0, 0.5, 0.0], [-0.7, 0.5, 1.2][: n_classes - 1])


def models():
    X, y = numbers(2)
    two = SureClassifier("arow", average=True, dtype="float64", random_state=0)
    yield "two-classes-averaged", X, two.fit(X, y)
    X, y = numbers(3)
    clf = SureClassifier(rules.Stdev(phi=0.5), random_state=0).fit(X, np.array(list("abc"))[y])
    yield "three-classes", X, clf.calibrate(X, np.array(list("abc"))[y])
    yield "full", X, SureClassifier("scw1", covariance="full", random_state=0).fit(X, y)
    kernel = SureKernelClassifier("stdev", multiclass="ovo", budget=20, random_state=0)
    yield "kernel", X, kernel.fit(X, np.array(list("abc"))[y])
    X, y = numbers(4)
    yield "ecoc", X, SureClassifier("pa1", multiclass="ecoc", random_state=0).fit(X, y)
    text = SureTextClassifier(ngram_range=(1, 2), n_features=2**10, random_state=0)
    yield "text-classifier", TEXTS, text.fit(TEXTS, [1, 1, 0, 0, 2, 2])
    rare = SureTextClassifier("arow", idf=True, n_features=2**8, random_state=0)
    yield "text-classifier-idf", TEXTS, rare.fit(TEXTS, [1, 1, 0, 0, 2, 2])
    tagger = SureTagger(templates=["w[0]", "w[-1]", "B:w[0]"], random_state=0)
    yield "tagger", TOKENS, tagger.fit(TOKENS, TAGS)
    X, y = numbers(3)
    scaled = SureClassifier(random_state=0).partial_fit(X * [1e3, 1, 1e-3, 1], y)
    yield "scaled", X * [1e3, 1, 1e-3, 1], scaled
    table = SureTableClassifier(interactions=[("brand", "title")], n_features=64, random_state=0)
    yield "table-classifier", ROWS, table.fit(ROWS, ["yes", "yes", "no", "no"])
    yield from batch_models()


def batch_models():
    X, y = numbers(3)
    yield "softmax", X, SoftmaxClassifier(l2=0.5).fit(X, np.array(list("abc"))[y])
    yield "multiclass-svm", X, MulticlassSVM(random_state=0).fit(X, y)
    templates = ["w[0]", "w[-1]", "B:w[0]"]
    yield "crf-tagger", TOKENS, CRFTagger(l1=0.01, templates=templates).fit(TOKENS, TAGS)
    svm = SVMTagger(cost=1.0 - np.eye(3), templates=templates, random_state=0)
    yield "svm-tagger", TOKENS, svm.fit(TOKENS, TAGS)
    labels = [["a", "a", "b"], ["b", "b", "b"]]
    graphs = [Graph(**one) for one in GRAPHS]
    yield "graph-crf", GRAPHS, GraphCRF(l2=0.1).fit(graphs, labels)
    yield "graph-svm", GRAPHS, GraphSVM(directed=False, random_state=0).fit(graphs, labels)


def answers(model, X):
    """What a reader must come to."""
    said = {"classes": model.classes_.tolist()}
    if hasattr(model, "rule"):
        said["rule"] = repr(model.rule)
    if isinstance(model, Tagger):
        chains = [model.chain(x) for x in X]
        scores = [{"U": c.U.tolist(), "A": c.A.tolist()} for c in chains]
        return {**said, "X": X, "scores": scores, "predicted": model.predict(X)}
    if X is GRAPHS:
        graphs = [Graph(**one) for one in X]
        scores = [own.tolist() for own in model.margin(graphs)[0]]
        predicted = [own.tolist() for own in model.predict(graphs)]
        return {**said, "X": X, "scores": scores, "predicted": predicted}
    rows = X[:6].tolist() if isinstance(X, np.ndarray) else X
    scores = model.decision_function(rows).tolist()
    return {**said, "X": rows, "scores": scores, "predicted": model.predict(rows).tolist()}


def main():
    for name, X, model in models():
        path = FOLDER / f"{__version__}-format{FORMAT_VERSION}-{name}.sure"
        if not path.exists():
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model, X), indent=1))


if __name__ == "__main__":
    main()
