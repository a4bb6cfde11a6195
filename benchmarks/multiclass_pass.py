"""One 20-class pass over 20 Newsgroups: surelearn's joint classes, scikit-learn's one-vs-rest.

Rows are binary bags of words. surelearn keeps one weight vector a class and learns from the right
label and its best rival; scikit-learn trains 20 binary classifiers one after the other. One thread
on both sides, whole `fit`, rows shuffled by each contestant with the same seed.

Three forms of the same matrix: float32 and float64 with sorted indices, and float32 as
``CountVectorizer(dtype="float32").fit_transform`` hands it out, with the indices of a row in no
order. scikit-learn does not care; surelearn sorts, so that its sums do not depend on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from _measure import Timing, interleaved, newsgroups, ratio_claim, show, write
from binary_pass import one_fit
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier

from surelearn import SureClassifier, rules

REPEATS = 15
PASS: dict[str, Any] = {"passes": 1, "random_state": 0}
OURS = {
    "Variance(phi=1)": rules.Variance(phi=1),
    "AROW(r=1)": rules.AROW(r=1),
    "PA1(C=1)": rules.PA1(),
}
THEIRS: dict[str, dict[str, Any]] = {
    "sklearn one-vs-rest PA1": {"penalty": None, "learning_rate": "pa1", "eta0": 1.0},
    "sklearn one-vs-rest SGD": {},
}


def matrices(texts: list[str]) -> dict[str, Any]:
    """The rows in their three forms."""
    vectorizer = CountVectorizer(binary=True, token_pattern=r"\w+", dtype=np.float32)
    unsorted = vectorizer.fit_transform(texts)
    tidy = unsorted.sorted_indices()
    return {"float32": tidy, "float64": tidy.astype(np.float64), "float32 unsorted": unsorted}


def fits(forms: Mapping[str, Any], y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Every contestant by ``name/form``."""
    runs: dict[str, Callable[[], object]] = {}
    for form, X in forms.items():
        models: dict[str, Any] = {
            name: SureClassifier(rule, constraints="single", **PASS) for name, rule in OURS.items()
        }
        for name, options in THEIRS.items():
            models[name] = SGDClassifier(max_iter=1, tol=None, random_state=0, **options)
        for name, model in models.items():
            runs[f"{name}/{form}"] = one_fit(model, X, y)
    return runs


def rates(times: Mapping[str, Timing], n_rows: int) -> list[dict[str, Any]]:
    """Rates, and ratios to both of scikit-learn's contestants on the same matrix."""
    out = []
    for key, taken in times.items():
        name, form = key.split("/")
        pa1, sgd = (times[f"{their}/{form}"].best / taken.best for their in THEIRS)
        out.append(
            {
                "contestant": name,
                "matrix": form,
                "seconds": round(taken.best, 5),
                "median seconds": round(taken.median, 5),
                "rows/s": round(n_rows / taken.best),
                "ratio to PA1": round(pa1, 2),
                "ratio to SGD": round(sgd, 2),
            }
        )
    return out


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    texts, labels = newsgroups()
    forms = matrices(texts)
    X = forms["float32"]
    print(f"{X.shape[0]:,} rows, {X.nnz:,} non-zeros, {X.shape[1]:,} columns, best of {REPEATS}")
    figures = rates(interleaved(fits(forms, np.asarray(labels)), REPEATS), X.shape[0])
    header = ["contestant", "matrix", "ms", "krows/s", "ratio to PA1", "ratio to SGD"]
    show("One 20-class pass", header, [_line(f) for f in figures])
    claims = []
    for form in forms:
        ours = [f for f in figures if f["contestant"] in OURS and f["matrix"] == form]
        for peer in ("PA1", "SGD"):
            least = min(f[f"ratio to {peer}"] for f in ours)
            work = f"one 20-class pass, {form}"
            claims.append(ratio_claim(work, f"scikit-learn one-vs-rest {peer}", least, 6))
    write("multiclass_pass", figures, claims, repeats=REPEATS, rows=X.shape[0])


def _line(f: dict[str, Any]) -> list[str]:
    rate = [f"{1e3 * f['seconds']:.0f}", f"{f['rows/s'] / 1e3:.0f}"]
    ratios = [f"{f['ratio to PA1']:.1f}", f"{f['ratio to SGD']:.1f}"]
    return [f["contestant"], f["matrix"], *rate, *ratios]


if __name__ == "__main__":
    main()
