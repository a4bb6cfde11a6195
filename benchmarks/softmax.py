"""Softmax on 20 Newsgroups: SoftmaxClassifier beside scikit-learn's LogisticRegression.

Rows are tf-idf of words. Both minimise the sum of the log losses plus 1/2 |w|^2, intercepts free,
with L-BFGS and two threads. LogisticRegression stops by its defaults (but for the number of
iterations). Ours is given the fewest iterations after which its objective is no higher, so that
both times are those to the same objective; times are those of the whole `fit`, which for ours
includes the variances of the weights. The time of ours with its defaults stands beside them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, ratio_claim, write
from _objective import SAME, compared, fewest, log_losses, newsgroup_rows, timed
from sklearn.linear_model import LogisticRegression

from surelearn import SoftmaxClassifier

REPEATS = 1
THREADS = 2
GOAL = 3


def value(model: Any, X: Any, y: np.ndarray) -> float:
    """The objective, computed from the weights alone."""
    return float(log_losses(model, X, y).sum() + np.sum(model.coef_**2) / 2)


def peer(X: Any, y: np.ndarray) -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(X, y)


def ours(X: Any, y: np.ndarray, **options: Any) -> SoftmaxClassifier:
    fitted: SoftmaxClassifier = SoftmaxClassifier(n_jobs=THREADS, **options).fit(X, y)
    return fitted


def main() -> None:
    X, y = newsgroup_rows()
    theirs = timed(partial(peer, X, y), REPEATS)
    target = value(theirs.model, X, y)
    print(f"LogisticRegression: {theirs.seconds:.1f} s, objective {target:.4f}", flush=True)
    iterations = fewest(partial(ours, X, y), target)
    runs = {
        "LogisticRegression": theirs,
        "SoftmaxClassifier": timed(partial(ours, X, y, max_iter=iterations), REPEATS),
        "SoftmaxClassifier, defaults": timed(partial(ours, X, y), REPEATS),
    }
    figures = compared(
        "20 Newsgroups, softmax", "iterations", runs, lambda model: value(model, X, y)
    )
    about = {"rows": X.shape[0], "features": X.shape[1], "threads": THREADS}
    write("softmax", figures, claims_of(figures), repeats=REPEATS, **about)


def claims_of(figures: list[dict[str, Any]]) -> list[Claim]:
    theirs, mine, default = figures
    work, against = "softmax on 20 Newsgroups", "scikit-learn LogisticRegression"
    above = mine["objective"] / theirs["objective"] - 1
    return [
        ratio_claim(
            f"{work}, to the same objective, two threads", against,
            theirs["seconds"] / mine["seconds"] if above <= SAME else 0.0, GOAL,
        ),
        Claim(
            f"{work}, objective with defaults", f"{against}, {theirs['objective']:.2f}",
            f"{default['objective']:.2f}", f"not above by {SAME:g} of it",
            default["objective"] <= theirs["objective"] * (1 + SAME),
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
