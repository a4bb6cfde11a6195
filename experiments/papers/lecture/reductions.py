"""Many classes as two-class problems on real data: does a multi-class loss work better?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from experiments import sets
from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.statistics import Mean, difference, mean
from surelearn import MulticlassSVM, SureClassifier
from surelearn.decode import minimal_bits

FOLDS = 3
QUICK = ("digits", "wine", "Stack Overflow titles")
SETS = (*QUICK, "Reuters R52", "Amazon 7", "20 Newsgroups")
#: Points of accuracy within which two ways count as the same.
ALIKE = 1.0

SVM_ALL, SVM_JOINT = "SVM, one-vs-all", "SVM, joint"
JOINT, ALL, PAIRS = "AROW, joint", "AROW, one-vs-all", "AROW, all pairs"
CODE, BITS = "AROW, code", "AROW, binary digits"


def _arow(multiclass: Any) -> Any:
    return SureClassifier("arow", multiclass=multiclass, random_state=0, scale=False)


#: Each takes the number of classes.
WAYS: dict[str, Callable[[int], Any]] = {
    SVM_ALL: lambda K: LinearSVC(loss="hinge", max_iter=100_000, random_state=0),
    SVM_JOINT: lambda K: MulticlassSVM(random_state=0, n_jobs=1),
    JOINT: lambda K: _arow("joint"),
    ALL: lambda K: _arow("ovr"),
    PAIRS: lambda K: _arow("ovo"),
    CODE: lambda K: _arow("ecoc"),
    BITS: lambda K: _arow(minimal_bits(K)),
}


def cases(quick: bool) -> dict[str, Case]:
    """Every set, in each way."""
    names = QUICK if quick else SETS
    return {f"{name}: {way}": partial(_judged, name, way) for name in names for way in WAYS}


_rows = cache(sets.rows)


def _folds(name: str) -> Iterator[tuple[Any, NDArray[Any], Any, NDArray[Any]]]:
    """Rows to learn and to judge: hashed words of length 1, or standardised features."""
    X, y, groups = _rows(name)
    if name not in sets.DENSE:
        X = X[:, np.unique(X.indices)]
    for learn, judge in sets.folds(groups, FOLDS):
        first, second = X[learn], X[judge]
        if name in sets.DENSE:
            first, second = sets.standardised(first, second)
        yield first, y[learn], second, y[judge]


def _judged(name: str, way: str) -> Rows:
    """Accuracy in each fold, in per cent."""
    found = []
    for X, y, test, truth in _folds(name):
        model = WAYS[way](len(np.unique(y))).fit(X, y)
        found.append(100 * float(np.mean(model.predict(test) == truth)))
    return [{"set": name, "way": way, "classes": len(np.unique(_rows(name).y)), "accuracy": found}]


# --------------------------------------------------------------------------- pages


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy by set and way."""
    names = dict.fromkeys(row["set"] for row in rows)
    return {
        "Accuracy in per cent": [_line([r for r in rows if r["set"] == name]) for name in names]
    }


def _line(rows: Rows) -> Row:
    shown = {row["way"]: str(mean(row["accuracy"])) for row in rows}
    return {"set": rows[0]["set"], "classes": rows[0]["classes"], **shown}


def _lead(rows: Rows, first: str, second: str) -> Mean:
    """Points by which the first is ahead, mean and error over sets."""
    both = [
        [float(np.mean(row["accuracy"])) for row in rows if row["way"] == way]
        for way in (first, second)
    ]
    return difference(*both)


def claims(rows: Rows) -> tuple[Claim, ...]:
    """One-vs-all works as well; codes whose rows are far apart are robust."""
    far = _lead(rows, CODE, BITS)
    return (
        _alike(rows, SVM_ALL, SVM_JOINT),
        _alike(rows, ALL, JOINT),
        Claim(
            text="A code whose rows are far from each other is robust to errors.",
            theirs="no figure",
            ours=f"{far.value:+.1f} points over the binary digits of the class number",
            lead=far.value,
            error=far.error,
            note="Mean and error over sets.",
        ),
    )


def _alike(rows: Rows, reduced: str, joint: str) -> Claim:
    lead, learner = _lead(rows, reduced, joint), reduced.split(",")[0]
    return Claim(
        text=f"In practice one-vs-all works as well as a multi-class loss: {learner}.",
        theirs="roughly the same",
        ours=f"{lead.value:+.2f} ± {lead.error:.2f} points",
        lead=lead.value + ALIKE,
        error=lead.error,
        note=f"Holds if one-vs-all is at most {ALIKE:g} point behind; mean and error over sets.",
    )


NOTES = f"""
{FOLDS} folds, equal texts in one. Texts are counts of words, of length 1; dense features are
standardised. *SVM* is LIBLINEAR's hinge, one-vs-all, and `MulticlassSVM`, both with C = 1. *AROW*
is `SureClassifier("arow")`, r = 1; its code is `error_correcting(K)`. Nothing is tuned. ± is one
standard error over folds. The lecture quotes Rifkin & Klautau 2004, who used SVMs with RBF kernels
on small sets.
"""

ENTRY = Entry(
    name="lecture-reductions",
    title="Many classes as two-class problems: does a multi-class loss work better in practice?",
    cases=cases,
    tables=tables,
    claims=claims,
    notes=NOTES,
)
