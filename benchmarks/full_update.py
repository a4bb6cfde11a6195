"""One update of a full covariance against reading and writing the matrix once.

One sweep through the lower half takes away the rank-one part of a row and computes sigma g of the
next. It stands beside numpy's ``multiply(A, c, out=A)`` on a whole matrix of the same size and
type, which reads and writes it once and does nothing else; of two threads each takes half of the
lines, and they do not wait for each other. Ours is `partial_fit` on many rows in one call, two
classes, no intercept, with `Probit`, which moves the weights on every row: seconds of the call /
rows. Contestants take turns.

The second table has rows with 20 non-zeros of 2,000. A line of the covariance must be written only
if its feature covaries with one of the row. In "own words" the features are 100 groups of 20 and a
row has all of one group: 400 numbers change. In "any words" the 20 features are drawn at random and
1,000 such rows were learnt before: every feature covaries with every other, so that all numbers
change. The share of the covariance that is not zero is in
the results.

At d = 500 all fits into the cache of most machines, so that arithmetic counts, not memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, show, write
from scipy import sparse

from surelearn import SureClassifier, rules

REPEATS = 9
ROWS = {500: 300, 2000: 20, 5000: 4}  # of one call
THREADS = (1, 2)
DTYPES = ("float64", "float32")
JUDGED, GOALS = 2000, {"float64": 2.0, "float32": 3.5}
NON_ZERO, FEW_ROWS = 20, 1000


def dense_rows(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(d).normal(size=(n, d))


def sparse_rows(n: int, d: int, *, grouped: bool) -> Any:
    """Rows with `NON_ZERO` numbers each, in columns of one group or in any."""
    random = np.random.default_rng(d)
    first = NON_ZERO * random.integers(d // NON_ZERO, size=n)
    columns = first[:, None] + np.arange(NON_ZERO)
    if not grouped:
        columns = np.array([random.permutation(d)[:NON_ZERO] for _ in range(n)])
    places = np.repeat(np.arange(n), NON_ZERO), columns.ravel()
    return sparse.csr_array((random.normal(size=columns.size), places), shape=(n, d))


def learner(X: Any, dtype: str, threads: int) -> SureClassifier:
    """A model that has seen the rows of X, each of which has moved it."""
    model = SureClassifier(
        rules.Probit(), covariance="full", fit_intercept=False, dtype=dtype, n_jobs=threads
    )
    model.partial_fit(X, _labels(X), classes=[0, 1])
    if model.n_updates_ != X.shape[0]:
        raise SystemExit(f"Every row must update, got {model.n_updates_} of {X.shape[0]}.")
    return model


def _labels(X: Any) -> np.ndarray:
    return np.arange(X.shape[0]) % 2


def reader(n: int, d: int, *, dtype: str, threads: int) -> Callable[[], object]:
    """A call that reads and writes a matrix n times."""
    parts = np.array_split(np.ones((d, d), dtype), threads)
    if threads == 1:
        return partial(_multiply, parts[0], n)
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(_multiply, parts, [n] * threads))


def _multiply(part: np.ndarray, times: int) -> None:
    for _ in range(times):
        np.multiply(part, 1.0, out=part)  # any other factor would end in slow, tiny numbers


def dense(d: int) -> dict[str, dict[str, Any]]:
    """Updates and reading at one size; one entry for each type and number of threads."""
    n = ROWS[d]
    X = dense_rows(n, d)
    runs: dict[str, Callable[[], object]] = {}
    for dtype in DTYPES:
        for threads in THREADS:
            key = f"d = {d:,}, {dtype}, {threads} thread{'s' * (threads > 1)}"
            model = learner(X, dtype, threads)
            runs[f"{key}/update"] = partial(model.partial_fit, X, _labels(X))
            runs[f"{key}/read and write"] = reader(n, d, dtype=dtype, threads=threads)
    return _beside(interleaved(runs, REPEATS), n)


def few_non_zeros(d: int) -> dict[str, dict[str, Any]]:
    """The same for sparse rows, on one thread."""
    runs: dict[str, Callable[[], object]] = {}
    filled = {}
    for dtype in DTYPES:
        for name, grouped in (("own words", True), ("any words", False)):
            key = f"{NON_ZERO} of {d:,}, {name}, {dtype}"
            X = sparse_rows(FEW_ROWS, d, grouped=grouped)
            model = learner(X, dtype, 1)
            filled[key] = round(float(np.mean(model.sigma_ != 0)), 3)
            # Few numbers change in own words: more rows, or the call is all that is measured.
            X = X if grouped else X[: ROWS[d]]
            runs[f"{key}/update"] = partial(model.partial_fit, X, _labels(X))
            runs[f"{key}/read and write"] = reader(ROWS[d], d, dtype=dtype, threads=1)
    found = _beside(interleaved(runs, REPEATS), ROWS[d])
    return {key: {**f, "share not zero": filled[key]} for key, f in found.items()}


def _beside(times: Mapping[str, Timing], n: int) -> dict[str, dict[str, Any]]:
    """Microseconds of both, and the ratio of the best rounds and of the medians."""
    out = {}
    for key in dict.fromkeys(name.rsplit("/", 1)[0] for name in times):
        ours, theirs = times[f"{key}/update"], times[f"{key}/read and write"]
        rows = FEW_ROWS if "own words" in key else n
        out[key] = {
            "us an update": round(1e6 * ours.best / rows, 2),
            "us to read and write": round(1e6 * theirs.best / n, 1),
            "ratio": round(ours.best / rows / (theirs.best / n), 3),
            "ratio of medians": round(ours.median / rows / (theirs.median / n), 3),
        }
    return out


def claims_of(figures: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    """Like for like at the size that the goal is set for."""
    claims = []
    for key, f in figures.items():
        if not key.startswith(f"d = {JUDGED:,},"):
            continue
        figure = f"{f['ratio']:.2f}x (medians {f['ratio of medians']:.2f}x)"
        work = f"one full-covariance update, {key}"
        against = "reading and writing the matrix once"
        goal = GOALS["float32" if "float32" in key else "float64"]
        claims.append(Claim(work, against, figure, f"<= {goal:g}x", f["ratio"] <= goal))
    for dtype in ("float64", "float32"):
        # What a user sees: an update on all cores, beside one plain sweep through the matrix.
        both = figures[f"d = {JUDGED:,}, {dtype}, 2 threads"]["us an update"]
        once = figures[f"d = {JUDGED:,}, {dtype}, 1 thread"]["us to read and write"]
        work = f"one full-covariance update, d = {JUDGED:,}, {dtype}, both cores"
        against = "one thread reading and writing the matrix once"
        ratio, goal = both / once, GOALS[dtype]
        claims.append(Claim(work, against, f"{ratio:.2f}x", f"<= {goal:g}x", ratio <= goal))
    return claims


def main() -> None:
    header = ["", "us an update", "us to read and write", "ratio", "of medians"]
    figures: dict[str, dict[str, Any]] = {}
    for d in ROWS:
        figures |= dense(d)
    show("Dense rows", header, [_line(*entry) for entry in figures.items()])
    few = few_non_zeros(JUDGED)
    show("Sparse rows, one thread", header, [_line(*entry) for entry in few.items()])
    write("full_update", figures | few, claims_of(figures), repeats=REPEATS, rows=ROWS)


def _line(key: str, f: Mapping[str, float]) -> list[str]:
    times = [f"{f['us an update']:,.1f}", f"{f['us to read and write']:,.1f}"]
    return [key, *times, f"{f['ratio']:.2f}", f"{f['ratio of medians']:.2f}"]


if __name__ == "__main__":
    main()
