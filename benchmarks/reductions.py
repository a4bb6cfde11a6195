"""20 classes as problems of two, in one pass: surelearn's codes beside scikit-learn's reductions.

Rows are hashed words of length 1 (2^18 columns, no signs). surelearn learns all problems of a row
while its features are at hand; scikit-learn makes a pass for each. One-vs-rest beside
`SGDClassifier`, which does it by itself, and beside `OneVsRestClassifier` around it; all pairs
beside `OneVsOneClassifier`. One thread on both sides, whole `fit`, rows shuffled by each contestant
with the same seed; one-vs-rest also with two threads on both sides.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from _measure import Timing, interleaved, newsgroups, ratio_claim, show, write
from binary_pass import one_fit
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from surelearn import SureClassifier, rules

REPEATS = 9
OURS = {
    "Variance(phi=1)": rules.Variance(phi=1),
    "AROW(r=1)": rules.AROW(r=1),
    "PA1(C=1)": rules.PA1(),
}
#: What ours are measured by, and the goal.
PEERS = {
    "ovr": {"SGDClassifier": 6, "OneVsRestClassifier(SGD)": 6, "OneVsRestClassifier(PA1)": 6},
    "ovr in two threads": {"SGDClassifier(n_jobs=2)": 5},
    "ovo": {"OneVsOneClassifier(SGD)": 1.9},
}
NAMES = {
    "ovr": "one-vs-rest, 20 problems",
    "ovr in two threads": "one-vs-rest, 20 problems, two threads",
    "ovo": "all pairs, 190 problems",
}


def theirs() -> dict[str, Any]:
    """scikit-learn's contestants by name."""
    sgd = SGDClassifier(max_iter=1, tol=None, random_state=0)
    pa1 = SGDClassifier(
        max_iter=1, tol=None, random_state=0, penalty=None, learning_rate="pa1", eta0=1.0
    )
    return {
        "SGDClassifier": sgd,
        "SGDClassifier(n_jobs=2)": clone(sgd).set_params(n_jobs=2),
        "OneVsRestClassifier(SGD)": OneVsRestClassifier(sgd),
        "OneVsRestClassifier(PA1)": OneVsRestClassifier(pa1),
        "OneVsOneClassifier(SGD)": OneVsOneClassifier(sgd),
    }


def fits(X: Any, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Every contestant by ``code/name``."""
    peers = theirs()
    runs: dict[str, Callable[[], object]] = {}
    for code, names in PEERS.items():
        for name, rule in OURS.items():
            how, _, threads = code.partition(" in ")
            n_jobs = 2 if threads else 1
            model = SureClassifier(rule, passes=1, multiclass=how, n_jobs=n_jobs, random_state=0)
            runs[f"{code}/{name}"] = one_fit(model, X, y)
        for name in names:
            runs[f"{code}/{name}"] = partial(peers[name].fit, X, y)
    return runs


def rates(times: Mapping[str, Timing], n_rows: int) -> list[dict[str, Any]]:
    """Rates, and ratios to the peers of the same code."""
    out = []
    for key, taken in times.items():
        code, name = key.split("/")
        ratios = {peer: times[f"{code}/{peer}"].best / taken.best for peer in PEERS[code]}
        out.append(
            {
                "code": code,
                "contestant": name,
                "seconds": round(taken.best, 5),
                "median seconds": round(taken.median, 5),
                "rows/s": round(n_rows / taken.best),
                "ratios": {peer: round(ratio, 2) for peer, ratio in ratios.items()},
            }
        )
    return out


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    texts, labels = newsgroups()
    vectorizer = HashingVectorizer(
        n_features=2**18, alternate_sign=False, token_pattern=r"\w+", dtype=np.float32
    )
    X = vectorizer.transform(texts).sorted_indices()
    print(f"{X.shape[0]:,} rows, {X.nnz:,} non-zeros, {X.shape[1]:,} columns, best of {REPEATS}")
    figures = rates(interleaved(fits(X, np.asarray(labels)), REPEATS), X.shape[0])
    claims = []
    for code, peers in PEERS.items():
        own = [f for f in figures if f["code"] == code]
        header = ["contestant", "ms", "krows/s", *(f"ratio to {peer}" for peer in peers)]
        show(NAMES[code], header, [_line(f) for f in own])
        for peer, goal in peers.items():
            least = min(f["ratios"][peer] for f in own if f["contestant"] in OURS)
            claims.append(
                ratio_claim(f"one pass, {NAMES[code]}", f"scikit-learn {peer}", least, goal)
            )
    write("reductions", figures, claims, repeats=REPEATS, rows=X.shape[0])


def _line(f: dict[str, Any]) -> list[str]:
    rate = [f"{1e3 * f['seconds']:.0f}", f"{f['rows/s'] / 1e3:.0f}"]
    return [f["contestant"], *rate, *(f"{ratio:.1f}" for ratio in f["ratios"].values())]


if __name__ == "__main__":
    main()
