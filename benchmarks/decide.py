"""What decisions cost on top of `predict_proba`, from texts: processor time, one thread.

Each model learns 3,000 texts, and 2,000 others choose what decisions need: risk, sets, novelty. The
8,000 texts that are then decided upon include the latter; no time depends on it. Ratios are of the
best rounds. What a run made is freed while the clock runs: a decision makes and frees the table
that `predict_proba` returns. MAPIE gives sets from the same probabilities, whose time counts for
both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Claim, interleaved, ratio_claim, show, stop, write
from sklearn.base import BaseEstimator, ClassifierMixin

sys.path.append(str(Path(__file__).parents[1]))
try:
    from mapie.classification import SplitConformalClassifier

    from experiments.decide.data import parts
except ModuleNotFoundError as missing:
    stop(f"{missing.name} must be installed to be measured: pip install '.[bench]'.")

from surelearn import SureTextClassifier

REPEATS = 15
GOAL = 1.2
KEPT_BACK = 2_000
COVERAGE = 0.9
#: How the experiments name each set, and a risk that its model can promise.
SETS = {
    "reviews, 2 classes": ("Amazon reviews", 0.15),
    "titles, 20 classes": ("Stack Overflow titles", 0.15),
    "questions, 150 classes": ("CLINC150", 0.15),
}
BASE, PEER = "predict_proba", "MAPIE, sets"


class Told(ClassifierMixin, BaseEstimator):
    """A fitted classifier of rows that are the probabilities of its classes."""

    def __init__(self, classes: np.ndarray) -> None:
        self.classes = self.classes_ = classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> Told:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[X.argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X


def dropped(ask: Callable[..., object], *args: Any, **how: Any) -> None:
    """Ask, and free the answer."""
    ask(*args, **how)


def runs_on(name: str, risk: float) -> dict[str, Callable[[], Any]]:
    """Every decision on the texts of a set."""
    own = parts(name, 0)
    kept, truth = own.population[:KEPT_BACK], own.truth[:KEPT_BACK]
    clf = SureTextClassifier(random_state=0).fit(own.learnt, own.y)
    clf.choose_abstention(kept, truth, risk=risk).choose_sets(kept, truth).choose_novelty(kept)
    told = Told(clf.classes_)
    peer = SplitConformalClassifier(told, prefit=True, confidence_level=COVERAGE)
    peer.conformalize(clf.predict_proba(kept), truth)
    texts = own.population
    runs: dict[str, Callable[[], object]] = {
        BASE: partial(clf.predict_proba, texts),
        "predict(abstain=True)": partial(clf.predict, texts, abstain=True),
        "predict(cost=)": partial(clf.predict, texts, cost={None: 0.3}),
        "predict(novel=)": partial(clf.predict, texts, novel=0.05),
        "novelty": partial(clf.novelty, texts),
        "predict_set": partial(clf.predict_set, texts, COVERAGE),
        PEER: lambda: peer.predict_set(clf.predict_proba(texts)),
    }
    return {run: partial(dropped, ask) for run, ask in runs.items()}


def main() -> None:
    figures, lines, claims = {}, [], []
    for work, (name, risk) in SETS.items():
        times = interleaved(runs_on(name, risk), REPEATS, clock=time.process_time)
        base = times[BASE].best
        for run, taken in times.items():
            ratio = taken.best / base
            key = f"{work}: {run}"
            figures[key] = {"ms": round(1e3 * taken.best, 1), "times as long": round(ratio, 2)}
            lines.append([key, f"{1e3 * taken.best:.1f}", f"{ratio:.2f}"])
            if run not in (BASE, PEER):
                figure = f"{ratio:.2f}x the time"
                goal = f"<= {GOAL:g}x the time"
                claims.append(Claim(key, BASE, figure, goal, ratio <= GOAL))
        faster = times[PEER].best / times["predict_set"].best
        claims.append(ratio_claim(f"{work}: predict_set", "MAPIE, same probabilities", faster, 1))
    show("Decisions", ["what", "ms", "of predict_proba"], lines)
    write("decide", figures, claims, repeats=REPEATS)


if __name__ == "__main__":
    main()
