"""Joint, one-vs-rest, all pairs or a code, and how each is decoded: README.md.

Writes result.csv and multiclass.png beside this file.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from experiments import sets
from experiments.multiclass.picture import draw
from surelearn import SureClassifier, decode, rules

FOLDS, PASSES = 3, 5
#: Sets, and how many of their classes: the most frequent ones; None for all.
SETS: dict[str, tuple[int | None, ...]] = {
    "20 Newsgroups": (3, 5, 10, None),
    "Reuters R52": (3, 10, 30, None),
    "Amazon domains": (3, 7, None),
    "Stack Overflow titles": (None,),
    "docstrings": (None,),
    "digits": (None,),
}
RULES = {"AROW(r=1)": rules.AROW(r=1.0), "Variance(phi=1)": rules.Variance(phi=1.0)}
HERE = Path(__file__).parent


class Data(NamedTuple):
    """Rows, class numbers, and a number that equal texts share."""

    X: Any
    y: np.ndarray
    groups: np.ndarray


def short(n_classes: int) -> decode.Code:
    """A code of half as many problems as classes."""
    return decode.error_correcting(n_classes, math.ceil(n_classes / 2))


#: The code of so many classes; None where they are learnt together.
FORMS: dict[str, Callable[[int], decode.Code] | None] = {
    "joint": None,
    "one-vs-rest": decode.one_vs_rest,
    "all pairs": decode.all_pairs,
    "code": decode.error_correcting,
    "code of K/2 problems": short,
    "digits of the class number": decode.minimal_bits,
}
#: Decoders by the names `SureClassifier(decoding=...)` has for them, the first as it comes.
OF_CODES = ("loss", "hamming", "scores", "probability")
DECODINGS = {
    "joint": ("auto", "probability"),
    "one-vs-rest": ("scores", "hamming", "probability"),
    "all pairs": ("votes", "scores", "tournament", "probability"),
}
#: Losses that the classifier has no name for.
LOSSES = ("logistic", "exponential")


def load(name: str) -> Data:
    """Log counts of words, or pixels; rows of length 1."""
    if name in sets.DENSE:
        X, y, groups = sets.rows(name)
        X = normalize(X)
    else:
        corpus = sets.texts(name)
        X, y = sets.hashed(corpus.texts, name, norm=None), corpus.y
        groups = sets.numbered(corpus.texts)
        X.data = np.log1p(X.data)
        X = normalize(X[:, np.unique(X.indices)])  # columns that some text uses
    return Data(X, np.unique(y, return_inverse=True)[1], groups)


def frequent(data: Data, n_classes: int | None) -> Data:
    """Rows of the most frequent classes, the first of equals, numbered anew in their order."""
    if n_classes is None:
        return data
    kept = np.argsort(-np.bincount(data.y), kind="stable")[:n_classes]
    rows = np.flatnonzero(np.isin(data.y, kept))
    y = np.searchsorted(np.sort(kept), data.y[rows])
    return Data(data.X[rows], y, data.groups[rows])


# ------------------------------------------------------------------------ one model


class Found(NamedTuple):
    """Labels of the judged rows by one way to learn and decode, and what it took."""

    form: str
    decoding: str
    code: decode.Code | None
    labels: np.ndarray
    learnt: float
    predicted: float | None


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the seconds of the processor: other work does not lengthen them."""
    begin = time.process_time()
    done = work()
    return done, time.process_time() - begin


def answers(data: Data, learn: np.ndarray, judge: np.ndarray, rule: Any) -> Iterator[Found]:
    """Every form with every decoding that it has."""
    classes, y = np.unique(data.y[learn], return_inverse=True)
    for form, make in FORMS.items():
        if make is short and len(classes) < 10:
            continue
        code = make(len(classes)) if make else None
        clf = SureClassifier(
            rule,
            multiclass=code or "joint",
            constraints="single",
            passes=PASSES,
            random_state=0,
            scale=False,
        )
        X = data.X[learn]
        _, learnt = _timed(partial(clf.fit, X, y))
        for decoding, places, predicted in decoded(clf, form, code, data.X[judge]):
            yield Found(form, decoding, code, classes[places], learnt, predicted)


def decoded(
    clf: SureClassifier, form: str, code: decode.Code | None, X: Any
) -> Iterator[tuple[str, np.ndarray, float | None]]:
    """Name of a decoding, places of the labels it gives, seconds it took."""
    for name in DECODINGS.get(form, OF_CODES):
        if code is None and name == "probability":
            p, seconds = _timed(partial(clf.predict_proba, X))
            yield name, p.argmax(axis=1), seconds
            continue
        clf.set_params(decoding=name)
        yield _shown(name), *_timed(partial(clf.predict, X))
    if code is not None and form not in DECODINGS:
        mean, _ = clf.margin(X)
        for loss in LOSSES:
            yield f"{loss} loss", decode.loss_based(code, mean, loss=loss).argmax(axis=1), None


def _shown(decoding: str) -> str:
    return {"auto": "scores", "loss": "hinge loss"}.get(decoding, decoding)


def regression(data: Data, learn: np.ndarray, judge: np.ndarray) -> Found:
    """The class number as a real number, rounded to the nearest there is."""
    model = Ridge(alpha=1.0, solver="lsqr")
    X = data.X[learn]
    _, learnt = _timed(partial(model.fit, X, data.y[learn].astype(float)))
    found, predicted = _timed(partial(model.predict, data.X[judge]))
    labels = np.clip(np.rint(found), 0, data.y.max()).astype(int)
    return Found("regression on the class number", "rounded", None, labels, learnt, predicted)


# ------------------------------------------------------------------------ the table


def table(name: str, data: Data, rule_name: str) -> list[dict[str, Any]]:
    """One line for each form and decoding."""
    found: dict[tuple[str, str], list[tuple[Found, np.ndarray]]] = {}
    for learn, judge in sets.folds(data.groups, FOLDS):
        every = [*answers(data, learn, judge, RULES[rule_name]), regression(data, learn, judge)]
        for one in every:
            right = (one.labels == data.y[judge]).astype(float)
            found.setdefault((one.form, one.decoding), []).append((one, right))
    joint = np.concatenate([right for _, right in found["joint", "scores"]])
    about = {"set": name, "classes": data.y.max() + 1, "rows": len(data.y), "rule": rule_name}
    return [{**about, **_line(of_folds, joint)} for of_folds in found.values()]


def _line(of_folds: list[tuple[Found, np.ndarray]], joint: np.ndarray) -> dict[str, Any]:
    one, right = of_folds[0][0], np.concatenate([right for _, right in of_folds])
    behind = right - joint
    n_judged = len(right) / len(of_folds)
    predicted = [f.predicted for f, _ in of_folds if f.predicted is not None]
    microseconds = f"{1e6 * np.median(predicted) / n_judged:.1f}" if predicted else ""
    return {
        "form": one.form,
        "problems": "" if one.code is None else one.code.n_problems,
        "dmin": "" if one.code is None else one.code.dmin,
        "decoding": one.decoding,
        "accuracy %": f"{100 * right.mean():.2f}",
        "to joint": f"{100 * behind.mean():+.2f}",
        "standard error": f"{100 * behind.std(ddof=1) / np.sqrt(len(behind)):.2f}",
        "seconds to learn": f"{np.median([f.learnt for f, _ in of_folds]):.3f}",
        "microseconds to predict a row": microseconds,
    }


def main() -> None:
    lines: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name, sizes in SETS.items():
            every = load(name)
            for size, rule_name in product(sizes, RULES):
                lines += table(name, frequent(every, size), rule_name)
                print(name, lines[-1]["classes"], rule_name, flush=True)
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    draw(lines, next(iter(RULES)), HERE / "multiclass.png")


if __name__ == "__main__":
    main()
