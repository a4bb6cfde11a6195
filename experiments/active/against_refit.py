"""Labels that a pool needs, against LogisticRegression refitted after every ten answers: README.md.

    python -m experiments.active.against_refit [learner ...]

Writes refit.csv beside this file, a line for each run of a learner. Runs that it has are kept:
delete the lines of a learner to run it again.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from experiments import sets, tables
from surelearn import SureTextClassifier
from surelearn.active import Pool, query

RESULT = Path(__file__).parent / "refit.csv"
#: Every set of texts but those that are parts of another.
NAMES = tuple(name for name in sets.TEXTS if name not in ("Amazon 7", "Amazon 3"))
RUNS, ROWS, TESTED = 3, 3000, 2000
LABELS, EVERY = 1000, 10
#: Answers that LogisticRegression learns as well, to compare models of the same answers.
SAME = 200


class Task(NamedTuple):
    """A pool and texts to test on, no text twice."""

    pool: list[str]
    y: np.ndarray
    test: list[str]
    y_test: np.ndarray
    seed: int

    def accuracy(self, predicted: np.ndarray) -> float:
        return float(np.mean(predicted == self.y_test))


class Curve(NamedTuple):
    """Accuracy with all labels, and after every ten; that of another model of the same answers."""

    full: float
    accuracy: list[float]
    same: float = float("nan")


def task(name: str, seed: int) -> Task:
    """A random pool of 3,000 texts, or three fifths of a smaller set, and 2,000 others at most."""
    corpus = sets.texts(name)
    once = np.unique(sets.numbered(corpus.texts), return_index=True)[1]
    rows = np.random.default_rng(seed).permutation(once)[: ROWS + TESTED]
    cut = min(ROWS, 3 * len(rows) // 5)
    sides = (rows[:cut], rows[cut:])
    pool, test = (([corpus.texts[i] for i in side], corpus.y[side]) for side in sides)
    return Task(*pool, *test, seed)


def ours(task: Task) -> Curve:
    """A pool as it comes: it asks for one label at a time."""
    model = SureTextClassifier()
    pool = Pool(model, task.pool, random_state=task.seed)
    accuracy, same = [], float("nan")
    for n in range(1, min(LABELS, len(task.pool)) + 1):
        (row,) = pool.ask()
        pool.tell(row, task.y[row])
        if n % EVERY == 0:
            accuracy.append(task.accuracy(model.predict(task.test)))
        if n == SAME:
            same = _of_the_same(task, [answer.row for answer in pool.answers])
    full = SureTextClassifier(random_state=task.seed).fit(task.pool, task.y)
    return Curve(task.accuracy(full.predict(task.test)), accuracy, same)


def _of_the_same(task: Task, rows: list[int]) -> float:
    """Accuracy of LogisticRegression on tf-idf of these answers."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model.fit([task.pool[row] for row in rows], task.y[rows])
    return task.accuracy(model.predict(task.test))


def refitted(task: Task) -> Curve:
    """LogisticRegression on tf-idf of the pool: the ten least confident rows are asked together."""
    words = TfidfVectorizer()
    X, test = words.fit_transform(task.pool), words.transform(task.test)
    model = LogisticRegression()
    asked = list(np.random.default_rng(task.seed).permutation(len(task.y))[:EVERY])
    accuracy = []
    while True:
        # Words that no answer has keep weight 0: without them the same model is found sooner.
        used = np.unique(X[asked].indices)
        known = len(np.unique(task.y[asked])) > 1
        if known:
            model.fit(X[asked][:, used], task.y[asked])
            guess = model.predict(test[:, used])
        else:
            guess = np.repeat(task.y[asked[:1]], len(task.y_test))
        accuracy.append(task.accuracy(guess))
        if len(asked) >= min(LABELS, len(task.y)):
            break
        left = np.setdiff1d(np.arange(len(task.y)), asked)
        how, n = "least-confident" if known else "random", min(EVERY, len(left))
        best = query(model, X[left][:, used], n, how, random_state=len(asked))
        asked += left[best].tolist()
    return Curve(task.accuracy(model.fit(X, task.y).predict(test)), accuracy)


LEARNERS: dict[str, Callable[[Task], Curve]] = {"Pool": ours, "LogisticRegression": refitted}


def missing(learners: list[str]) -> Iterator[tuple[int, str, str]]:
    """Runs that the result does not have yet."""
    have = {(line["run"], line["set"], line["learner"]) for line in _kept()}
    for run in range(RUNS):
        for name in NAMES:
            for learner in learners:
                if (str(run), name, learner) not in have:
                    yield run, name, learner


def _kept() -> list[dict[str, Any]]:
    return list(tables.lines(RESULT)) if RESULT.exists() else []


def _written(lines: list[dict[str, Any]]) -> None:
    lines.sort(key=lambda line: (NAMES.index(line["set"]), int(line["run"]), line["learner"]))
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main(learners: list[str]) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # LogisticRegression as it comes
    for run, name, learner in missing(learners or list(LEARNERS)):
        found = LEARNERS[learner](task(name, run))
        line = {
            "set": name,
            "run": run,
            "learner": learner,
            "full": f"{found.full:.4f}",
            "same": f"{found.same:.4f}",
            "accuracy": " ".join(f"{accuracy:.4f}" for accuracy in found.accuracy),
        }
        _written([*_kept(), line])
        print(run, name, learner, line["full"], f"{found.accuracy[-1]:.4f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
