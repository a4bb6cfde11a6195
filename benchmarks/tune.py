"""`tune` against scikit-learn's search over the same candidates, two classes and twenty.

Two classes: the matrix of ``binary_pass.py`` (hashed words and pairs of words, 2^22 columns).
Twenty: that of ``multiclass_pass.py`` (20 Newsgroups as bags of words). Both float32, shuffled.

`GridSearchCV` trains every candidate on five folds and fits the best; `tune` keeps back a tenth of
the rows for all candidates, and so trains each about once. Both make the passes of the default, on
as many cores as there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, newsgroups, show, write
from binary_pass import windows
from multiclass_pass import matrices
from sklearn.model_selection import GridSearchCV

from surelearn import SureClassifier, tune

REPEATS = 1
GOAL = 1 / 3


def problems() -> dict[str, tuple[Any, np.ndarray]]:
    X, y = windows()
    texts, labels = newsgroups()
    return {
        "two classes": (X.astype(np.float32), y),
        "20 classes": (matrices(texts)["float32"], np.asarray(labels)),
    }


def searched(base: SureClassifier, candidates: list[dict[str, Any]], X: Any, y: np.ndarray) -> Any:
    """The same candidates by scikit-learn."""
    grid = [{name: [value] for name, value in one.items()} for one in candidates]
    return GridSearchCV(base, grid, cv=5, n_jobs=-1, error_score=0.0).fit(X, y)


def runs_of(X: Any, y: np.ndarray) -> tuple[dict[str, Callable[[], object]], int]:
    base = SureClassifier(random_state=0)
    some = slice(None, None, len(y) // 500)  # of all classes: rows may be sorted by them
    candidates = tune(base, X[some], y[some]).table.parameters.tolist()
    runs = {
        "tune": partial(tune, base, X, y, n_jobs=-1),
        "tune, one thread": partial(tune, base, X, y, n_jobs=1),
        "GridSearchCV": partial(searched, base, candidates, X, y),
    }
    return runs, len(candidates)


def claim(name: str, times: dict[str, Timing], count: int) -> Claim:
    ratio = times["tune"].best / times["GridSearchCV"].best
    work = f"tune, {name}, {count} candidates"
    figure = f"{ratio:.2f} of the time"
    return Claim(work, "GridSearchCV, five folds", figure, "<= 1/3", ratio <= GOAL)


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    figures, claims = [], []
    for name, (X, y) in problems().items():
        print(f"{name}: {X.shape[0]:,} rows, {X.nnz:,} non-zeros, {X.shape[1]:,} columns")
        runs, count = runs_of(X, y)
        times = interleaved(runs, REPEATS, warm=False)
        claims.append(claim(name, times, count))
        for run, taken in times.items():
            ratio = taken.best / times["GridSearchCV"].best
            cells = {"problem": name, "run": run, "seconds": round(taken.best, 3)}
            figures.append({**cells, "ratio": round(ratio, 3)})
    lines = [[str(cell) for cell in figure.values()] for figure in figures]
    show("A search over candidates", list(figures[0]), lines)
    write("tune", figures, claims, repeats=REPEATS)


if __name__ == "__main__":
    main()
