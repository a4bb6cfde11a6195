"""One row at a time: `predict_one`, then `learn_one`, against River and Vowpal Wabbit in Python.

Rows have 100 features out of 2^18, small indices more often than large ones, as words in a text;
the label is the sign of a fixed random score. surelearn gets each row as a dict, as a sparse row
and as an array; the array of all 2^18 numbers must be read whole to find the 100, so an array of
100 numbers is measured too. River gets a dict with text keys. Vowpal Wabbit gets a line of text,
once for each call and once parsed beforehand and used for both. Figures are microseconds for the
pair of calls, best round over all rows.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, interleaved, ratio_claim, show, write
from scipy import sparse

from surelearn import SureClassifier, rules

FEATURES = 1 << 18
WORDS = 100
ROWS = 500
REPEATS = 9
Runs = dict[str, Callable[[], object]]


def rows() -> tuple[list[np.ndarray], list[int]]:
    """Sorted indices of each row, and its label."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=FEATURES)
    indices: list[np.ndarray] = []
    while len(indices) < ROWS:
        drawn = np.unique((FEATURES ** rng.random(3 * WORDS)).astype(np.int64))
        indices.append(np.sort(rng.choice(drawn, WORDS, replace=False)))
    return indices, [int(score[row].sum() > 0) for row in indices]


def our_runs(indices: list[np.ndarray], y: list[int]) -> Runs:
    """surelearn with each kind of row."""
    data = np.ones(WORDS)
    start = np.array([0, WORDS])
    shape = (1, FEATURES)
    forms: dict[str, list[Any]] = {
        "dict": [dict.fromkeys(row.tolist(), 1.0) for row in indices],
        "sparse row": [sparse.csr_matrix((data, row, start), shape=shape) for row in indices],
        "array of 2^18": [_dense(row, FEATURES) for row in indices[:50]],
        "array of 100": [np.random.default_rng(i).normal(size=WORDS) for i in range(ROWS)],
    }
    runs: Runs = {}
    for form, xs in forms.items():
        for name, rule in {"AROW": rules.AROW(), "Variance": rules.Variance()}.items():
            n_features = WORDS if form == "array of 100" else FEATURES
            model = SureClassifier(rule)
            model.partial_fit(sparse.csr_matrix((2, n_features)), [0, 1])
            runs[f"surelearn {name}, {form}"] = partial(_pairs, model, xs, y)
    return runs


def _dense(row: np.ndarray, n_features: int) -> np.ndarray:
    x = np.zeros(n_features)
    x[row] = 1.0
    return x


def _pairs(model: Any, xs: Iterable[Any], y: list[int]) -> None:
    for x, label in zip(xs, y, strict=False):
        model.predict_one(x)
        model.learn_one(x, label)


def river_runs(indices: list[np.ndarray], y: list[int]) -> Runs:
    """River's linear classifiers; none if it is not installed."""
    if importlib.util.find_spec("river") is None:
        print("river is not installed: left out.")
        return {}
    from river import linear_model

    xs = [{str(j): 1.0 for j in row.tolist()} for row in indices]
    models = {
        "river PAClassifier": linear_model.PAClassifier(C=1.0, mode=1),
        "river Perceptron": linear_model.Perceptron(),
        "river LogisticRegression": linear_model.LogisticRegression(),
    }
    return {name: partial(_pairs, model, xs, y) for name, model in models.items()}


def vw_runs(indices: list[np.ndarray], y: list[int]) -> Runs:
    """Vowpal Wabbit from lines of text; none if it is not installed."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: left out.")
        return {}
    from vowpalwabbit import Workspace

    features = [" ".join(map(str, row.tolist())) for row in indices]
    unknown = [f"| {text}" for text in features]
    known = [f"{2 * label - 1} | {text}" for label, text in zip(y, features, strict=True)]
    model = Workspace("-b 18 --loss_function hinge --quiet")

    def two_lines() -> None:
        for question, answer in zip(unknown, known, strict=True):
            model.predict(question)
            model.learn(answer)

    def parsed_once() -> None:
        for line in known:
            example = model.example(line)
            model.predict(example)
            model.learn(example)
            model.finish_example(example)

    return {"VW, a line for each call": two_lines, "VW, parsed once": parsed_once}


def claims_of(micros: dict[str, float]) -> list[Claim]:
    """The slower rule with a dict, and with a sparse row, against the fastest of each peer."""
    claims = []
    for form in ("dict", "sparse row"):
        ours = max(t for name, t in micros.items() if name.endswith(form))
        for peer, name in {"river": "River", "VW": "Vowpal Wabbit, Python"}.items():
            theirs = [t for key, t in micros.items() if key.startswith(peer)]
            if theirs:
                work = f"predict_one + learn_one, 100 features, {form}"
                claims.append(ratio_claim(work, name, min(theirs) / ours, 1))
    return claims


def main() -> None:
    indices, y = rows()
    runs = {**our_runs(indices, y), **river_runs(indices, y), **vw_runs(indices, y)}
    times = interleaved(runs, REPEATS)
    sizes = {name: 50 if "2^18" in name else ROWS for name in times}
    micros = {name: 1e6 * taken.best / sizes[name] for name, taken in times.items()}
    river = min((t for name, t in micros.items() if name.startswith("river")), default=np.nan)
    vw = min((t for name, t in micros.items() if name.startswith("VW")), default=np.nan)
    lines = [[n, f"{t:.1f}", f"{river / t:.1f}", f"{vw / t:.1f}"] for n, t in micros.items()]
    header = ["contestant", "us a pair", "times River's best", "times VW's best"]
    show(f"predict_one + learn_one, {WORDS} features of 2^18, best of {REPEATS}", header, lines)
    figures = {name: round(t, 2) for name, t in micros.items()}
    write("one_row", figures, claims_of(micros), repeats=REPEATS, unit="microseconds a pair")


if __name__ == "__main__":
    main()
