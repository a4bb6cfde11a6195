"""From raw texts to a trained classifier: SureTextClassifier beside scikit-learn's pipeline.

20 Newsgroups, a fifth of every class held out. scikit-learn: `HashingVectorizer` and
`SGDClassifier` with their defaults, and the same with five passes. One thread on both sides, texts
in memory; accuracy on the held-out texts beside the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, interleaved, newsgroups, ratio_claim, show, write
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from surelearn import SureTextClassifier

REPEATS = 3


def contestants() -> dict[str, Any]:
    return {
        "surelearn": SureTextClassifier(random_state=0),
        "surelearn, one pass": SureTextClassifier(passes=1, random_state=0),
        "scikit-learn": make_pipeline(HashingVectorizer(), SGDClassifier(random_state=0)),
        "scikit-learn, five passes": make_pipeline(
            HashingVectorizer(), SGDClassifier(max_iter=5, tol=None, random_state=0)
        ),
    }


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    texts, labels = newsgroups()
    train, test, y_train, y_test = train_test_split(
        texts, np.asarray(labels), test_size=0.2, stratify=labels, random_state=0
    )
    models = contestants()
    runs: dict[str, Callable[[], object]] = {
        name: partial(model.fit, train, y_train) for name, model in models.items()
    }
    times = interleaved(runs, REPEATS, warm=False)
    right = {name: float(model.score(test, y_test)) for name, model in models.items()}
    ours = times["surelearn"].best
    figures = [
        {
            "contestant": name,
            "seconds": round(taken.best, 4),
            "accuracy": round(right[name], 4),
            "ratio": round(taken.best / ours, 2),
        }
        for name, taken in times.items()
    ]
    lines = [
        [f["contestant"], f"{f['seconds']:.3f}", f"{100 * f['accuracy']:.2f}", f"{f['ratio']:.1f}"]
        for f in figures
    ]
    show("Texts to a classifier", ["contestant", "s", "accuracy %", "times ours"], lines)
    work = "fit on the texts of 20 Newsgroups"
    peer = "scikit-learn HashingVectorizer + SGDClassifier"
    ratio = times["scikit-learn"].best / ours
    better = right["surelearn"] >= right["scikit-learn"]
    claims = [
        ratio_claim(work, peer, ratio, 12),
        Claim(f"{work}, accuracy", peer,
              f"{100 * right['surelearn']:.2f} beside {100 * right['scikit-learn']:.2f} %",
              "not below", better),
    ]  # fmt: skip
    write("text_fit", figures, claims, repeats=REPEATS, texts=len(train))


if __name__ == "__main__":
    main()
