"""The RBF kernel on dense rows: SureKernelClassifier beside scikit-learn's SVC, tuned alike.

Digits, wine and breast cancer are those of scikit-learn; two larger sets are generated, with eight
clusters well apart and with sixteen that overlap, where more support points are needed than the
default budget allows. Rows are standardised, pixels are as they are.

In each outer fold, both search the same grid of three gammas by three values of their other
parameter (C of SVC, C of SCW1) in three inner folds of at most 1,500 rows, so neither is tuned on
the rows it is judged by. The defaults of both are judged on the same folds; those of ours were
chosen on digits, wine and breast cancer among others. Times are those of one `fit` and one
`predict` with the parameters that were found most often. Memory is that of the model, measured in
fresh processes after the C library has returned what was freed.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from _measure import Claim, interleaved, show, write
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from surelearn import SureKernelClassifier, rules

REPEATS = 3
PASSES = 1
SEARCHED = 1500  # rows of the grid search
INNER = 3
GAMMAS = (0.25, 1.0, 4.0)  # times that of "scale"
THREADS = 2


class DataSet(NamedTuple):
    """Rows, labels, and how rows are scaled before learning."""

    X: np.ndarray
    y: np.ndarray
    scaled: Callable[[], Any]
    folds: int


def sets(n_generated: int = 6000) -> dict[str, DataSet]:
    return {
        "wine": DataSet(*load_wine(return_X_y=True), StandardScaler, 10),
        "breast cancer": DataSet(*load_breast_cancer(return_X_y=True), StandardScaler, 10),
        "digits": DataSet(*load_digits(return_X_y=True), FunctionTransformer, 10),
        "8 clusters": DataSet(*clusters(n_generated, 4, class_sep=2.0), StandardScaler, 5),
        "16 clusters": DataSet(*clusters(n_generated, 8, class_sep=1.5), StandardScaler, 5),
    }


def clusters(n: int, of_class: int, *, class_sep: float) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of several clusters each, with 2 % of the labels random."""
    X, y = make_classification(
        n, 16, n_informative=8, n_clusters_per_class=of_class, class_sep=class_sep, flip_y=0.02,
        random_state=0,
    )  # fmt: skip
    return X, y


def ours(rule: Any = "scw1", **params: Any) -> SureKernelClassifier:
    return SureKernelClassifier(rule, n_jobs=THREADS, random_state=0, **params)


class Contestant(NamedTuple):
    """A classifier, and the values of its parameter besides gamma."""

    model: Any
    parameter: str
    values: tuple[float, ...]


CONTESTANTS = {
    "SVC": Contestant(SVC(), "C", (1.0, 10.0, 100.0)),
    "SureKernelClassifier": Contestant(
        ours(rules.SCW1(), passes=PASSES), "rule__C", (0.3, 1.0, 10.0)
    ),
}
DEFAULTS = {"SVC": SVC(), "SureKernelClassifier": ours()}


def search(contestant: Contestant, data: DataSet, X: np.ndarray) -> GridSearchCV:
    """A grid search in inner folds, over gammas around that of the rows once they are scaled."""
    rows = data.scaled().fit_transform(X)
    scale = 1.0 / (rows.shape[1] * rows.var())
    name = type(contestant.model).__name__.lower()
    grid = {
        f"{name}__gamma": [factor * scale for factor in GAMMAS],
        f"{name}__{contestant.parameter}": list(contestant.values),
    }
    pipeline = make_pipeline(data.scaled(), clone(contestant.model))
    return GridSearchCV(pipeline, grid, cv=StratifiedKFold(INNER, shuffle=True, random_state=0))


def judged(data: DataSet) -> Iterator[dict[str, Any]]:
    """What every contestant comes to in each outer fold."""
    folds = StratifiedKFold(data.folds, shuffle=True, random_state=1)
    for train, test in folds.split(data.X, data.y):
        found: dict[str, Any] = {}
        for name, contestant in CONTESTANTS.items():
            few = train[:: -(-len(train) // SEARCHED)]
            best = search(contestant, data, data.X[few]).fit(data.X[few], data.y[few])
            tuned = clone(best.best_estimator_).fit(data.X[train], data.y[train])
            default = make_pipeline(data.scaled(), clone(DEFAULTS[name]))
            default.fit(data.X[train], data.y[train])
            found[name] = {
                "tuned": tuned.score(data.X[test], data.y[test]),
                "default": default.score(data.X[test], data.y[test]),
                "model": tuned[-1],
            }
        yield found


def most_found(models: list[Any], contestant: Contestant) -> Any:
    """The model whose parameters were found in most folds."""
    keys = ("gamma", contestant.parameter)
    found = [tuple(model.get_params()[key] for key in keys) for model in models]
    (gamma, value), _ = Counter(found).most_common(1)[0]
    return clone(contestant.model).set_params(gamma=gamma, **{contestant.parameter: value})


def times(data: DataSet, models: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Best seconds of `fit` and of `predict` on all rows."""
    X, y = data.scaled().fit_transform(data.X), data.y
    fitted = {name: clone(model).fit(X, y) for name, model in models.items()}
    fits = {name: lambda m=model: clone(m).fit(X, y) for name, model in models.items()}
    asks = {name: lambda m=model: m.predict(X) for name, model in fitted.items()}
    learnt, asked = (interleaved(runs, REPEATS) for runs in (fits, asks))
    return {
        name: {"fit": learnt[name].best, "predict": asked[name].best, "support": support(model)}
        for name, model in fitted.items()
    }


def support(model: Any) -> float:
    """Support points of all problems together."""
    return float(len(model.support_))


_MEMORY = """
import ctypes
import sys
import numpy as np
from surelearn import SureKernelClassifier

def resident():
    ctypes.CDLL(None).malloc_trim(0)  # what was freed but kept by the C library does not count
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

def learn(n, budget):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(n, 8)), random.integers(0, 2, n)
    return SureKernelClassifier("probit", budget=budget, passes=1).fit(X, y)

learn(600, 100)
before = resident()
kept = learn(int(sys.argv[1]) + 200, int(sys.argv[1]))
assert kept.n_support_.tolist() == [int(sys.argv[1])]
print(resident() - before)
"""


def bytes_a_pair(small: int = 1000, large: int = 2000) -> float:
    """Resident bytes after `fit` for each pair of support points, from models of two budgets."""
    grown = []
    for budget in (small, large):
        command = [sys.executable, "-c", _MEMORY, str(budget)]
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
            for _ in range(REPEATS)
        ]
        grown.append(min(int(run.stdout) for run in runs))
    return (grown[1] - grown[0]) / (large**2 - small**2)


def main(n_generated: int = 6000) -> None:
    figures: dict[str, Any] = {}
    claims, lines = [], []
    for name, data in sets(n_generated).items():
        found = list(judged(data))
        figures[name] = figure = summary(found, data)
        claims.append(accuracy_claim(name, figure))
        lines += [[name, who, *line] for who, line in described(figure)]
        print(f"{name}: done", flush=True)
    header = ["set", "classifier", "tuned %", "default %", "fit s", "predict s", "support points"]
    show("RBF kernel", header, lines)
    pair = bytes_a_pair()
    claims.append(
        Claim("a kernel model with a budget, resident bytes for each pair of support points", "-",
              f"{pair:.2f} bytes", "<= 8.8 bytes", pair <= 8.8)
    )  # fmt: skip
    figures["bytes a pair"] = pair
    write("kernel", figures, claims, repeats=REPEATS, threads=THREADS, passes=PASSES)


def summary(found: list[dict[str, Any]], data: DataSet) -> dict[str, Any]:
    """Mean accuracies with their standard errors, and times."""
    figure: dict[str, Any] = {"rows": len(data.y), "features": data.X.shape[1]}
    models = {
        name: most_found([fold[name]["model"] for fold in found], contestant)
        for name, contestant in CONTESTANTS.items()
    }
    taken = times(data, models)
    for name in CONTESTANTS:
        figure[name] = dict(taken[name])
        for kind in ("tuned", "default"):
            scores = np.array([fold[name][kind] for fold in found])
            figure[name][kind] = float(scores.mean())
            figure[name][f"{kind} error"] = float(scores.std(ddof=1) / np.sqrt(len(scores)))
    return figure


def described(figure: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for name in CONTESTANTS:
        own = figure[name]
        accuracies = [
            f"{100 * own[kind]:.2f} +- {100 * own[f'{kind} error']:.2f}"
            for kind in ("tuned", "default")
        ]
        seconds = [f"{own[kind]:.3f}" for kind in ("fit", "predict")]
        yield name, [*accuracies, *seconds, f"{own['support']:.0f}"]


def accuracy_claim(name: str, figure: dict[str, Any]) -> Claim:
    """Not below SVC by more than its standard error, both tuned."""
    mine, theirs = figure["SureKernelClassifier"], figure["SVC"]
    ratio = mine["fit"] / theirs["fit"]
    return Claim(
        f"RBF kernel on {name}, tuned, one pass: accuracy",
        f"scikit-learn SVC, {100 * theirs['tuned']:.2f} %",
        f"{100 * mine['tuned']:.2f} % ({ratio:.1f} times as long)",
        f"not below by {100 * theirs['tuned error']:.2f} %",
        mine["tuned"] >= theirs["tuned"] - theirs["tuned error"],
    )


if __name__ == "__main__":
    main()
