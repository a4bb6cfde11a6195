"""Two hundred answers in the order of the labelling page: our model beside LogisticRegression.

    export SURELEARN_DATA=...               # the folder with the data sets
    python -m experiments.label.run

writes result.csv. Each run draws a pool of 3,000 rows of a set and up to 3,000 others to test on. A
`Session` as the command makes it asks; the answers are the labels of the set. LogisticRegression
learns the same answers on tf-idf, both as scikit-learn has them, and so it does on as many rows
drawn at random.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from experiments import sets
from surelearn.label import Items, Session, Store

RESULT = Path(__file__).parent / "result.csv"
POOL, TEST, ANSWERS, RUNS = 3000, 3000, 200, 3


class Split(NamedTuple):
    """A pool to ask about, and rows to test on."""

    pool: list[str]
    y_pool: np.ndarray
    test: list[str]
    y_test: np.ndarray


def split(corpus: sets.Corpus, run: int) -> Split:
    """A random part of a set; equal texts are there once."""
    texts, first = np.unique(np.array(corpus.texts, dtype=object), return_index=True)
    order = np.random.default_rng(run).permutation(len(texts))
    pool = order[: min(POOL, len(order) // 2)]
    test = order[len(pool) : len(pool) + TEST]
    y = corpus.y[first].astype(str)
    return Split(texts[pool].tolist(), y[pool], texts[test].tolist(), y[test])


def labelled(found: Split, run: int) -> tuple[Any, list[int]]:
    """The model of a session after its answers, and the rows it asked about, in order."""
    items = Items(pa.array(found.pool))
    with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/answers.db") as store:
        session = Session(items, store, sorted(set(found.y_pool)), seed=run)
        asked = []
        for _ in range(ANSWERS):
            question = session.question("ann")
            assert question is not None
            session.answer("ann", question.item, str(found.y_pool[question.item]))
            asked.append(question.item)
        return session.learner.model, asked


def logistic(found: Split, rows: list[int]) -> float:
    """Accuracy of LogisticRegression on tf-idf of these rows."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model.fit([found.pool[i] for i in rows], found.y_pool[rows])
    return float(model.score(found.test, found.y_test))


def one(corpus: sets.Corpus, run: int) -> dict[str, float]:
    """Accuracies of one run."""
    found = split(corpus, run)
    model, asked = labelled(found, run)
    drawn = np.random.default_rng(run).permutation(len(found.pool))[:ANSWERS].tolist()
    return {
        "surelearn": float(model.score(found.test, found.y_test)),
        "LogisticRegression": logistic(found, asked),
        "LogisticRegression, random": logistic(found, drawn),
    }


def main() -> None:
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "run", "model", "accuracy"])
        for name in sets.TEXTS:
            corpus = sets.texts(name)
            for run in range(RUNS):
                for model, accuracy in one(corpus, run).items():
                    writer.writerow([name, run, model, f"{accuracy:.4f}"])
                file.flush()
            print(name, flush=True)


if __name__ == "__main__":
    main()
