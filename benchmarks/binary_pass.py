"""One binary pass over sparse rows, one thread: surelearn, scikit-learn and Vowpal Wabbit.

All learn from the same matrix: 20 Newsgroups cut into windows of 36 words (the last of
a message counts from 18 words on), words and pairs of words hashed into 2^22 columns, every value
1, label: is the group one of comp.*? Rows are shuffled
once with a fixed seed; ``shuffle`` says whether a contestant goes through them in a random order of
its own, which costs memory traffic. Times are those of a whole `fit`, checks of the input included,
without the rows that `fit` keeps back by default to calibrate probabilities: all learn all rows.
A later pass is the time of `LATER` passes less that of one, divided by those between.

The dtype is that of the matrix. SGDClassifier keeps its weights in the same type; surelearn keeps
float32 ones unless told otherwise. Vowpal Wabbit reads its binary cache, written in an earlier
run, with a second thread for reading; it has its own weights (float32) and cannot shuffle.
"""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, newsgroups, ratio_claim, show, write
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from surelearn import SureClassifier, rules

BITS = 22
WINDOW = 36
REPEATS = 15
RULES = {
    "Variance(phi=0.1)": rules.Variance(phi=0.1),
    "Stdev(phi=1)": rules.Stdev(phi=1),
    "AROW(r=1)": rules.AROW(r=1),
    "PA1(C=1)": rules.PA1(),
}
SGD = "sklearn SGD hinge"
LATER = 5
GOALS = {"one": 2.2, "later": 2.5}


def windows() -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows and labels, in one fixed random order."""
    parts, labels = [], []
    for text, group in zip(*newsgroups(), strict=True):
        words = text.split()
        for begin in range(0, len(words) - WINDOW // 2 + 1, WINDOW):
            parts.append(" ".join(words[begin : begin + WINDOW]))
            labels.append(group.startswith("comp"))
    vectorizer = HashingVectorizer(
        n_features=1 << BITS, ngram_range=(1, 2), binary=True, norm=None, alternate_sign=False
    )
    X = vectorizer.transform(parts).tocsr()
    order = np.random.default_rng(0).permutation(X.shape[0])
    X = X[order]
    X.sort_indices()
    return X, np.asarray(labels, dtype=np.int64)[order]


def fits(X: Any, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Every contestant that takes the matrix itself, by ``name/dtype/shuffle``."""
    runs: dict[str, Callable[[], object]] = {}
    for dtype in ("float32", "float64"):
        matrix = X.astype(dtype)
        for shuffle in (True, False):
            end = f"/{dtype}/{'shuffled' if shuffle else 'in order'}"
            for name, model in _contestants(dtype, shuffle):
                runs[name + end] = one_fit(model, matrix, y)
    return runs


def one_fit(model: Any, X: Any, y: np.ndarray) -> Callable[[], object]:
    """A fit that learns all rows: by default ours keeps some back to calibrate probabilities."""
    own = {"calibrate": False} if isinstance(model, SureClassifier) else {}
    return partial(model.fit, X, y, **own)


def _contestants(dtype: str, shuffle: bool) -> Iterator[tuple[str, Any]]:
    common: dict[str, Any] = {"shuffle": shuffle, "random_state": 0}
    ours: dict[str, Any] = {**common, "passes": 1}
    theirs: dict[str, Any] = {**common, "max_iter": 1, "tol": None}
    for name, rule in RULES.items():
        yield name, SureClassifier(rule, **ours)
    if dtype == "float64":
        rule = RULES["Variance(phi=0.1)"]
        yield "Variance, float64 weights", SureClassifier(rule, dtype=dtype, **ours)
    yield SGD, SGDClassifier(loss="hinge", **theirs)
    yield "sklearn SGD perceptron", SGDClassifier(loss="perceptron", **theirs)
    if dtype == "float32":
        for name in _judged():
            yield _later(name), SureClassifier(RULES[name], **{**ours, "passes": LATER})
        yield _later(SGD), SGDClassifier(loss="hinge", **{**theirs, "max_iter": LATER})


def _judged() -> list[str]:
    """Our second-order rules."""
    return [name for name in RULES if not name.startswith("PA")]


def _later(name: str) -> str:
    return f"{name}, {LATER} passes"


def vw_runs(X: Any, y: np.ndarray, folder: Path) -> dict[str, Callable[[], object]]:
    """Vowpal Wabbit on the same rows, its cache written beforehand; none if not installed."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: left out.")
        return {}
    from vowpalwabbit import Workspace

    text, cache = folder / "rows.txt", folder / "rows.cache"
    with text.open("w", encoding="ascii") as out:
        for i in range(X.shape[0]):
            features = " ".join(map(str, X.indices[X.indptr[i] : X.indptr[i + 1]]))
            out.write(f"{2 * y[i] - 1} | {features}\n")
    arguments = f"-d {text} --cache_file {cache} -b {BITS} --loss_function hinge --quiet"
    Workspace(arguments).finish()
    return {
        "VW from cache/-/in order": lambda: Workspace(arguments).finish(),
        "VW --sgd from cache/-/in order": lambda: Workspace(arguments + " --sgd").finish(),
    }


def rates(times: dict[str, Timing], n_rows: int, nnz: int) -> list[dict[str, Any]]:
    """Rates, and the ratio to SGDClassifier under the same dtype and order, best and median."""
    out = []
    for key, taken in times.items():
        name, dtype, order = key.split("/")
        base = times.get(f"{SGD}/{dtype}/{order}")
        out.append(
            {
                "contestant": name,
                "dtype": dtype,
                "order": order,
                "seconds": round(taken.best, 5),
                "median seconds": round(taken.median, 5),
                "rows/s": round(n_rows / taken.best),
                "features/s": round(nnz / taken.best),
                "ratio": None if base is None else round(base.best / taken.best, 2),
                "median ratio": None if base is None else round(base.median / taken.median, 2),
            }
        )
    return out


def claims_of(times: dict[str, Timing]) -> list[Claim]:
    """The slowest of our second-order rules speaks for all; VW enters with its faster form."""
    ours = _judged()
    ends = [f"/{dtype}/{o}" for o in ("shuffled", "in order") for dtype in ("float32", "float64")]
    claims = []
    for end in ends:
        least = min(times[SGD + end].best / times[name + end].best for name in ours)
        median = min(times[SGD + end].median / times[name + end].median for name in ours)
        work = f"one binary CW pass{end.replace('/', ', ')}"
        goal = GOALS["one"]
        claims.append(ratio_claim(work, "scikit-learn SGDClassifier", least, goal, median=median))
    for end in ends[::2]:
        base = _a_later_pass(times, SGD, end)
        own = [_a_later_pass(times, name, end) for name in ours]
        least = min(base.best / taken.best for taken in own)
        median = min(base.median / taken.median for taken in own)
        work = f"a later pass of a binary fit{end.replace('/', ', ')}"
        against = "an epoch of scikit-learn SGDClassifier"
        claims.append(ratio_claim(work, against, least, GOALS["later"], median=median))
    vw = min((t.best for name, t in times.items() if name.startswith("VW")), default=None)
    if vw is not None:
        slowest = max(times[name + end].best for name in ours for end in ends[2:])
        work = "one binary CW pass, in order"
        claims.append(ratio_claim(work, "Vowpal Wabbit from its cache", vw / slowest, 1.0))
    return claims


def _a_later_pass(times: dict[str, Timing], name: str, end: str) -> Timing:
    """The time of one pass after the first."""
    one, many = times[name + end], times[_later(name) + end]
    return Timing(*((b - a) / (LATER - 1) for a, b in zip(one, many, strict=True)))


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    X, y = windows()
    print(f"{X.shape[0]:,} rows, {X.nnz:,} non-zeros, 2^{BITS} columns, best of {REPEATS}")
    with tempfile.TemporaryDirectory() as folder:
        times = interleaved({**fits(X, y), **vw_runs(X, y, Path(folder))}, REPEATS)
    figures = rates(times, X.shape[0], X.nnz)
    header = ["contestant", "dtype", "order", "ms", "krows/s", "Mfeatures/s", "ratio", "of medians"]
    show("One binary pass (ratios to SGD hinge)", header, [_line(f) for f in figures])
    shape = {"rows": X.shape[0], "non-zeros": int(X.nnz), "columns": 1 << BITS}
    write("binary_pass", figures, claims_of(times), repeats=REPEATS, **shape)


def _line(f: dict[str, Any]) -> list[str]:
    numbers = [1e3 * f["seconds"], f["rows/s"] / 1e3, f["features/s"] / 1e6]
    ratios = ["-" if f[k] is None else f"{f[k]:.2f}" for k in ("ratio", "median ratio")]
    return [f["contestant"], f["dtype"], f["order"], *(f"{x:.0f}" for x in numbers), *ratios]


if __name__ == "__main__":
    main()
