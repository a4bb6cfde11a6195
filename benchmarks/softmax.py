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
from _measure import Claim, Timing, interleaved, ratio_claim, show, write
from _objective import SAME, fewest, log_losses, newsgroup_rows, quietly
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
    theirs = peer(X, y)
    target = value(theirs, X, y)
    print(f"LogisticRegression: {theirs.n_iter_[0]} iterations, objective {target:.4f}")
    enough = partial(ours, X, y, tol=1e-9)
    iterations = fewest(enough, target, 80)
    reached = quietly(partial(enough, max_iter=iterations))
    own = value(reached, X, y)
    runs = {
        "LogisticRegression": partial(peer, X, y),
        "SoftmaxClassifier": lambda: quietly(partial(enough, max_iter=iterations)),
        "SoftmaxClassifier, defaults": partial(ours, X, y),
    }
    times = interleaved(runs, REPEATS, warm=False)
    default = ours(X, y)
    objectives = {
        "LogisticRegression": (int(theirs.n_iter_[0]), target),
        "SoftmaxClassifier": (iterations, own),
        "SoftmaxClassifier, defaults": (default.n_iter_, value(default, X, y)),
    }
    report(times, objectives, {"rows": X.shape[0], "features": X.shape[1]})


def report(
    times: dict[str, Timing], objectives: dict[str, tuple[int, float]], about: dict[str, int]
) -> None:
    lines = [
        [who, f"{times[who].best:.2f}", str(n), f"{own:.3f}"]
        for who, (n, own) in objectives.items()
    ]
    show("20 Newsgroups, softmax", ["", "seconds", "iterations", "objective"], lines)
    theirs, mine = times["LogisticRegression"], times["SoftmaxClassifier"]
    target, own = (objectives[who][1] for who in ("LogisticRegression", "SoftmaxClassifier"))
    default = objectives["SoftmaxClassifier, defaults"][1]
    work, against = "softmax on 20 Newsgroups", "scikit-learn LogisticRegression"
    claims = [
        ratio_claim(
            f"{work}, to the same objective, two threads", against, theirs.best / mine.best, GOAL,
            median=theirs.median / mine.median,
        ),
        Claim(
            f"{work}, objective with defaults", f"{against}, {target:.2f}", f"{default:.2f}",
            f"not above by {SAME:g} of it", default <= target * (1 + SAME),
        ),
    ]  # fmt: skip
    assert own <= target * (1 + 1e-9)
    figures = [
        {"contestant": who, "seconds": round(times[who].best, 3), "iterations": n, "objective": own}
        for who, (n, own) in objectives.items()
    ]
    write("softmax", figures, claims, repeats=REPEATS, threads=THREADS, **about)


if __name__ == "__main__":
    main()
