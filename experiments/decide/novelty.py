"""Questions of none of CLINC150's intents: how many are found? README.md. Writes novelty.csv.

Threshold and score are chosen on `val` and `oos_val`, and judged on `test` and `oos_test`. Of the
questions with an intent, one point fewer may be answered rightly.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from experiments import sets, tables
from surelearn import SureClassifier, SureTextClassifier
from surelearn.datasets import find

HERE = Path(__file__).parent
SEEDS = 5
DROP = 0.01

Array = NDArray[np.float64]
Split = dict[str, Any]


def data() -> tuple[dict[str, list[str]], dict[str, Array], dict[str, NDArray[Any]]]:
    """Texts, embeddings and labels of each split."""
    found = sets.records("clinc150.jsonl.xz")
    X = np.load(find("embeddings/clinc150.npy")).astype(np.float32)
    split = np.array([r["split"] for r in found])
    y = np.array([r["label"] for r in found])
    texts = np.array([r["text"] for r in found], dtype=object)
    names = dict.fromkeys(split.tolist())
    return (
        {name: texts[split == name].tolist() for name in names},
        {name: X[split == name] for name in names},
        {name: y[split == name] for name in names},
    )


def threshold(novelty: Array, right: NDArray[np.bool_]) -> float:
    """The largest novelty that is answered if one point fewer may be right."""
    wanted = right.mean() - DROP
    order = np.argsort(novelty, kind="stable")
    answered = np.cumsum(right[order]) / len(right)
    return float(novelty[order][np.argmax(answered >= wanted - 1e-12)])


def judged(known: dict[str, Array], right: dict[str, NDArray[np.bool_]]) -> dict[str, float]:
    """Shares of foreign questions that are found, by novelty of each split."""
    chosen = threshold(known["val"], right["val"])
    on_test = threshold(known["test"], right["test"])
    answered = right["test"] & (known["test"] <= chosen)
    both = np.concatenate([known["test"], known["oos_test"]])
    foreign = np.r_[np.zeros(len(known["test"])), np.ones(len(known["oos_test"]))]
    return {
        "right %": 100 * float(right["test"].mean()),
        "found %": 100 * float(np.mean(known["oos_test"] > chosen)),
        "lost points": 100 * float(right["test"].mean() - answered.mean()),
        "found at -1 %": 100 * float(np.mean(known["oos_test"] > on_test)),
        "AUROC": float(roc_auc_score(foreign, both)),
    }


def ours(clf: Any, X: dict[str, Any], y: dict[str, Any]) -> dict[str, float]:
    clf.fit(X["train"], y["train"])
    clf.choose_novelty(X["val"], foreign=X["oos_val"])
    names = ("val", "test", "oos_test")
    right = {name: clf.predict(X[name]) == y[name] for name in ("val", "test")}
    return judged({name: clf.novelty(X[name]) for name in names}, right)


def rival(model: Any, X: dict[str, Any], y: dict[str, Any]) -> dict[str, float]:
    """LogisticRegression with its largest raw score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X["train"], y["train"])
    names = ("val", "test", "oos_test")
    right = {name: model.predict(X[name]) == y[name] for name in ("val", "test")}
    return judged({name: -model.decision_function(X[name]).max(axis=1) for name in names}, right)


def main() -> None:
    texts, X, y = data()
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(texts["train"])
    tfidf = {name: vectorizer.transform(own) for name, own in texts.items()}
    lines = []
    for features, own, make, rows in (
        ("text", texts, SureTextClassifier, tfidf),
        ("embeddings", X, SureClassifier, X),
    ):
        found = [ours(make(random_state=seed), own, y) for seed in range(SEEDS)]
        lines.append(_line(features, "surelearn", found))
        for C in (1.0, 10.0, 30.0):
            model = LogisticRegression(C=C, max_iter=300)
            lines.append(_line(features, f"LogisticRegression, C={C:g}", [rival(model, rows, y)]))
    tables.save(HERE / "novelty.csv", lines)


def _line(features: str, who: str, found: list[dict[str, float]]) -> dict[str, Any]:
    line: dict[str, Any] = {"features": features, "who": who, "seeds": len(found)}
    for key in found[0]:
        digits = 4 if key == "AUROC" else 1
        line[key] = f"{np.mean([one[key] for one in found]):.{digits}f}"
    print(*line.values(), flush=True)
    return line


if __name__ == "__main__":
    main()
