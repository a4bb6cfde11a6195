"""Time of a pass with and without variances, and what a shard's state weighs: README.md.

Writes cost.csv beside this file.
"""

from __future__ import annotations

import csv
import pickle
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from experiments.shards import run
from surelearn import SureClassifier, rules
from surelearn.merging import MergeState

REPEATS, FEATURES_A_ROW = 15, 64
TIMED = ("Sentiment140", "Reuters earn", "20 Newsgroups")
CONTESTANTS = {
    "PA1": rules.PA1(C=1.0),
    "Variance": rules.Variance(phi=1.0),
    "AROW": rules.AROW(r=1.0),
}
SIZES = tuple(product((18, 20), (2, 20)))
HERE = Path(__file__).parent
Line = tuple[str, str, str, float]


def _seconds(work: Callable[[], Any]) -> float:
    """Seconds of the processor: other work lengthens them only by what it does to caches."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def passes() -> Iterator[Line]:
    """Milliseconds of one pass over the first split's rows, in turns, the best of all rounds."""
    for name in TIMED:
        learn = next(run.splits(run.load(name, "length 1"))).learn
        best = dict.fromkeys(CONTESTANTS, np.inf)
        for _, (who, rule) in product(range(REPEATS), CONTESTANTS.items()):
            clf = SureClassifier(rule, passes=1, random_state=0, scale=False)
            best[who] = min(best[who], _seconds(partial(clf.fit, learn.X, learn.y)))
        for who, seconds in best.items():
            yield "pass", name, who, 1e3 * seconds


def states() -> Iterator[Line]:
    """Bytes and seconds of states that hold every feature: one model's, and the sum of two."""
    for bits, n_classes in SIZES:
        about = f"2^{bits} features, {n_classes} classes"
        first, second = (MergeState.of(_full(bits, n_classes, seed).model_) for seed in (0, 1))
        total = first + second
        leaf, inner = pickle.dumps(first), pickle.dumps(total)
        yield "state", about, "bytes of a leaf", len(leaf)
        yield "state", about, "bytes of a sum", len(inner)
        yield "state", about, "seconds to add two leaves", _seconds(partial(add, first, second))
        yield "state", about, "seconds to add two sums", _seconds(partial(add, total, total))
        yield "state", about, "seconds to pickle a sum", _seconds(partial(pickle.dumps, total))
        yield "state", about, "seconds to unpickle a sum", _seconds(partial(pickle.loads, inner))
        yield "state", about, "seconds to make a model", _seconds(total.result)


def _full(bits: int, n_classes: int, seed: int) -> SureClassifier:
    """A model that has met every feature once."""
    random = np.random.default_rng(seed)
    n_rows = 2**bits // FEATURES_A_ROW
    ends = np.arange(0, 2**bits + 1, FEATURES_A_ROW)
    features = random.permutation(2**bits).reshape(n_rows, -1)
    features.sort(axis=1)
    ones = np.ones(2**bits, dtype=np.float32)
    X = csr_matrix((ones, features.ravel(), ends), shape=(n_rows, 2**bits))
    clf = SureClassifier(rules.Variance(phi=1.0), passes=1, random_state=0, scale=False)
    return clf.fit(X, random.integers(n_classes, size=n_rows))


def shards() -> Iterator[Line]:
    """Bytes of states of the tweets: a shard's, and that of all of them together."""
    learn = next(run.splits(run.load("Sentiment140", "length 1"))).learn
    for n_shards in run.SHARDS:
        models = run.apart(run.ONE, 1.0, learn, n_shards)
        every = [MergeState.of(model.model_) for model in models]
        about = f"Sentiment140, {n_shards} shards"
        yield "shard", about, "bytes of a leaf", np.mean([len(pickle.dumps(s)) for s in every])
        yield "shard", about, "bytes of the sum", len(pickle.dumps(MergeState.combined(every)))


def main() -> None:
    with threadpool_limits(1):
        lines = [*passes(), *states(), *shards()]
    with (HERE / "cost.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "about", "what", "figure"))
        writer.writerows((*line, f"{figure:.4g}") for *line, figure in lines)


if __name__ == "__main__":
    main()
