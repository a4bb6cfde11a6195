"""The next question from a pool of 100,000 sparse rows, scored in the core with all cores.

Rows have some 60 features of 2**18, as frequent as words are. "query" takes a matrix that it has
to look through first; a `Pool` has looked before, and scores a tenth of its rows for each question.
A batch of 20 is chosen so that its rows differ. The model has learnt 3,000 of the rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _measure import Claim, interleaved, show, write
from scipy import sparse

from surelearn import SureClassifier
from surelearn.active import Pool, query

ROWS, FEATURES, WORDS = 100_000, 2**18, 75
LEARNT = 3_000
REPEATS = 9
GOAL = 0.1


def rows() -> sparse.csr_matrix:
    """Rows of distinct words, their ranks falling off as a power, in places without order."""
    random = np.random.default_rng(0)
    ranks = np.minimum(random.pareto(0.7, ROWS * WORDS) * 20, FEATURES - 1).astype(np.int64)
    places = (ranks * 2654435761) % FEATURES
    numbers = np.repeat(np.arange(ROWS), WORDS)
    X = sparse.csr_matrix(
        (np.ones(len(places), np.float32), (numbers, places)), shape=(ROWS, FEATURES)
    )
    X.sum_duplicates()
    X.data[:] = 1.0
    return X


def main() -> None:
    X = rows()
    figures, lines, claims = {}, [], []
    for n_classes in (2, 20):
        y = np.random.default_rng(1).integers(0, n_classes, LEARNT)
        clf = SureClassifier(random_state=0, n_jobs=-1).fit(X[:LEARNT], y)
        pool = Pool(clf, X)
        runs = {
            "query": partial(query, clf, X),
            "Pool.ask": pool.ask,
            "batch of 20": partial(query, clf, X, 20, batch=True),
        }
        times = interleaved(runs, REPEATS)
        for name, taken in times.items():
            key = f"{n_classes} classes, {name}"
            figures[key] = {
                "best ms": round(1e3 * taken.best, 1),
                "median ms": round(1e3 * taken.median, 1),
            }
            lines.append([key, f"{1e3 * taken.best:.1f}", f"{1e3 * taken.median:.1f}"])
        best = times["query"].best
        claims.append(
            Claim(
                f"next question from 100,000 rows, {n_classes} classes",
                "-",
                f"{1e3 * best:.0f} ms",
                f"< {1e3 * GOAL:.0f} ms",
                best < GOAL,
            )
        )
    show("Next question from a pool", ["what", "best ms", "median ms"], lines)
    write("query", figures, claims, repeats=REPEATS, rows=ROWS, non_zeros=int(X.nnz))


if __name__ == "__main__":
    main()
