"""Two shards on two cores beside the same two on one: whole `fit`, threads the only difference.

It is what a second core gains for the same work; `scaling.py` compares shards with one model.

Two classes: the matrix of ``binary_pass.py`` (windows of 20 Newsgroups, words and pairs of words).
Twenty: that of ``multiclass_pass.py`` (20 Newsgroups as bags of words). Both float32, shuffled,
in ten passes, and in one, where checks of the input and
the merging, which one thread does, weigh most. Texts: 20 Newsgroups as they are, hashed by
shards too. The model of two threads must have the bytes of that of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _measure import interleaved, newsgroups, ratio_claim, show, write
from binary_pass import windows
from multiclass_pass import matrices

from surelearn import SureClassifier, SureTextClassifier

REPEATS = 7
GOAL = 1.85
AGAINST = "the same shards on one core"
PASSES = 10


class Work(NamedTuple):
    """What is learnt, and by what kind of estimator."""

    kind: type[SureClassifier]
    X: Any
    y: np.ndarray

    def fit(self, n_jobs: int, passes: int, n_shards: int = 2) -> SureClassifier:
        clf = self.kind(n_shards=n_shards, n_jobs=n_jobs, passes=passes, random_state=0)
        return clf.fit(self.X, self.y)


def works() -> dict[str, Work]:
    X, y = windows()
    texts, labels = newsgroups()
    groups = np.asarray(labels)
    return {
        "2 classes": Work(SureClassifier, X.astype(np.float32), y),
        "20 classes": Work(SureClassifier, matrices(texts)["float32"], groups),
        "20 classes, texts": Work(SureTextClassifier, texts, groups),
    }


def same(work: Work, passes: int) -> bool:
    one, two = (work.fit(n_jobs, passes) for n_jobs in (1, 2))
    return one.coef_.tobytes() == two.coef_.tobytes() and one.sigma_.tobytes() == (
        two.sigma_.tobytes()
    )


def main() -> None:
    figures, claims = [], []
    for name, work in works().items():
        if not same(work, 1):
            raise SystemExit(f"{name}: two threads must give the bytes of one.")
        for passes in (PASSES, 1):
            runs: dict[str, Callable[[], object]] = {
                "one core": lambda: work.fit(1, passes),  # noqa: B023
                "two cores": lambda: work.fit(2, passes),  # noqa: B023
                "no shards": lambda: work.fit(1, passes, 1),  # noqa: B023
            }
            times = interleaved(runs, REPEATS, warm=False)
            one, two, whole = (times[key] for key in runs)
            figures.append(
                {
                    "work": name,
                    "passes": passes,
                    "no shards, seconds": round(whole.best, 4),
                    "one core, seconds": round(one.best, 4),
                    "two cores, seconds": round(two.best, 4),
                    "ratio": round(one.best / two.best, 2),
                    "ratio of medians": round(one.median / two.median, 2),
                }
            )
            if passes == PASSES:
                ratio, middle = one.best / two.best, one.median / two.median
                work_name = f"two shards on two cores, {name}, {PASSES} passes"
                claims.append(ratio_claim(work_name, AGAINST, ratio, GOAL, median=middle))
    header = ["work", "passes", "no shards s", "one core s", "two cores s", "ratio", "of medians"]
    lines = [[str(value) for value in figure.values()] for figure in figures]
    show("Two shards on two cores", header, lines)
    write("two_cores", figures, claims, repeats=REPEATS)


if __name__ == "__main__":
    main()
