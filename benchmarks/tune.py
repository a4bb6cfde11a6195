"""`tune` against separate fits of the same candidates, two classes and twenty.

Two classes: the matrix of ``binary_pass.py`` (hashed words and pairs of words, 2^22 columns).
Twenty: that of ``multiclass_pass.py`` (20 Newsgroups as bags of words). Both float32, shuffled.

The strict reading is one pass each: `tune` with ``passes=1`` against as many fits with ``passes=1``
as it has candidates, one after the other. The loose one is what the same user would have done
without it: fits with the ten passes that the winner gets. Every fit checks its input anew; a fit
has one thread, `tune` as many as there are cores.
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
from sklearn.base import clone

from surelearn import SureClassifier, tune

REPEATS = {1: 3, 10: 1}
GOAL = 1 / 3


def problems() -> dict[str, tuple[Any, np.ndarray]]:
    X, y = windows()
    texts, labels = newsgroups()
    return {
        "two classes": (X.astype(np.float32), y),
        "20 classes": (matrices(texts)["float32"], np.asarray(labels)),
    }


def apart(base: SureClassifier, candidates: list[dict[str, Any]], X: Any, y: np.ndarray) -> int:
    """Fit every candidate alone, as many times the work as it sounds; the fewest mistakes."""
    return min(_mistakes(clone(base).set_params(**p), X, y) for p in candidates)


def _mistakes(model: SureClassifier, X: Any, y: np.ndarray) -> int:
    try:
        return int(model.fit(X, y).mistakes_[0])
    except ValueError:  # a collapse: `tune` has such candidates too, and ranks them last
        return len(y)


def runs_of(X: Any, y: np.ndarray, passes: int) -> tuple[dict[str, Callable[[], object]], int]:
    base = SureClassifier(passes=passes, random_state=0)
    candidates = tune(clone(base).set_params(passes=1), X, y).table.parameters.tolist()
    runs = {
        "tune": partial(tune, base, X, y),
        "tune, one thread": partial(tune, base, X, y, n_jobs=1),
        "separate fits": partial(apart, base, candidates, X, y),
    }
    return runs, len(candidates)


def claim(name: str, passes: int, times: dict[str, Timing], count: int) -> Claim:
    ours, theirs = times["tune"], times["separate fits"]
    ratio, median = ours.best / theirs.best, ours.median / theirs.median
    work = f"tune, {name}, {count} candidates, passes={passes}"
    figure = f"{ratio:.2f} of the time (medians {median:.2f})"
    return Claim(work, f"{count} separate fits", figure, "<= 1/3", ratio <= GOAL)


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    figures, claims = [], []
    for name, (X, y) in problems().items():
        print(f"{name}: {X.shape[0]:,} rows, {X.nnz:,} non-zeros, {X.shape[1]:,} columns")
        for passes, repeats in REPEATS.items():
            runs, count = runs_of(X, y, passes)
            times = interleaved(runs, repeats, warm=repeats > 1)
            claims.append(claim(name, passes, times, count))
            for run, taken in times.items():
                ratio = taken.best / times["separate fits"].best
                figures.append(
                    {
                        "problem": name,
                        "passes": passes,
                        "run": run,
                        "seconds": round(taken.best, 3),
                        "median seconds": round(taken.median, 3),
                        "ratio": round(ratio, 3),
                    }
                )
    lines = [[str(cell) for cell in figure.values()] for figure in figures]
    show("Candidates side by side", list(figures[0]), lines)
    write("tune", figures, claims, repeats=REPEATS[1])


if __name__ == "__main__":
    main()
